"""The type of a hyperparameter that is either one value or a schedule of such values.

`Scheduled[Fraction]` accepts what `Fraction` accepts, and schedules whose values `Fraction` accepts. A
constant stays a plain number, so that only real schedules are evaluated on a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar, get_args

from pydantic import (
    GetCoreSchemaHandler,
    SerializerFunctionWrapHandler,
    ValidatorFunctionWrapHandler,
)
from pydantic_core import core_schema

from gymnast.config.schedule import IntSchedule, Schedule, is_schedule_text


class _OrSchedule:
    """Marks the union `T | Schedule` for pydantic and validates it."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Returns the schema that validates with `_validated` and serializes with `_plain`. `source`: the
        annotated union `T | Schedule`."""
        (single,) = (kind for kind in get_args(source) if kind is not Schedule)
        inner = handler.generate_schema(single)
        return core_schema.no_info_wrap_validator_function(
            _validated,
            inner,
            serialization=core_schema.wrap_serializer_function_ser_schema(_plain, schema=inner),
        )


T = TypeVar("T")
Scheduled = Annotated[T | Schedule, _OrSchedule()]


def _validated(value: object, single: ValidatorFunctionWrapHandler) -> object:
    """Returns the validated value: what `single` returns for a constant, else a Schedule, or an IntSchedule
    if `single` returns ints. `single`: the validator of type T, which is applied to every value of a
    schedule; it raises for an invalid one."""
    is_schedule = isinstance(value, Schedule | Mapping)
    if not is_schedule and not (isinstance(value, str) and is_schedule_text(value)):
        return single(value)
    schedule = Schedule.parse(value)
    # Interpolation never leaves the range of the key frames, so validating these (and the floor) is enough.
    floor = [] if schedule.floor is None else [schedule.floor]
    checked = [single(number) for number in (*(v for _, v in schedule.frames), *floor)]
    if schedule == Schedule.constant(schedule.frames[0][1]):
        return checked[0]
    if all(isinstance(number, int) for number in checked):  # `single` is a count, such as n_steps
        return IntSchedule(
            schedule.frames, schedule.shape, schedule.warmup, schedule.floor, schedule.clock
        )
    return schedule


def _plain(value: object, single: SerializerFunctionWrapHandler) -> object:
    return value.to_plain() if isinstance(value, Schedule) else single(value)
