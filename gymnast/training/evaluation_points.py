"""Evaluation points of the training loop: submitting a version of the policy, waiting for its score,
and deciding whether the score ends the run.

A score becomes part of the row of the rollout at whose end it is received. If that row has been
written already, the score gets a row of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gymnast.errors import EnvError
from gymnast.evaluation.evaluate import Evaluation
from gymnast.evaluation.jobs import EvaluationResult
from gymnast.evaluation.shortfall import COMPLETE
from gymnast.measure.rollout import clock_row
from gymnast.runs import checkpoint
from gymnast.training.lifecycle.stop import StopReason, evaluation_stop_reason, is_worth_evaluating
from gymnast.training.session import POLICY

if TYPE_CHECKING:
    from gymnast.training.loop import Loop

Row = dict[str, float]


def evaluate_if_due(loop: Loop) -> tuple[StopReason | None, bool]:
    """Returns (reason to stop or None, True if this rollout is an evaluation point)."""
    s = loop.session
    if s.eval_timer.cadence is not None:  # at least the last version will be evaluated
        s.scores.runner.start()
    if not s.eval_timer.due(s.clock) or not is_worth_evaluating(s.cfg, s.clock, loop.row):
        return None, False
    return _run_point(loop, loop.row), True


def complete_open_point(loop: Loop) -> StopReason | None:
    """Completes an evaluation point that an interruption cut short, before anything else is learned;
    returns a reason to stop if the score is one."""
    s = loop.session
    # With `eval.wait` every point ends with its own score, so a pending one was interrupted.
    waits_for_score = s.cfg.eval.wait and s.scores.pending is not None
    if not s.scores.point_open and not waits_for_score:
        return None
    with _late_row(loop) as row:
        reason = _run_point(loop, row) if s.scores.point_open else _receive_score(loop, row)
    s.end_reason = reason
    loop.save("evaluation point")
    return reason


def evaluate_now(loop: Loop) -> StopReason | None:
    """Evaluates outside of the cadence, as commanded by a user. Training waits for the score, so that
    a resumed run which repeats this command gets it at the same rollout. A version that has been
    scored already is not scored again."""
    s, reason = loop.session, None
    # 1. Score the version that is still pending, then submit the current one.
    if s.scores.last_submitted != s.clock.env_steps:
        with _late_row(loop) as row:
            reason = _receive_score(loop, row)
        if reason is None and s.scores.pending is None:
            _submit(loop)
    # 2. Wait for the score of the current version.
    with _late_row(loop) as row:
        reason = reason or _receive_score(loop, row)
    s.end_reason = reason
    loop.save("evaluation asked")
    return reason


def finish_evaluations(loop: Loop, reason: StopReason) -> None:
    """Waits for the pending evaluation at the end of training, then evaluates the last version,
    unless a score is what ended the run."""
    s = loop.session
    with _late_row(loop) as row:
        _receive_score(loop, row)
    ended_by_score = reason.kind in ("solved", "eval_return", "plateau")
    if (
        not ended_by_score
        and s.cfg.eval.every is not None
        and s.scores.last_submitted != s.clock.env_steps
    ):
        _submit(loop)
        with _late_row(loop) as row:
            _receive_score(loop, row)


def confirm_score(loop: Loop, version: int) -> EvaluationResult | None:
    """Returns the score of a version (env steps) on the held-out seeds; None if a signal asked to stop first,
    or if no episode finished. It takes no longer than training did or than eval.confirm_seconds, whichever is
    more."""
    saved, session = checkpoint.find(loop.run.path, version), loop.session
    specs, arrays = saved.document("policy"), saved.tensors(POLICY)
    # In proportion to the training: an environment with long episodes must not make the confirmation
    # take longer than the run it confirms.
    minimum = session.cfg.eval.confirm_seconds
    seconds = None if minimum is None else max(minimum, session.clock.seconds)
    should_stop = loop.interrupts.stop_requested
    result = session.scores.confirm(specs, arrays, version, should_stop, seconds)
    if result is not None:
        _log_shortfall(loop, result, "confirmation")
    return result if result is not None and result.has_score else None


def _run_point(loop: Loop, row: Row) -> StopReason | None:
    """Waits for the previous evaluation and, unless its score ends the run, submits the current
    policy. This also happens when a signal asked to stop: resume restarts a pending evaluation."""
    s = loop.session
    reason = _receive_score(loop, row)
    # Still pending: a signal came before the score, and resume must complete this point.
    s.scores.point_open = s.scores.pending is not None
    if reason is None and not s.scores.point_open:
        _submit(loop)
        if s.cfg.eval.wait:
            reason = _receive_score(loop, row)
    return reason


def _submit(loop: Loop) -> None:
    """Sends a snapshot of the current policies to be evaluated."""
    s = loop.session
    policies = {role: learner.policy for role, learner in s.learners.items()}
    s.scores.submit(policies, s.clock.env_steps)


def _receive_score(loop: Loop, row: Row) -> StopReason | None:
    """Waits for the pending evaluation and adds its score to the row; returns a reason to stop if the
    score is one."""
    s, began = loop.session, time.perf_counter()
    try:
        result = s.scores.wait_for_result(loop.interrupts.stop_requested)
    except EnvError:
        loop.save("fault")  # a rollout boundary, so resume can continue exactly from here
        raise
    if result is None:
        return None
    waited = time.perf_counter() - began
    loop.stopwatch.add("evaluate_wait", waited)
    _log_shortfall(loop, result, "evaluation")
    if not result.has_score:
        return None
    row |= {**result.row(), "eval:time/wall": result.seconds, "eval:time/wait": waited}
    if s.league is not None and not isinstance(result, Evaluation):  # of matches
        row |= s.league.add_evaluation(result)
    if not result.shortfall.is_unbiased:  # a biased score is recorded, but decides nothing
        return None
    return evaluation_stop_reason(s.cfg, result, s.scores.evals_since_best)


def _log_shortfall(loop: Loop, result: EvaluationResult, what: str) -> None:
    """Records an event if episodes are missing from the score, with their counts and the reason. `what`:
    evaluation or confirmation."""
    missing = result.shortfall
    if missing != COMPLETE:
        counts = {"left_out": missing.left_out, "unfinished": missing.unfinished}
        counts |= {"skipped": missing.skipped, "planned": missing.planned}
        nonzero = {name: count for name, count in counts.items() if count}
        loop.event(f"{what} incomplete", version=result.version, **nonzero, why=missing.why)


@contextmanager
def _late_row(loop: Loop) -> Iterator[Row]:
    """Yields an empty row for scores that arrive after the row of their rollout was written, and
    writes it with the clocks if a score was added."""
    row: Row = {}
    yield row
    if row:
        loop.recorder.write(row | clock_row(loop.session.clock, 0.0))
        # Counted, so that resume keeps this row: it has the same number of rollouts as the row before.
        loop.session.late_rows += 1
        loop.apply_rules(row)
