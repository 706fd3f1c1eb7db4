"""The curriculum: stages that each train on some of the tasks until their rule holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from gymnast.collect.tasks import TaskSampler
from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.tasks import StageConfig
from gymnast.metrics.specs import require_known_key


class CurriculumState(TypedDict):
    """The state of the curriculum in a checkpoint."""

    stage: int
    held: dict[str, int]
    """The streak of each rule."""


@dataclass
class Curriculum:
    stages: tuple[StageConfig, ...]
    sampler: TaskSampler
    """Draws the task of each training episode. It is shared with the collector and holds the stage."""
    rule_streaks: dict[str, int] = field(default_factory=lambda: {"demote": 0, "promote": 0})
    """For each rule of the stage, the number of consecutive rows for which it has held."""

    @classmethod
    def from_config(
        cls, cfg: EnvConfig, sampler: TaskSampler | None, metrics: Collection[str]
    ) -> Curriculum | None:
        """Returns the curriculum; None without one. `metrics`: the known metrics. Raises ConfigError if a
        rule watches an unknown metric."""
        if sampler is None or not cfg.curriculum:
            return None
        for number, stage in enumerate(cfg.curriculum):
            for way in ("promote", "demote"):
                rule = getattr(stage, way)
                if rule is not None:
                    at = f"env.curriculum.{number}.{way}"
                    require_known_key(rule.key, metrics, sampler.names, at=at)
        return cls(cfg.curriculum, sampler)

    @property
    def stage(self) -> int:
        """Index of the current stage, from 0."""
        return self.sampler.stage

    def update(self, row: Mapping[str, float]) -> dict[str, object] | None:
        """Moves to the next or previous stage if a rule has now held for enough rows. Returns the
        content of the "stage" event, or None if the stage stays."""
        # Demotion comes first, so it wins if both rules hold for the same row.
        for way, step in (("demote", -1), ("promote", 1)):
            rule = getattr(self.stages[self.stage], way)
            if rule is None or rule.key not in row:
                continue  # a row without the metric (most have no score) does not end a streak
            self.rule_streaks[way] = self.rule_streaks[way] + 1 if rule.holds(row) else 0
            if self.rule_streaks[way] >= rule.rows:
                return self._move(step, str(rule))
        return None

    def _move(self, step: int, why: str) -> dict[str, object]:
        """Moves by `step` stages (1 or -1) and returns the content of the "stage" event, in which stages are
        counted from 1. `why`: the rule that holds."""
        # No clamping: the config refuses a demotion of the first and a promotion of the last stage.
        before = self.stage
        self.sampler.stage += step
        self.rule_streaks = dict.fromkeys(self.rule_streaks, 0)
        tasks = ", ".join(self.stages[self.stage].tasks)
        return {"from": before + 1, "to": self.stage + 1, "tasks": tasks, "why": why}

    def state(self) -> CurriculumState:
        return {"stage": self.stage, "held": self.rule_streaks}

    def load(self, state: CurriculumState) -> None:
        self.sampler.stage, self.rule_streaks = state["stage"], dict(state["held"])
