"""The end of a run: the final fields of run.json, and the summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from gymnast.clock import Clock
from gymnast.evaluation.jobs import EvaluationResult
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.recorder import Summary
from gymnast.metrics.score import Score
from gymnast.runs.curve import run_learning
from gymnast.runs.run import Run
from gymnast.training.lifecycle.stop import StopReason, is_solved


@dataclass(frozen=True)
class Ending:
    reason: StopReason
    interrupted: bool
    """True if a signal was received, even if only after the run had another reason to end."""
    score: Score | None
    confirmed: bool
    """True if the score was measured on held-out seeds, at the end."""
    solved: bool | None
    """None for an environment without a threshold."""
    best_version: int | None
    """Env steps of the best version."""

    @classmethod
    def decide(
        cls,
        reason: StopReason,
        confirmed: EvaluationResult | None,
        best: Score | None,
        version: int,
        threshold: float | None,
        signal: str | None,
    ) -> Ending:
        """Returns how a run ends. `confirmed`: the result of `version` (env steps) on held-out seeds, if it
        was measured; `best`: the best score during training; `signal`: the signal that was received."""
        score: Score | None = {**confirmed.score(), "kind": "confirmed"} if confirmed else best
        # The best of many evaluations is a lucky one, so only a confirmed score can count as solved
        # (docs/decisions/0004).
        can_solve = confirmed is not None and confirmed.shortfall.is_unbiased
        return cls(
            reason=reason,
            interrupted=signal is not None,
            score=score,
            confirmed=confirmed is not None,
            solved=None if threshold is None else can_solve and is_solved(score, threshold),
            best_version=version if confirmed or best else None,
        )

    @property
    def stopped(self) -> bool:
        """True if the run stopped before it was done, so that it can be resumed."""
        return self.interrupted or not self.reason.is_final


def finish_run(
    run: Run, clock: Clock, ending: Ending, alerts: Alerts, progress: Mapping[str, object]
) -> Summary:
    """Writes the final state into run.json and returns the summary. `progress`: the fields of
    `RunWriter.progress`."""
    # the learning curve of a stopped run is not extrapolated to the rest of its budget
    budget = None if ending.stopped else clock.limits.get("env_steps")
    learning = run_learning(run, run.info["threshold"], budget)
    run.update(
        status="stopped" if ending.stopped else "finished",
        reason=ending.reason.text,
        reason_kind=ending.reason.kind,
        solved=ending.solved,
        score=ending.score,
        confirmed=ending.confirmed,
        **progress,
        checkpoints={"best": ending.best_version, "latest": clock.env_steps},
        alerts=[asdict(alert) for alert in alerts.all()],
        learning=None if learning is None else asdict(learning),
    )
    info = run.info
    return Summary(
        id=run.id,
        name=info["name"],
        preset=info["preset"],
        path=str(run.path),
        solved=ending.solved,
        confirmed=ending.confirmed,
        reason=ending.reason.text,
        score=ending.score,
        threshold=info["threshold"],
        env_steps=clock.env_steps,
        seconds=clock.seconds,
        best=ending.best_version,
        interrupted=ending.interrupted,
        stopped=ending.stopped,
    )
