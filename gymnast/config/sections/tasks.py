"""Several tasks for one policy, and the curriculum that orders them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gymnast.config.numbers import OFF, Maybe, PlainField, Positive
from gymnast.config.rule import Rule
from gymnast.config.section import Section


class TaskConfig(Section):
    id: str = ""
    """Id of another environment with the same spaces. Empty: `env.id`."""
    kwargs: dict[str, PlainField] = {}
    """Keyword arguments of the environment's constructor, in addition to `env.kwargs`."""
    share: Positive = 1.0
    """Weight with which a training episode plays this task, relative to the other tasks."""


class StageConfig(Section):
    tasks: tuple[str, ...]
    """Tasks that are played in this stage, by their names in `env.tasks`."""
    promote: Maybe[Rule] = OFF
    """Condition for moving on to the next stage, such as `easy:episode/return >= 200 for 3`."""
    demote: Maybe[Rule] = OFF
    """Condition for returning to the previous stage."""


def stage_conflicts(stages: Sequence[StageConfig], tasks: Collection[str]) -> list[tuple[str, str]]:
    """Returns what is wrong with a curriculum over these tasks, as (field, message)."""
    conflicts: list[tuple[str, str]] = []
    for number, stage in enumerate(stages):
        at = f"curriculum.{number}"
        unknown = [name for name in stage.tasks if name not in tasks]
        if unknown or not stage.tasks:
            known = ", ".join(tasks) or "there are none"
            conflicts.append(
                (f"{at}.tasks", f"{unknown or 'nothing'} is no task (env.tasks: {known})")
            )
        if stage.promote is None and number + 1 < len(stages):
            conflicts.append((f"{at}.promote", "is off, so the next stage is never reached"))
        if stage.promote is not None and number + 1 == len(stages):
            conflicts.append((f"{at}.promote", "there is no stage after the last one"))
        if stage.demote is not None and number == 0:
            conflicts.append((f"{at}.demote", "there is no stage before the first one"))
    return conflicts
