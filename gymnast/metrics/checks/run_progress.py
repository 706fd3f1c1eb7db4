"""Checks of the course of a run: a stalled or falling return, poor evaluations, low speed."""

from __future__ import annotations

import math

from gymnast.metrics.checks.check import Check, Remedy, rounded_text, scale_setting
from gymnast.metrics.run_history import RETURN, SCORE, RunHistory

PATIENT_SHARE = 0.3
"""Share of the budget without a better training return after which a run counts as stalled."""
SPREAD, COUNT, SPEED = "episode/return_std", "episode/count", "speed/env_steps"
KL = "policy/kl"
LARGE_KL = 0.02
"""KL per update, in nats, above which smaller steps may prevent a loss of performance."""


def _noise(history: RunHistory) -> float:
    """Returns the standard error of the mean training return, from the recent spread and number of
    episodes."""
    return history.recent_mean(SPREAD) / math.sqrt(max(history.recent_mean(COUNT), 1.0))


def _improvement(history: RunHistory) -> float:
    """Returns by how much the best short mean of the training return exceeds the first one."""
    return history.stats[RETURN].best - history.initial_mean(RETURN)


def _stalled(history: RunHistory) -> str | None:
    """Returns the problem if the training return has not improved for PATIENT_SHARE of the budget; None
    otherwise. Without a budget, the share is that of the steps so far, from 100 rollouts on."""
    share = history.share_without_improvement()
    # Without a budget, the share of the steps so far is meaningless at first.
    late = history.rows >= 100 if history.progress is None else True
    if not late or share < PATIENT_SHARE:
        return None
    return f"the training return has not improved for {share:.0%} of the budget, and the task is not solved"


def _see_other_alerts(_: RunHistory) -> Remedy:
    why = "See which other alerts came first; `gymnast doctor` ranks them."
    return Remedy(why)


def _falls(history: RunHistory) -> str | None:
    """Returns the problem if the training return has fallen significantly below its best short mean, by more
    than half of what was learned; None otherwise."""
    now, best, noise = history.recent_mean(RETURN), history.stats[RETURN].best, _noise(history)
    lost, improvement = best - now, _improvement(history)
    # Significant (four standard errors) and large: half of what was learned is gone. The last term
    # excludes rounding errors of a constant return.
    if lost <= max(4 * noise, 0.5 * improvement, 1e-9 * abs(best)):
        return None
    # If nothing was learned, the best mean was luck; then only a fall below the start counts.
    if improvement < 4 * noise and now > history.initial_mean(RETURN) - 4 * noise:
        return None
    return f"the training return fell from {rounded_text(best)} to {rounded_text(now)}"


def _smaller_steps(history: RunHistory) -> Remedy:
    large = history.has(KL) and history.recent_mean(KL) > LARGE_KL
    why = "The policy is losing performance that it had already reached."
    return Remedy(why, scale_setting(history, "algo.lr", 0.3) if large else {})


def _evaluates_worse(history: RunHistory) -> str | None:
    """Returns the problem if the policy has learned something and the latest evaluation return is lower than
    the training return by four standard errors and by half of what was learned; None otherwise."""
    trained, scored = history.recent_mean(RETURN), history.stats[SCORE].recent[-1]
    improvement = max(_improvement(history), 1e-9)
    if improvement < 4 * _noise(history) or trained - scored < max(
        0.5 * improvement, 4 * _noise(history)
    ):
        return None
    return f"the evaluation return is {rounded_text(scored)}, the training return {rounded_text(trained)}"


def _compare_evaluation(_: RunHistory) -> Remedy:
    return Remedy(
        "The deterministic policy is worse than the sampled one, so it has not converged yet; or the "
        "evaluation environment differs from the training environment."
    )


def _slower(history: RunHistory) -> str | None:
    """Returns the problem if the recent speed is below 30 % of the mean speed of the run, else None."""
    now, usual = history.recent_mean(SPEED), history.stats[SPEED].overall_mean
    return (
        f"{rounded_text(now)} env steps per second, compared with {rounded_text(usual)} on average"
        if now < 0.3 * usual
        else None
    )


def _check_machine(_: RunHistory) -> Remedy:
    return Remedy(
        "Check what else is running on this machine, system/memory, and whether episodes got longer."
    )


def _waits(history: RunHistory) -> str | None:
    wait, total = history.recent_mean("time/evaluate_wait"), sum(map(history.recent_mean, TIMES))
    if total <= 0 or wait < 0.5 * total:
        return None
    return f"{wait / total:.0%} of the time is spent waiting for evaluations"


def _evaluate_less(_: RunHistory) -> Remedy:
    return Remedy("Evaluate less often (eval.every) or on fewer episodes (eval.episodes).")


TIMES = tuple(f"time/{part}" for part in ("env", "inference", "update", "rest", "evaluate_wait"))
CHECKS = (
    Check(
        "episode/return:stalled",
        (RETURN,),
        _stalled,
        _see_other_alerts,
        skipped_phases=frozenset({"solved", "warm-up"}),
        per_role=False,
    ),
    Check(
        "episode/return:falls",
        (RETURN, SPREAD, COUNT),
        _falls,
        _smaller_steps,
        patience=10,
        skipped_phases=frozenset({"solved", "warm-up"}),
        per_role=False,
    ),
    Check(
        "eval:episode/return:behind",
        (SCORE, RETURN, SPREAD, COUNT),
        _evaluates_worse,
        _compare_evaluation,
        patience=3,
        skipped_phases=frozenset({"solved", "warm-up"}),
        per_role=False,
    ),
    Check("speed/env_steps:dropped", (SPEED,), _slower, _check_machine, patience=20),
    Check("time/evaluate_wait:long", TIMES, _waits, _evaluate_less, patience=20),
)
