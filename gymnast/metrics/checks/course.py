"""How the run goes: returns that stall or fall, evaluation behind training, a machine that slows."""

from __future__ import annotations

import math

from gymnast.metrics.checks.check import Check, Remedy, scaled, shown
from gymnast.metrics.seen import RETURN, SCORE, RunHistory

PATIENT_SHARE = 0.3
"""Of the budget without a better training return."""
SPREAD, COUNT, SPEED = "episode/return_std", "episode/count", "speed/env_steps"
KL = "policy/kl"
LARGE_KL = 0.02
"""Nats per update: from here on smaller steps may keep what was learned."""


def _noise(seen: RunHistory) -> float:
    """How far the mean training return moves by chance."""
    return seen.now(SPREAD) / math.sqrt(max(seen.now(COUNT), 1.0))


def _gained(seen: RunHistory) -> float:
    return seen.tracks[RETURN].best - seen.first(RETURN)


def _stalled(seen: RunHistory) -> str | None:
    gone = seen.without_gain()
    late = seen.rows >= 100 if seen.progress is None else True
    if not late or gone < PATIENT_SHARE:
        return None
    return f"the training return has not risen for {gone:.0%} of the budget, and it is not solved"


def _look_closer(_: RunHistory) -> Remedy:
    why = "See which other alerts came first; `gymnast doctor` weighs them."
    return Remedy(why)


def _falls(seen: RunHistory) -> str | None:
    now, best, noise = seen.now(RETURN), seen.tracks[RETURN].best, _noise(seen)
    lost, gained = best - now, _gained(seen)
    if lost <= max(4 * noise, 0.5 * gained, 1e-9 * abs(best)):
        return None
    if gained < 4 * noise and now > seen.first(RETURN) - 4 * noise:
        return None
    return f"the training return fell from {shown(best)} to {shown(now)}"


def _steadier(seen: RunHistory) -> Remedy:
    large = seen.has(KL) and seen.now(KL) > LARGE_KL
    why = "What was learned is being lost."
    return Remedy(why, scaled(seen, "algo.lr", 0.3) if large else {})


def _behind(seen: RunHistory) -> str | None:
    trained, scored = seen.now(RETURN), seen.tracks[SCORE].recent[-1]
    gained = max(_gained(seen), 1e-9)
    if gained < 4 * _noise(seen) or trained - scored < max(0.5 * gained, 4 * _noise(seen)):
        return None
    return f"evaluation returns {shown(scored)}, training {shown(trained)}"


def _compare_play(_: RunHistory) -> Remedy:
    return Remedy(
        "The most likely action is worse than a sampled one, so the policy has not committed to what "
        "works yet; or the environment of evaluation differs from that of training."
    )


def _slower(seen: RunHistory) -> str | None:
    now, usual = seen.now(SPEED), seen.tracks[SPEED].usual
    return f"{shown(now)} env steps a second, {shown(usual)} before" if now < 0.3 * usual else None


def _what_else_runs(_: RunHistory) -> Remedy:
    return Remedy("Look at what else runs here, at system/memory, and at longer episodes.")


def _waits(seen: RunHistory) -> str | None:
    wait, total = seen.now("time/evaluate_wait"), sum(map(seen.now, TIMES))
    if total <= 0 or wait < 0.5 * total:
        return None
    return f"{wait / total:.0%} of the time is spent waiting for evaluations"


def _evaluate_less(_: RunHistory) -> Remedy:
    return Remedy("A longer eval.every or fewer eval.episodes would shorten the wait.")


TIMES = tuple(f"time/{part}" for part in ("env", "inference", "update", "rest", "evaluate_wait"))
CHECKS = (
    Check(
        "episode/return:stalled",
        (RETURN,),
        _stalled,
        _look_closer,
        excused=frozenset({"solved", "warm-up"}),
        of_roles=False,
    ),
    Check(
        "episode/return:falls",
        (RETURN, SPREAD, COUNT),
        _falls,
        _steadier,
        patience=10,
        excused=frozenset({"solved", "warm-up"}),
        of_roles=False,
    ),
    Check(
        "eval:episode/return:behind",
        (SCORE, RETURN, SPREAD, COUNT),
        _behind,
        _compare_play,
        patience=3,
        excused=frozenset({"solved", "warm-up"}),
        of_roles=False,
    ),
    Check("speed/env_steps:dropped", (SPEED,), _slower, _what_else_runs, patience=20),
    Check("time/evaluate_wait:long", TIMES, _waits, _evaluate_less, patience=20),
)
