"""What every section of a config is: frozen, closed, documented at the field."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict

from gymnast.clock import Clock
from gymnast.config.schedule import Schedule

UNSET: Any = {}
"""A section of which nothing is set: its defaults, which are checked with the rest of the config."""


DottedKey = Annotated[str, "dotted"]
"""The key of a setting, where a mapping has such keys: one name, however many dots are in it."""


class Section(BaseModel):
    LIVE: ClassVar[tuple[str, ...]] = ()
    """Fields that are read anew at every rollout, so that `gymnast set` may change them."""
    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        defer_build=True,  # of each algorithm's config only the one in use is ever needed
        ser_json_inf_nan="constants",  # an infinite bound is not an empty one
    )

    @classmethod
    def live_fields(cls) -> list[str]:
        """Fields that may change while a run goes on."""
        return [field for field in cls.model_fields if field in cls.LIVE]

    @classmethod
    def docs(cls) -> dict[str, str]:
        """Field -> the docstring below it; read from the source when asked, which few commands do."""
        found: dict[str, str] = {}
        for section in reversed(cls.__mro__):
            if issubclass(section, Section):
                found |= _docs(section)
        return found


@cache
def _docs(section: type[Section]) -> dict[str, str]:
    """Of the fields that this class itself declares."""
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
class Span:
    """How much is collected before each update."""

    steps: int | None
    """Vector steps, at most; None: as many as the episodes take."""
    episodes: int | None = None
    """Whole episodes of every copy, which then waits for the others; None: by steps alone."""


class AlgoSection(Section):
    """An algorithm's own settings. Its `name` is the algorithm's."""

    name: str
    """Which algorithm these settings belong to."""
    action_selection: ClassVar[Literal["sample", "epsilon_greedy"]] = "sample"
    """What its policy's outputs are: a distribution to draw from, or a value per action."""
    tolerates_stale_policy: ClassVar[bool] = False
    """Whether it can learn from what a slightly older policy did."""
    bootstraps: ClassVar[bool] = True
    """Whether it goes on from an episode that was cut short by the value of what that reached."""
    native: ClassVar[bool] = True
    """Whether the native engine knows its loss."""

    @classmethod
    def live_fields(cls) -> list[str]:
        live = {*cls.LIVE, *cls.schedules()}
        return [field for field in cls.model_fields if field in live]

    @classmethod
    def schedules(cls) -> list[str]:
        """Fields that can be schedules."""

        def scheduled(annotation: Any) -> bool:
            return annotation is Schedule or any(scheduled(a) for a in get_args(annotation))

        return [name for name, field in cls.model_fields.items() if scheduled(field.annotation)]

    def scheduled(self) -> dict[str, Schedule]:
        """Field -> its schedule, of those that have one."""
        return {name: value for name, value in self if isinstance(value, Schedule)}

    def at(self, clock: Clock) -> Self:
        """The section with every schedule replaced by its value now."""
        return self.model_copy(update={n: s(clock) for n, s in self.scheduled().items()})

    def span(self) -> Span:
        """How much is collected before the next update, of values as they are `at` some clock."""
        steps = getattr(self, "n_steps")  # noqa: B009 (not every algorithm has it)
        assert not isinstance(steps, Schedule)
        return Span(steps)

    def with_smaller_step(self) -> Self:
        """For a second attempt at an update that went wrong: half the learning rate."""
        lr = getattr(self, "lr", None)
        return self if lr is None else self.model_copy(update={"lr": lr / 2})

    def conflicts(self, n_envs: int) -> list[tuple[str, str]]:
        """Settings that contradict each other: (field, what is wrong)."""
        return []
