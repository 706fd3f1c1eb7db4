"""Evaluation points of the training loop: when a version is sent to be scored, when its result is
taken, and what it says of going on.

A result comes into the row of the rollout at whose end it is taken, or, where that row is written
already, into one of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gymnast.errors import EnvError
from gymnast.runs import checkpoint
from gymnast.training.evaluation import Scored
from gymnast.training.rows import clock_row
from gymnast.training.session import POLICY
from gymnast.training.shortfall import COMPLETE
from gymnast.training.stop import Reason, after_evaluation, worth_evaluating

if TYPE_CHECKING:
    from gymnast.training.loop import Loop

Row = dict[str, float]


def evaluate(loop: Loop) -> tuple[Reason | None, bool]:
    """Where an evaluation point has come: is there a reason to stop, and was it one?"""
    s = loop.session
    if s.evaluates.cadence is not None:  # the last version, at least, will be scored
        s.scores.evaluating.get_ready()
    if not s.evaluates.due(s.clock) or not worth_evaluating(s.cfg, s.clock, loop.row):
        return None, False
    return _at_point(loop, loop.row), True


def finish_point(loop: Loop) -> Reason | None:
    """What an interruption left undone at an evaluation point, before anything else is learned."""
    s = loop.session
    waits = s.cfg.eval.wait and s.scores.pending is not None
    if not s.scores.point_open and not waits:
        return None
    with _late_results(loop) as row:
        reason = _at_point(loop, row) if s.scores.point_open else _take_result(loop, row)
    s.ended = reason
    loop.save("evaluation point")
    return reason


def evaluate_now(loop: Loop) -> Reason | None:
    """An evaluation out of cadence. Training waits for its result, so that it comes at the same
    rollout whenever this is done again; a version that has been scored is not scored twice."""
    s, reason = loop.session, None
    if s.scores.newest != s.clock.env_steps:
        with _late_results(loop) as row:
            reason = _take_result(loop, row)
        if reason is None and s.scores.pending is None:
            _submit(loop)
    with _late_results(loop) as row:
        reason = reason or _take_result(loop, row)
    s.ended = reason
    loop.save("evaluation asked")
    return reason


def take_last_results(loop: Loop, reason: Reason) -> None:
    """The evaluation under way, and one of the last version unless a result ended the run."""
    s = loop.session
    with _late_results(loop) as row:
        _take_result(loop, row)
    scored_out = reason.kind in ("solved", "eval_return", "plateau")
    if not scored_out and s.cfg.eval.every is not None and s.scores.newest != s.clock.env_steps:
        _submit(loop)
        with _late_results(loop) as row:
            _take_result(loop, row)


def confirm(loop: Loop, version: int) -> Scored | None:
    """The score of a version on the held-out seeds; None if asked to stop before it came, or if no episode
    finished. It takes no longer than training did, unless that is less than eval.confirm_seconds."""
    saved, session = checkpoint.find(loop.run.path, version), loop.session
    specs, arrays = saved.document("policy"), saved.tensors(POLICY)
    least = session.cfg.eval.confirm_seconds
    seconds = None if least is None else max(least, session.clock.seconds)
    asked = loop.interrupts.asked
    result = session.scores.confirm(specs, arrays, version, asked, seconds)
    if result is not None:
        _tell_shortfall(loop, result, "confirmation")
    return result if result is not None and result.has_score else None


def _at_point(loop: Loop, row: Row) -> Reason | None:
    """Take the last result, and unless it ends the run submit the policy as it is now; also
    when asked to stop, since a pending evaluation is begun again on resume."""
    s = loop.session
    reason = _take_result(loop, row)
    s.scores.point_open = s.scores.pending is not None  # asked to stop before the result came
    if reason is None and not s.scores.point_open:
        _submit(loop)
        if s.cfg.eval.wait:
            reason = _take_result(loop, row)
    return reason


def _submit(loop: Loop) -> None:
    s = loop.session
    policies = {role: learner.policy for role, learner in s.learners.items()}
    s.scores.submit(policies, s.clock.env_steps)


def _take_result(loop: Loop, row: Row) -> Reason | None:
    """Wait for the evaluation under way, put it into the row, and see if it ends the run."""
    s, began = loop.session, time.perf_counter()
    try:
        result = s.scores.take(loop.interrupts.asked)
    except EnvError:
        loop.save("fault")  # nothing is learned yet of what comes next: a good place to go on
        raise
    if result is None:
        return None
    waited = time.perf_counter() - began
    loop.watch.add("evaluate_wait", waited)
    _tell_shortfall(loop, result, "evaluation")
    if not result.has_score:
        return None
    row |= {**result.row(), "eval:time/wall": result.seconds, "eval:time/wait": waited}
    if s.league is not None:
        row |= s.league.rated(result)
    if not result.shortfall.is_sound:
        return None
    return after_evaluation(s.cfg, result, s.scores.without_gain)


def _tell_shortfall(loop: Loop, result: Scored, what: str) -> None:
    """Episodes that the score is without, and why."""
    missing = result.shortfall
    if missing != COMPLETE:
        counts = {"left_out": missing.left_out, "unfinished": missing.unfinished}
        counts |= {"skipped": missing.skipped, "planned": missing.planned}
        told = {name: count for name, count in counts.items() if count}
        loop.event(f"{what} incomplete", version=result.version, **told, why=missing.why)


@contextmanager
def _late_results(loop: Loop) -> Iterator[Row]:
    """Gives a row of its own, with the clocks, to a result that comes after the row of its rollout."""
    row: Row = {}
    yield row
    if row:
        loop.recorder.write(row | clock_row(loop.session.clock, 0.0))
        loop.session.late_rows += 1
        loop.follow(row)
