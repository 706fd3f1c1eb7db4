"""The end of a run: the final fields of run.json, and the summary."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gymnast.clock import Clock
from gymnast.metrics.alerts import Alerts
from gymnast.metrics.recorder import Summary
from gymnast.runs.curve import run_learning
from gymnast.runs.run import Run
from gymnast.training.lifecycle.stop import StopReason


@dataclass(frozen=True)
class Ending:
    reason: StopReason
    interrupted: bool
    """True if a signal was received, even if only after the run had another reason to end."""
    score: dict[str, Any] | None
    confirmed: bool
    """True if the score was measured on held-out seeds, at the end."""
    solved: bool | None
    """None for an environment without a threshold."""
    best_version: int | None
    """Env steps of the best version."""

    @property
    def stopped(self) -> bool:
        """True if the run stopped before it was done, so that it can be resumed."""
        return self.interrupted or not self.reason.is_final


def finish_run(run: Run, clock: Clock, ending: Ending, alerts: Alerts) -> Summary:
    """Writes the final state into run.json and returns the summary."""
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
        clocks=clock.counters(),
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
        score=ending.score,  # type: ignore[typeddict-item]  # has the keys of Score, and more
        threshold=info["threshold"],
        env_steps=clock.env_steps,
        seconds=clock.seconds,
        best=ending.best_version,
        interrupted=ending.interrupted,
        stopped=ending.stopped,
    )
