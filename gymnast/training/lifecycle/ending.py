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
    """True if a signal was received, also if that was after the reason."""
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


def finish_run(run: Run, clock: Clock, ended: Ending, alerts: Alerts) -> Summary:
    """Writes the final state into run.json and returns the summary."""
    run.update(
        status="stopped" if ended.stopped else "finished",
        reason=ended.reason.text,
        reason_kind=ended.reason.kind,
        solved=ended.solved,
        score=ended.score,
        confirmed=ended.confirmed,
        clocks=clock.counters(),
        checkpoints={"best": ended.best_version, "latest": clock.env_steps},
        alerts=[asdict(alert) for alert in alerts.all()],
        # the learning curve of a stopped run is not extrapolated to the rest of its budget
        learning=run_learning(
            run,
            run.info["threshold"],
            None if ended.stopped else clock.limits.get("env_steps"),
        ),
    )
    info = run.info
    return Summary(
        id=run.id,
        name=info["name"],
        preset=info["preset"],
        path=str(run.path),
        solved=ended.solved,
        confirmed=ended.confirmed,
        reason=ended.reason.text,
        score=ended.score,  # type: ignore[typeddict-item]
        threshold=info["threshold"],
        env_steps=clock.env_steps,
        seconds=clock.seconds,
        best=ended.best_version,
        interrupted=ended.interrupted,
        stopped=ended.stopped,
    )
