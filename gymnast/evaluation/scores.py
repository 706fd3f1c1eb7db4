"""The evaluations of a run: the pending one, and the best score so far.

The result of evaluation k is received exactly at evaluation point k + 1 (or at the end), so a run never
depends on how fast its evaluations are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gymnast.evaluation.evaluate import SeedList
from gymnast.evaluation.jobs import EvaluationRunner, Job, Scored
from gymnast.policy.policy import Policy
from gymnast.runs.parts import prefixed


@dataclass
class Scores:
    evaluating: EvaluationRunner
    traces: Path | None
    """Directory for the traces of evaluated episodes."""
    run: Path | None = None
    """Directory of the run."""
    pending: Job | None = None
    best: dict[str, Any] | None = None
    """Score of the best version: the highest lower bound, then the highest mean, then the earliest."""
    newest: int | None = None
    """The version that was submitted last."""
    without_gain: int = 0
    """Number of scores since the best one."""
    point_open: bool = False
    """True if an interruption came before the score that was due at the last evaluation point; resume
    waits for that score first."""

    def submit(self, policies: Mapping[str, Policy], version: int) -> None:
        """Starts the evaluation of a snapshot of these policies (role -> policy)."""
        specs = {role: policy.spec() for role, policy in policies.items()}
        arrays = prefixed({role: policy.arrays() for role, policy in policies.items()})
        self._send(Job(version, specs, arrays, "eval", self._file("eval", version), self.run))
        self.newest = version

    def take(self, give_up: Callable[[], bool]) -> Scored | None:
        """Waits for the pending evaluation and returns its result; None if there is none, or if
        give_up() becomes true first."""
        if self.pending is None:
            return None
        result = self.evaluating.result(give_up)
        if result is not None:
            self.pending = None
            if result.has_score and result.shortfall.is_sound:
                self._update_best(result)
        return result

    def confirm(
        self,
        specs: Any,
        arrays: Any,
        version: int,
        give_up: Callable[[], bool],
        seconds: float | None,
    ) -> Scored | None:
        """Returns the score of a version on the held-out seeds; after `seconds`, no further episode is
        started. None if give_up() becomes true first."""
        file = self._file("confirm", version)
        self._send(Job(version, specs, arrays, "confirm", file, self.run, seconds=seconds))
        result = self.evaluating.result(give_up)
        self.pending = None
        return result

    def state(self) -> dict[str, Any]:
        pending = None
        if self.pending is not None:
            pending = {"version": self.pending.version, "specs": self.pending.specs}
        plain = {"best": self.best, "newest": self.newest, "without_gain": self.without_gain}
        return {**plain, "point_open": self.point_open, "pending": pending}

    def load(self, state: dict[str, Any], pending_arrays: Callable[[], dict[str, Any]]) -> None:
        """Restores a state; a pending evaluation is restarted from its stored snapshot."""
        self.best, self.newest = state["best"], state["newest"]
        self.without_gain, self.point_open = state["without_gain"], state["point_open"]
        if (pending := state["pending"]) is not None:
            version = pending["version"]
            file = self._file("eval", version)
            self._send(Job(version, pending["specs"], pending_arrays(), "eval", file, self.run))

    def _send(self, job: Job) -> None:
        self.evaluating.submit(job)
        self.pending = job

    def _update_best(self, result: Scored) -> None:
        score = result.score()
        if self.best is None or _rank(score) > _rank(self.best):
            self.best, self.without_gain = score, 0
        else:
            self.without_gain += 1

    def _file(self, kind: SeedList, version: int) -> Path | None:
        return None if self.traces is None else self.traces / f"{kind}-{version:012d}.safetensors"


def _rank(score: dict[str, Any]) -> tuple[float, float]:
    """Returns the sort key of a score. A single episode has no lower bound, so the mean breaks ties."""
    return score["low"], score["mean"]
