"""Which episodes of an evaluation's plan are missing from its score, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gymnast.text import wording
from gymnast.training.playing import Plan, Watch


@dataclass(frozen=True)
class Shortfall:
    planned: int = 0
    """Episodes of the plan; 0 if none is missing."""
    left_out: int = 0
    """Those that the environment broke again and again."""
    unfinished: int = 0
    """Those that had not ended, or not started, at eval.timeout."""
    skipped: int = 0
    """Those that were never started because the evaluation had taken long enough."""
    why: str = ""
    """All of it, in words."""

    @classmethod
    def of(cls, plan: Plan, watch: Watch, done: int, lost: Iterable[str]) -> Shortfall:
        """`lost`: why episodes were left out that ended their process."""
        causes = [*(fault.what for fault in watch.left_out), *lost]
        missing = len(plan.seeds) - done - len(causes)
        if plan.steps is not None:  # it has more seeds than it needs
            missing = len(watch.late)
        late = missing if watch.late or watch.passed(plan.timeout) else 0
        skipped = missing - late
        if not (causes or late or skipped):
            return COMPLETE
        why: list[str] = []
        if causes:
            first = causes[0].partition("\n")[0]
            why.append(f"{len(causes)} broke in every attempt, the first because {first}")
        if late:
            running = f": {', '.join(watch.late[:3])}" if watch.late else ""
            why.append(
                f"{late} had not finished after {wording.duration(plan.timeout or 0)}{running}"
            )
        if skipped:
            long = wording.duration(plan.seconds)
            why.append(f"no further episode was started after {long} (eval.confirm_seconds)")
        return cls(len(plan.seeds), len(causes), late, skipped, "; ".join(why))

    @property
    def is_sound(self) -> bool:
        """Whether the episodes that are scored stand for all of the plan. Where a timeout chose them, the
        long ones are missing; where most of them broke, those that did not are exceptions."""
        return not self.unfinished and self.left_out <= self.planned // 2

    def told(self) -> dict[str, Any]:
        """What a score says of it; nothing where no episode is missing."""
        if self == COMPLETE:
            return {}
        return {"planned": self.planned, "missing": self.why}


COMPLETE = Shortfall()
