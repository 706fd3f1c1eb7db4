"""The episodes of an evaluation's plan that are missing from its score, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gymnast.evaluation.episodes import EpisodePlan, EvaluationProgress
from gymnast.metrics.score import MissingEpisodes
from gymnast.text import formatting


@dataclass(frozen=True)
class Shortfall:
    planned: int = 0
    """Number of planned episodes; 0 if none is missing."""
    left_out: int = 0
    """Number of episodes that the environment broke in every attempt."""
    unfinished: int = 0
    """Number of episodes that had not ended, or not started, at eval.timeout."""
    skipped: int = 0
    """Number of episodes that were not started because of the time limit eval.confirm_seconds."""
    why: str = ""
    """The reasons as a sentence."""

    @classmethod
    def from_plan(
        cls,
        plan: EpisodePlan,
        progress: EvaluationProgress,
        done: int,
        crash_reasons: Iterable[str],
    ) -> Shortfall:
        """Returns the shortfall of a plan with `done` finished episodes; COMPLETE if none is missing.
        `progress`: the faults and timeouts; `crash_reasons`: one per episode that was left out because it
        ended its process."""
        causes = [*(fault.message for fault in progress.left_out), *crash_reasons]
        missing = len(plan.seeds) - done - len(causes)
        if plan.max_steps is not None:
            # Such a plan has more seeds than it needs, so seeds that were not played are not missing.
            missing = len(progress.timed_out)
        # Missing episodes are late if the timeout struck, else they were never started (max_seconds).
        late = missing if progress.timed_out or progress.exceeds(plan.timeout) else 0
        skipped = missing - late
        if not (causes or late or skipped):
            return COMPLETE
        why: list[str] = []
        if causes:
            first = causes[0].partition("\n")[0]
            why.append(f"{len(causes)} broke in every attempt, the first because {first}")
        if late:
            running = f": {', '.join(progress.timed_out[:3])}" if progress.timed_out else ""
            why.append(
                f"{late} had not finished after {formatting.duration(plan.timeout or 0)}{running}"
            )
        if skipped:
            long = formatting.duration(plan.max_seconds)
            why.append(f"no further episode was started after {long} (eval.confirm_seconds)")
        return cls(len(plan.seeds), len(causes), late, skipped, "; ".join(why))

    @property
    def is_unbiased(self) -> bool:
        """True if the scored episodes represent the whole plan. After a timeout, the long episodes are
        missing; if most episodes broke, the others are exceptions."""
        return not self.unfinished and self.left_out <= self.planned // 2

    def score_fields(self) -> MissingEpisodes:
        """Returns the fields to add to a score; none if no episode is missing."""
        if self == COMPLETE:
            return {}
        return {"planned": self.planned, "missing": self.why}


COMPLETE = Shortfall()
