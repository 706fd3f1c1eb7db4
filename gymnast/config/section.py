"""Base classes of config sections: frozen, no unknown keys, documented at each field; and of the
hyperparameters of one rollout, which the section of an algorithm evaluates to."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, fields, make_dataclass
from functools import cache
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict

from gymnast.clock import Clock
from gymnast.config.schedule import Schedule

SECTION_DEFAULT: Any = {}
"""Default of a field that is a section: all of its defaults, validated with the rest of the config."""


DottedKey = Annotated[str, "dotted"]
"""Key type of mappings from settings, such as `{algo.lr: x0.5}`: a dotted name is one key, not a path."""


class Section(BaseModel):
    LIVE: ClassVar[tuple[str, ...]] = ()
    """Fields that are read again at every rollout, so that `gymnast set` can change them."""
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        defer_build=True,  # only the config of the algorithm in use is ever built
        ser_json_inf_nan="constants",  # otherwise inf would be stored as null
    )

    @classmethod
    def live_fields(cls) -> list[str]:
        """Returns the fields that may change while a run is training."""
        return [field for field in cls.model_fields if field in cls.LIVE]

    @classmethod
    def field_docs(cls) -> dict[str, str]:
        """Returns field -> the docstring below it, parsed from the source file on demand."""
        docs: dict[str, str] = {}
        for section in reversed(cls.__mro__):  # base classes first: a subclass may redefine a field
            if issubclass(section, Section):
                docs |= _docs(section)
        return docs


@cache
def _docs(section: type[Section]) -> dict[str, str]:
    """Returns the docstrings of the fields that this class itself declares."""
    # Python discards a string below an attribute, so it has to be read from the source.
    tree = ast.parse(Path(sys.modules[section.__module__].__file__ or "").read_text())
    declared = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == section.__name__)
    lines = (pair for declaration in declared for pair in pairwise(declaration.body))
    return {
        field.target.id: cleandoc(doc.value.value)
        for field, doc in lines
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
        if isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant)
        if isinstance(doc.value.value, str)
    }


@dataclass(frozen=True)
class RolloutLength:
    """The amount of data that is collected before each update."""

    steps: int | None
    """Maximum number of vector steps. None: as many as the episodes take."""
    episodes: int | None = None
    """Complete episodes of every env copy, which then waits for the others. None: `steps` alone decides."""


@dataclass(frozen=True, kw_only=True)
class Hyperparameters:
    """The hyperparameters of an algorithm during one rollout: its section without the name of the algorithm,
    and with a number in place of every schedule. These are the ones that all algorithms have."""

    gamma: float
    n_steps: int | None

    def rollout_length(self) -> RolloutLength:
        """Returns how much is collected before the next update."""
        return RolloutLength(self.n_steps)

    def with_smaller_step(self) -> Self:
        """Returns the hyperparameters for retrying an update that was rolled back."""
        return self


class AlgoSection(Section):
    """The settings of an algorithm: its hyperparameters, each a value or a schedule."""

    name: str
    """Name of the algorithm."""
    hyperparameters: ClassVar[type[Hyperparameters]] = Hyperparameters
    """Class of the values at one rollout. Fields of the section that it lacks are added to a subclass of it
    (`hyperparameter_class`), so that a user-defined algorithm need not declare one."""
    action_selection: ClassVar[Literal["sample", "epsilon_greedy"]] = "sample"
    """Meaning of the policy's outputs: a distribution to sample from, or one Q value per action."""
    tolerates_stale_policy: ClassVar[bool] = False
    """True if it can learn from rollouts of a slightly older policy."""
    async_obstacle: ClassVar[str | None] = "it does not use V-trace"
    """The reason why it cannot learn from rollouts of policies of different age (collect.mode=async); None if
    it can: its advantages are those of `Rollout.advantages`."""
    bootstraps: ClassVar[bool] = True
    """True if it bootstraps from the value of the final observation of truncated episodes."""
    supports_memory: ClassVar[bool] = False
    """True if it can train policies with memory (policy.memory)."""
    native: ClassVar[bool] = True
    """True if the native engine implements its loss."""

    @classmethod
    def live_fields(cls) -> list[str]:
        live = {*cls.LIVE, *cls.schedulable_fields()}
        return [field for field in cls.model_fields if field in live]

    @classmethod
    def schedulable_fields(cls) -> list[str]:
        """Returns the fields that can be schedules."""

        def scheduled(annotation: object) -> bool:
            return annotation is Schedule or any(scheduled(a) for a in get_args(annotation))

        return [name for name, field in cls.model_fields.items() if scheduled(field.annotation)]

    def active_schedules(self) -> dict[str, Schedule]:
        """Returns field -> schedule, for the fields whose value is a schedule."""
        return {name: value for name, value in self if isinstance(value, Schedule)}

    def values_at(self, clock: Clock) -> Hyperparameters:
        """Returns the hyperparameters, with every schedule replaced by its current value."""
        # They are not validated again: the values of a valid schedule are valid (see scheduled.py).
        values = dict(self)
        del values["name"]
        values.update({name: schedule(clock) for name, schedule in self.active_schedules().items()})
        return hyperparameter_class(type(self))(**values)

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        """Returns settings that contradict each other, as (field, message). `n_envs`: number of env copies,
        which determines the size of a rollout."""
        return []


@cache
def hyperparameter_class(section: type[AlgoSection]) -> type[Hyperparameters]:
    """Returns the class of a section's values at one rollout: the one that it declares, or a subclass with
    the fields of the section that this one lacks."""
    declared = section.hyperparameters
    known = {"name", *(field.name for field in fields(declared))}
    added = [(name, f.annotation) for name, f in section.model_fields.items() if name not in known]
    if not added:
        return declared
    name = f"{section.__name__}Hyperparameters"
    return make_dataclass(name, added, bases=(declared,), frozen=True, kw_only=True)
