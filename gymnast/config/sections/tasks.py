"""Several environments for one policy, and the order in which it meets them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gymnast.config.numbers import OFF, Maybe, PlainValue, Positive
from gymnast.config.rule import Rule
from gymnast.config.section import Section


class TaskConfig(Section):
    id: str = ""
    """Another environment's name, of the same spaces; empty: that of `env.id`."""
    kwargs: dict[str, PlainValue] = {}
    """Arguments for its constructor, beside those of `env.kwargs`."""
    share: Positive = 1.0
    """How often it is played in training, beside the shares of the others."""


class StageConfig(Section):
    tasks: tuple[str, ...]
    """The tasks that are played in training, by their names in `env.tasks`."""
    promote: Maybe[Rule] = OFF
    """When the next stage begins, such as `easy:episode/return >= 200 for 3`."""
    demote: Maybe[Rule] = OFF
    """When the stage before it comes again."""


def stage_conflicts(stages: Sequence[StageConfig], tasks: Collection[str]) -> list[tuple[str, str]]:
    """What is wrong with a curriculum over these tasks: (field, what)."""
    found: list[tuple[str, str]] = []
    for number, stage in enumerate(stages):
        at = f"curriculum.{number}"
        unknown = [name for name in stage.tasks if name not in tasks]
        if unknown or not stage.tasks:
            known = ", ".join(tasks) or "there are none"
            found.append((f"{at}.tasks", f"{unknown or 'nothing'} is no task (env.tasks: {known})"))
        if stage.promote is None and number + 1 < len(stages):
            found.append((f"{at}.promote", "is off, so that the next stage never comes"))
        if stage.promote is not None and number + 1 == len(stages):
            found.append((f"{at}.promote", "there is no stage after the last one"))
        if stage.demote is not None and number == 0:
            found.append((f"{at}.demote", "there is no stage before the first one"))
    return found
