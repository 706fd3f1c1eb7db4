"""Evaluation points: submitting versions of the policy, waiting for their scores, and what a score means.

A score becomes part of the row of the rollout at whose end it is received. If that row has been
written already, the score gets a row of its own. The loop decides when, and records what comes back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gymnast.config.config import Config
from gymnast.evaluation.jobs import EvaluationResult
from gymnast.evaluation.scores import Scores
from gymnast.evaluation.shortfall import COMPLETE
from gymnast.policy.policy import Policy
from gymnast.runs import checkpoint
from gymnast.runs.role_arrays import POLICY
from gymnast.training.lifecycle.stop import StopReason, evaluation_stop_reason


@dataclass(frozen=True)
class Version:
    """The policies as they are now."""

    policies: Mapping[str, Policy]
    """Role -> policy."""
    env_steps: int
    """Env steps that they have learned from, which is their name."""


@dataclass(frozen=True)
class ReceivedScore:
    """The result of an evaluation, and what follows from it."""

    result: EvaluationResult
    waited: float
    """Seconds for which training waited."""
    reason: StopReason | None
    """A reason to stop, if the score is one."""

    def row(self) -> dict[str, float]:
        """Returns the metrics of the evaluation; none if no episode finished. Nor for the untrained policy:
        rules, curricula and learning curves depend on the rows, and are about versions that have learned."""
        if not self.result.has_score or self.result.version == 0:
            return {}
        times = {"eval:time/wall": self.result.seconds, "eval:time/wait": self.waited}
        return {**self.result.row(), **times}


class EvaluationPoints:
    def __init__(self, scores: Scores, should_stop: Callable[[], bool]) -> None:
        """`should_stop()` becomes true if a signal asks to stop; nothing is waited for after that."""
        self.scores, self.should_stop = scores, should_stop

    def start(self, version: Version) -> None:
        """Submits the version that the run starts with, unless that was done. A branch waits for the score,
        so that its later evaluation points are those of its parent."""
        scores = self.scores
        if not scores.needs_start or version.env_steps != scores.start_version:
            return
        if version.env_steps == 0:
            scores.submit_start(version.policies, version.env_steps)
        else:
            scores.evaluate_start(version.policies, version.env_steps, self.should_stop)

    def at_point(self, version: Version, cfg: Config) -> Iterator[ReceivedScore]:
        """Waits for the previous evaluation and, unless its score ends the run, submits this version, and
        with `eval.wait` waits for it too. Yields the scores as they are received. The version is also
        submitted if a signal asked to stop: resume restarts a pending evaluation."""
        ended = False
        for received in self.receive(cfg):
            ended = received.reason is not None
            yield received
        # Still pending: a signal came before the score, and resume must complete this point.
        self.scores.point_open = self.scores.pending is not None
        if not ended and not self.scores.point_open:
            self.scores.submit(version.policies, version.env_steps)
            if cfg.eval.wait:
                yield from self.receive(cfg)

    def complete(self, version: Version, cfg: Config) -> Iterator[ReceivedScore]:
        """Completes a point that an interruption cut short, if there is one, and yields its scores."""
        if self.scores.point_open:
            yield from self.at_point(version, cfg)
        else:
            yield from self.receive(cfg)

    def is_incomplete(self, cfg: Config) -> bool:
        """True if an interruption cut the last evaluation point short."""
        # With `eval.wait` every point but the start ends with its own score, so a pending one was
        # interrupted.
        pending = self.scores.pending
        interrupted = pending is not None and self.scores.counts(pending.version)
        return self.scores.point_open or (cfg.eval.wait and interrupted)

    def now(self, version: Version, cfg: Config) -> Iterator[ReceivedScore]:
        """Yields the score that is still pending and, unless it ends the run, that of this version. A version
        that has been scored already is not scored again."""
        for received in self.receive(cfg):
            yield received
            if received.reason is not None:
                return
        if self.scores.pending is None and self.scores.last_submitted != version.env_steps:
            self.scores.submit(version.policies, version.env_steps)
            yield from self.receive(cfg)

    def receive(self, cfg: Config) -> Iterator[ReceivedScore]:
        """Waits for the pending evaluation and yields its score; nothing without one, or if a signal came
        first."""
        began = time.perf_counter()
        result = self.scores.wait_for_result(self.should_stop)
        if result is not None:
            reason, counts = None, self.scores.counts(result.version)
            # a biased score decides nothing
            if result.has_score and result.shortfall.is_unbiased and counts:
                reason = evaluation_stop_reason(cfg, result, self.scores.evals_since_best)
            yield ReceivedScore(result, time.perf_counter() - began, reason)

    def confirm(
        self, run_dir: Path, version: int, max_seconds: float | None
    ) -> EvaluationResult | None:
        """Returns the result of a version (env steps) on the held-out seeds; None if a signal asked to stop
        first. After `max_seconds` (None: no limit), no further episode is started."""
        saved = checkpoint.find(run_dir, version)
        specs, arrays = saved.document("policy"), saved.tensors(POLICY)
        return self.scores.confirm(specs, arrays, version, self.should_stop, max_seconds)


def shortfall_detail(result: EvaluationResult) -> dict[str, object] | None:
    """Returns the detail of an event if episodes are missing from the score: their counts and the reason;
    None if it is complete."""
    missing = result.shortfall
    if missing == COMPLETE:
        return None
    counts = {"left_out": missing.left_out, "unfinished": missing.unfinished}
    counts |= {"skipped": missing.skipped, "planned": missing.planned}
    nonzero = {name: count for name, count in counts.items() if count}
    return {"version": result.version, **nonzero, "why": missing.why}
