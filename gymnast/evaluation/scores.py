"""The evaluations of a run: the pending one, and the best score so far.

The result of evaluation k is received exactly at evaluation point k + 1 (or at the end), so a run never
depends on how fast its evaluations are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import numpy as np

from gymnast.evaluation.evaluate import SeedList
from gymnast.evaluation.jobs import EvaluationJob, EvaluationResult, EvaluationRunner, PolicySpecs
from gymnast.metrics.score import Score
from gymnast.policy.policy import Policy
from gymnast.runs.role_arrays import add_role_prefix


class PendingState(TypedDict):
    """A pending evaluation. The arrays of its policies are a file of their own in the checkpoint."""

    version: int
    specs: PolicySpecs


class ScoresState(TypedDict):
    """The state of the evaluations that a checkpoint stores, as plain JSON."""

    best: Score | None
    newest: int | None
    without_gain: int
    point_open: bool
    pending: PendingState | None


@dataclass
class Scores:
    runner: EvaluationRunner
    trace_dir: Path | None
    """Directory for the traces of evaluated episodes."""
    run_dir: Path | None = None
    """Directory of the run."""
    pending: EvaluationJob | None = None
    best: Score | None = None
    """Score of the best version: the highest lower bound, then the highest mean, then the earliest."""
    last_submitted: int | None = None
    """The version that was submitted last."""
    evals_since_best: int = 0
    """Number of scores since the best one."""
    point_open: bool = False
    """True if an interruption came before the score that was due at the last evaluation point; resume
    waits for that score first."""

    def submit(self, policies: Mapping[str, Policy], version: int) -> None:
        """Starts the evaluation of a snapshot of these policies (role -> policy). `version`: env steps that
        they have learned from."""
        specs = {role: policy.spec() for role, policy in policies.items()}
        arrays = add_role_prefix({role: policy.arrays() for role, policy in policies.items()})
        self._send(
            EvaluationJob(version, specs, arrays, "eval", self._file("eval", version), self.run_dir)
        )
        self.last_submitted = version

    def wait_for_result(self, should_stop: Callable[[], bool]) -> EvaluationResult | None:
        """Waits for the pending evaluation, updates the best score and returns the result; None if there is
        none, or if should_stop() becomes true first."""
        if self.pending is None:
            return None
        result = self.runner.result(should_stop)
        if result is not None:
            self.pending = None
            # A biased score (the long episodes are missing) must not select a checkpoint.
            if result.has_score and result.shortfall.is_unbiased:
                self._update_best(result)
        return result

    def confirm(
        self,
        specs: PolicySpecs,
        arrays: dict[str, np.ndarray],
        version: int,
        should_stop: Callable[[], bool],
        max_seconds: float | None,
    ) -> EvaluationResult | None:
        """Returns the score of a version on the held-out seeds; after `max_seconds` (None: no limit), no
        further episode is started. `specs` and `arrays`: the policies, as in EvaluationJob. None if
        should_stop() becomes true first."""
        file = self._file("confirm", version)
        self._send(
            EvaluationJob(
                version, specs, arrays, "confirm", file, self.run_dir, max_seconds=max_seconds
            )
        )
        result = self.runner.result(should_stop)
        self.pending = None
        return result

    def state(self) -> ScoresState:
        """Returns, as plain JSON, what a resumed run needs, without the arrays of the pending job's
        policies."""
        pending: PendingState | None = None
        if self.pending is not None:
            pending = {"version": self.pending.version, "specs": self.pending.specs}
        return {
            "best": self.best,
            "newest": self.last_submitted,
            "without_gain": self.evals_since_best,
            "point_open": self.point_open,
            "pending": pending,
        }

    def load(self, state: ScoresState, pending_arrays: Callable[[], dict[str, np.ndarray]]) -> None:
        """Restores a state from `state()`; a pending evaluation is restarted from its stored snapshot.
        `pending_arrays` returns the arrays of its policies, and is called only if there is one."""
        self.best, self.last_submitted = state["best"], state["newest"]
        self.evals_since_best, self.point_open = state["without_gain"], state["point_open"]
        if (pending := state["pending"]) is not None:
            version = pending["version"]
            file = self._file("eval", version)
            self._send(
                EvaluationJob(
                    version, pending["specs"], pending_arrays(), "eval", file, self.run_dir
                )
            )

    def _send(self, job: EvaluationJob) -> None:
        self.runner.submit(job)
        self.pending = job

    def _update_best(self, result: EvaluationResult) -> None:
        """Makes a result the best score if it ranks higher than the best one so far; otherwise counts it in
        `evals_since_best`."""
        score = result.score()
        if self.best is None or _rank(score) > _rank(self.best):
            self.best, self.evals_since_best = score, 0
        else:
            self.evals_since_best += 1

    def _file(self, kind: SeedList, version: int) -> Path | None:
        """Returns the trace file for an evaluation of this kind and version; None if traces are not
        stored."""
        return (
            None
            if self.trace_dir is None
            else self.trace_dir / f"{kind}-{version:012d}.safetensors"
        )


def _rank(score: Score) -> tuple[float, float]:
    """Returns the sort key of a score. A single episode has no lower bound, so the mean breaks ties."""
    return score["low"], score["mean"]
