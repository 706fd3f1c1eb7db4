"""The evaluations of a run: the pending one, the score at the start, and the best score since.

The result of evaluation k is received exactly at evaluation point k + 1 (or at the end), so a run never
depends on how fast its evaluations are. The start of a run is evaluation point 0: the version that it starts
with (untrained, received weights, or the branch point) is evaluated like every later one, but its score only
serves as the baseline of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

import numpy as np

from gymnast.evaluation.evaluate import Evaluation, SeedList
from gymnast.evaluation.jobs import EvaluationJob, EvaluationResult, EvaluationRunner, PolicySpecs
from gymnast.metrics.score import Score, StartScore
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
    start: NotRequired[StartScore | None]
    start_version: NotRequired[int | None]
    needs_start: NotRequired[bool]


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
    start: StartScore | None = None
    """Score of the version that the run started with; None until it is received."""
    start_version: int | None = 0
    """The version that the run starts with, that of the branch point for a branch. Only later versions can
    become the best one. None for a run of an older version, which has no score of its start."""
    needs_start: bool = True
    """True until the version that the run starts with has been submitted."""
    _unsent: bool = False
    """True if the pending job has not been sent to the runner."""
    _prepared: bool = False
    """True if the runner has prepared for a job."""

    def submit_start(self, policies: Mapping[str, Policy], version: int) -> None:
        """Makes the evaluation of the version that the run starts with the pending one; `send_pending` sends
        it."""
        self.pending, self._unsent, self.needs_start = self._job(policies, version), True, False
        self.last_submitted = version

    def evaluate_start(
        self, policies: Mapping[str, Policy], version: int, should_stop: Callable[[], bool]
    ) -> EvaluationResult | None:
        """Evaluates the version that a branch starts with and returns the result, before the evaluation that
        its parent had pending; None if should_stop() becomes true first."""
        inherited, newest = self.pending, self.last_submitted
        self.submit_start(policies, version)
        result = self.wait_for_result(should_stop)
        self.pending, self._unsent = inherited, inherited is not None
        self.last_submitted, self.needs_start = newest, result is None
        return result

    def send_pending(self) -> None:
        """Sends the pending evaluation to the runner, unless that was done. The first call only prepares the
        runner: sending a large policy would wait until its process has started."""
        if self._prepared and self._unsent and self.pending is not None:
            self._send(self.pending)
        self.runner.start()
        self._prepared = True

    def submit(self, policies: Mapping[str, Policy], version: int) -> None:
        """Starts the evaluation of a snapshot of these policies (role -> policy). `version`: env steps that
        they have learned from."""
        self._send(self._job(policies, version))
        self.last_submitted = version

    def wait_for_result(self, should_stop: Callable[[], bool]) -> EvaluationResult | None:
        """Waits for the pending evaluation, updates the best score and returns the result; None if there is
        none, or if should_stop() becomes true first."""
        if self.pending is None:
            return None
        if self._unsent:
            self._send(self.pending)
        result = self.runner.result(should_stop)
        if result is not None:
            self.pending = None
            # A biased score (the long episodes are missing) must not select a checkpoint.
            if result.has_score and result.shortfall.is_unbiased:
                if self.counts(result.version):
                    self._update_best(result)
                elif result.version == self.start_version:
                    self.start = start_score(result)
        return result

    def counts(self, version: int) -> bool:
        """True if the run has learned since its start to get this version, so that its score counts."""
        return self.start_version is None or version > self.start_version

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
            "start": self.start,
            "start_version": self.start_version,
            "needs_start": self.needs_start,
        }

    def load(self, state: ScoresState, pending_arrays: Callable[[], dict[str, np.ndarray]]) -> None:
        """Restores a state from `state()`; a pending evaluation is restarted from its stored snapshot.
        `pending_arrays` returns the arrays of its policies, and is called only if there is one."""
        self.best, self.last_submitted = state["best"], state["newest"]
        self.evals_since_best, self.point_open = state["without_gain"], state["point_open"]
        # Runs of older versions have no score of their start.
        self.start, self.start_version = state.get("start"), state.get("start_version")
        self.needs_start = state.get("needs_start", False)
        if (pending := state["pending"]) is not None:
            self._send(self._restored(pending, pending_arrays()))

    def load_branch_point(
        self,
        version: int,
        state: ScoresState,
        pending_arrays: Callable[[], dict[str, np.ndarray]],
    ) -> None:
        """Restores the state of a branch before it learns from the `state()` of its parent, whose scores do
        not count for the branch. A pending evaluation is restarted, because rules may wait for its metrics;
        if it is about the `version` at which the run branches off, it is also that of the start."""
        self.last_submitted, self.start_version = state["newest"], version
        if (pending := state["pending"]) is not None:
            self.pending, self._unsent = self._restored(pending, pending_arrays()), True
            self.needs_start = pending["version"] != version

    def _restored(self, pending: PendingState, arrays: dict[str, np.ndarray]) -> EvaluationJob:
        version, specs = pending["version"], pending["specs"]
        file = self._file("eval", version)
        return EvaluationJob(version, specs, arrays, "eval", file, self.run_dir)

    def _job(self, policies: Mapping[str, Policy], version: int) -> EvaluationJob:
        specs = {role: policy.spec() for role, policy in policies.items()}
        arrays = add_role_prefix({role: policy.arrays() for role, policy in policies.items()})
        file = self._file("eval", version)
        return EvaluationJob(version, specs, arrays, "eval", file, self.run_dir)

    def _send(self, job: EvaluationJob) -> None:
        self.runner.submit(job)
        self.pending, self._unsent = job, False

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


def start_score(result: EvaluationResult) -> StartScore:
    """Returns the score of the version that a run starts with."""
    score: StartScore = {**result.score()}
    if isinstance(result, Evaluation):
        score["return_min"], score["return_max"] = min(result.returns), max(result.returns)
        score["truncated_share"] = sum(result.truncated) / len(result.truncated)
    return score


def _rank(score: Score) -> tuple[float, float]:
    """Returns the sort key of a score. A single episode has no lower bound, so the mean breaks ties."""
    return score["low"], score["mean"]
