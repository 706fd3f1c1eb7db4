"""Calls operations by name with JSON arguments, and returns errors as values: for servers and assistants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError, validate_call

from gymnast.api import OPERATIONS
from gymnast.errors import Failure, GymnastError
from gymnast.tasks import Task
from gymnast.text.suggestions import did_you_mean


@dataclass(frozen=True)
class Success:
    value: object
    """The record that the operation returned; the TaskInfo of a task that it started."""


def call(name: str, arguments: Mapping[str, object] = {}) -> Success | Failure:
    """Returns the result of an operation, or the error that it raised. `arguments`: keyword arguments as JSON
    values, validated against the schema of the operation."""
    if name not in OPERATIONS:
        return Failure("usage", f"there is no operation {name!r}{did_you_mean(name, OPERATIONS)}")
    try:
        value = validate_call(OPERATIONS[name].function)(**arguments)
        return Success(value.info() if isinstance(value, Task) else value)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in problem['loc'])}: {problem['msg']}"
            for problem in error.errors()
        )
        return Failure("usage", problems, at=name, fix="see the schema of its arguments")
    except GymnastError as error:
        return error.to_failure()
