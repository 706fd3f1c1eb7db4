"""Checks of the policy: updates too large or too small, too little or too much exploration."""

from __future__ import annotations

import math

from gymnast.metrics.checks.check import (
    Changes,
    Check,
    Remedy,
    limit_peak,
    rounded_text,
    scale_setting,
)
from gymnast.metrics.checks.experience import obs_size
from gymnast.metrics.run_history import RunHistory
from gymnast.text.formatting import times_text

KL, ENTROPY, LR = "policy/kl", "policy/entropy_share", "hyper/lr"
MEMORY = "policy/memory_effect"
UNUSED_MEMORY = 2e-3
"""Effect of the memory on the policy, in nats, below which it is not used. Untrained memories have more, and
in tasks that need memory, trained ones have a hundred times as much."""
UPDATE_SHARE = "optim/update_share"
STILL_KL = 3e-5
"""KL per update, in nats, below which an update hardly changes the policy."""
STILL_SHARE = 3e-4
"""Change of the parameters, relative to their norm, below which an update counts as too small. A single small
step, as A2C takes, changes them by more."""
BROKEN_STEP = 0.01
"""Factor on the learning rate if updates break the policy."""
USUAL_KL = 0.005
"""Typical KL, in nats, of an update that learns well."""
NEARLY_UNIFORM, CONVERGED = 0.95, 0.3
"""Entropy as a share of its maximum: above the first the policy is nearly uniform; below the second, early in
training, it has converged too soon."""
EARLY = 0.2
"""Share of the budget up to which convergence counts as early."""
USUAL_BONUS = 0.01
"""Entropy coefficients up to this do not prevent a policy from converging."""
OFFSET, SPREAD = "rollout/action_offset", "rollout/action_spread"
CENTERED, NARROW, WIDE = 0.15, 0.5, 1.5
"""Continuous actions of an untrained policy: the largest distance of their mean from the center, as a share
of the range, and their smallest and largest spread relative to uniform actions. A normal distribution with
standard deviation 1, clipped to the range, has 0 and 1.24; with 80 samples, chance adds 0.04 to the first."""
LARGE_OBS = 3.0
"""Size of observations from which an untrained policy may be far from uniform."""


def smaller_steps(history: RunHistory) -> Remedy:
    """Returns the remedy for updates that are too large: multiply `algo.lr` by a factor from 0.01 to 0.5,
    which is smaller for a larger KL."""
    kl = history.recent_mean(KL) if history.has(KL) else 1.0
    # KL grows with the square of the step, so the rate changes with the square root of the KL. Far
    # from the trust region (0.5 nats) that no longer holds.
    factor = min(0.5, max(math.sqrt(USUAL_KL / max(kl, 1e-9)), BROKEN_STEP))
    factor = BROKEN_STEP if kl > 0.5 else factor
    return Remedy("Updates are too large.", scale_setting(history, "algo.lr", factor))


def more_exploration(history: RunHistory) -> Remedy:
    why = "The policy stopped exploring before it was good."
    return Remedy(why, _bonus(history, 5.0, 0.02))


def _bonus(history: RunHistory, factor: float, fresh: float) -> Changes:
    """Returns the change that multiplies `algo.entropy_coef` by `factor`, or sets it to `fresh` if it is 0 or
    unset."""
    return scale_setting(history, "algo.entropy_coef", factor) or {"algo.entropy_coef": fresh}


def _hardly_moves(history: RunHistory) -> str | None:
    kl, update_share = history.recent_mean(KL), history.recent_mean(UPDATE_SHARE)
    if kl > STILL_KL or update_share > STILL_SHARE:
        return None
    return f"an update changes the policy by only {rounded_text(kl)} nats of KL"


def larger_steps(history: RunHistory) -> Remedy:
    """Returns the remedy for updates that are too small: multiply `algo.lr` by a factor from 3 to 1000,
    which is larger for a smaller KL."""
    factor = math.sqrt(USUAL_KL / max(history.recent_mean(KL), 1e-12))
    why = "Updates are too small."
    return Remedy(why, scale_setting(history, "algo.lr", min(max(factor, 3.0), 1000.0)))


def _bonus_is_large(history: RunHistory) -> bool:
    return bool(limit_peak(history, "algo.entropy_coef", USUAL_BONUS))


def _uniform_by_bonus(history: RunHistory) -> str | None:
    return _still_uniform(history) if _bonus_is_large(history) else None


def _uniform_without_bonus(history: RunHistory) -> str | None:
    return None if _bonus_is_large(history) else _still_uniform(history)


def _still_uniform(history: RunHistory) -> str | None:
    """Returns the problem if, after 15 % of the budget (without a budget, 50 rollouts), the entropy is still
    NEARLY_UNIFORM of its maximum, although updates change the policy; else None."""
    progress = history.progress
    late = history.rows >= 50 if progress is None else progress >= 0.15
    share = history.recent_mean(ENTROPY)
    # A policy that does not move has another problem, which `policy/kl:frozen` reports.
    if not late or share < NEARLY_UNIFORM or history.recent_mean(KL) < STILL_KL:
        return None
    return f"the policy is still nearly uniform: {share:.0%} of the maximum entropy"


def _converged_early(history: RunHistory) -> str | None:
    """Returns the problem if the entropy is down to CONVERGED of its maximum before EARLY of the budget is
    used; None otherwise, and always without a budget."""
    progress, share = history.progress, history.recent_mean(ENTROPY)
    if progress is None or progress > EARLY or share > CONVERGED:
        return None
    return (
        f"entropy is down to {share:.0%} of its maximum after {progress:.0%} of the budget, and the task "
        "is not solved"
    )


def _less_bonus(history: RunHistory) -> Remedy:
    why = "The entropy bonus outweighs the rewards."
    return Remedy(why, limit_peak(history, "algo.entropy_coef", USUAL_BONUS))


def less_noise(history: RunHistory) -> Remedy:
    why = "The entropy bonus makes the action distribution too wide."
    return Remedy(why, limit_peak(history, "algo.entropy_coef", USUAL_BONUS))


def _no_direction(_: RunHistory) -> Remedy:
    return Remedy(
        "The updates find no action better than another: rewards may be sparse, noisy, or independent of "
        "the observation."
    )


def _not_uniform(history: RunHistory) -> str | None:
    """Returns the problem if the policy before the first update has at most 97 % of the maximum entropy, else
    None."""
    if not _is_untrained(history):
        return None
    # The mean of -log p over the sampled actions estimates the entropy while collecting, before the
    # update; `policy/entropy` is that of the updated policy.
    highest = history.recent_mean("policy/entropy") / max(history.recent_mean(ENTROPY), 1e-9)
    share = history.recent_mean("rollout/neg_logprob") / max(highest, 1e-9)
    if share > 0.97:
        return None
    return f"the untrained policy has only {share:.0%} of the maximum entropy"


def _is_untrained(history: RunHistory) -> bool:
    """Returns whether the latest row was collected before the first update, with weights that no other run
    has trained."""
    return history.rows <= 1 and not history.setting("run.parent")


def _not_centered(history: RunHistory) -> str | None:
    """Returns the problem if an untrained policy prefers one side of the range of continuous actions."""
    offset = history.recent_mean(OFFSET)
    if not _is_untrained(history) or offset <= CENTERED:
        return None
    return (
        f"the mean action of the untrained policy is {offset:.0%} of its range away from the center"
    )


def _not_as_wide(history: RunHistory) -> str | None:
    """Returns the problem if the actions of an untrained policy are much narrower or wider than uniform
    ones."""
    spread = history.recent_mean(SPREAD)
    if not _is_untrained(history) or NARROW <= spread <= WIDE:
        return None
    where = "cover little of their range" if spread < NARROW else "are mostly at their limits"
    size = times_text(spread)
    return f"actions of the untrained policy {where}: they spread {size} as much as uniform ones"


def _usual_spread(history: RunHistory) -> Remedy:
    why = "The initial standard deviation of the actions does not fit their range."
    return Remedy(
        why, {"policy.log_std": 0.0} if history.numeric_setting("policy.log_std", 0.0) else {}
    )


def _why_not_uniform(history: RunHistory) -> Remedy:
    """Returns the remedy for an untrained policy that is not uniform: normalize observations if they are
    large and not normalized, else no change."""
    why = (
        "The untrained policy prefers some actions, because observations are large or because the last "
        "layer of a custom module has large weights."
    )
    unnormalized = history.setting("normalize.obs") is None
    large = unnormalized and obs_size(history) > LARGE_OBS
    return Remedy(why, {"normalize.obs": "running"} if large else {})


def _stopped_by_kl(history: RunHistory) -> str | None:
    """Returns the problem if `algo.epochs` is 4 or more but updates stop after fewer than 1.5 epochs on
    average, else None."""
    # Fewer than 1.5 of at least 4 epochs: most of each update is never computed.
    planned = history.numeric_setting("algo.epochs", 1)
    done = history.recent_mean("optim/epochs")
    return (
        f"algo.target_kl stops updates after {done:.1f} of {planned:.0f} epochs"
        if (planned >= 4 and done < 1.5)
        else None
    )


def _unused_memory(history: RunHistory) -> str | None:
    """Returns the problem if a policy that has learned something does not use its memory, else None."""
    effect = history.recent_mean(MEMORY)
    undecided = history.has(ENTROPY) and history.recent_mean(ENTROPY) > NEARLY_UNIFORM
    if undecided or effect >= UNUSED_MEMORY:
        return None
    return (
        f"the policy decides the same without its memory: the effect is {rounded_text(effect)} nats"
    )


def _no_memory(_: RunHistory) -> Remedy:
    why = (
        "The current observation is enough for this task, or the memory has not learned what to keep, for "
        "which policy.bptt may be too short. Without memory, training is faster."
    )
    return Remedy(why, {"policy.memory": "off"})


CHECKS = (
    Check(
        "policy/memory_effect:unused",
        (MEMORY,),
        _unused_memory,
        _no_memory,
        patience=10,
        skipped_phases=frozenset({"warm-up"}),
    ),
    Check(
        "policy/entropy_share:biased",
        (ENTROPY, "policy/entropy", "rollout/neg_logprob"),
        _not_uniform,
        _why_not_uniform,
        patience=1,
    ),
    Check(f"{OFFSET}:biased", (OFFSET,), _not_centered, _why_not_uniform, patience=1),
    Check(f"{SPREAD}:biased", (SPREAD,), _not_as_wide, _usual_spread, patience=1),
    Check(
        "policy/kl:frozen",
        (KL, UPDATE_SHARE, LR),
        _hardly_moves,
        larger_steps,
        skipped_phases=frozenset({"annealed", "solved"}),
    ),
    Check(
        "policy/entropy_share:undecided",
        (ENTROPY, KL),
        _uniform_by_bonus,
        _less_bonus,
        skipped_phases=frozenset({"solved"}),
        required_settings=("algo.entropy_coef",),
    ),
    Check(
        "policy/entropy_share:aimless",
        (ENTROPY, KL),
        _uniform_without_bonus,
        _no_direction,
        skipped_phases=frozenset({"solved"}),
    ),
    Check(
        "policy/entropy_share:early",
        (ENTROPY,),
        _converged_early,
        more_exploration,
        patience=10,
        skipped_phases=frozenset({"solved"}),
    ),
    Check(
        "optim/epochs:cut",
        ("optim/epochs",),
        _stopped_by_kl,
        smaller_steps,
        patience=10,
        required_settings=("algo.epochs",),
    ),
)
REMEDIES = {
    "policy/kl:high": smaller_steps,
    "policy/clip_fraction:high": smaller_steps,
    "policy/ratio_mean:low": smaller_steps,
    "policy/ratio_mean:high": smaller_steps,
    "policy/ratio_max:high": smaller_steps,
    "optim/rollbacks:high": smaller_steps,
    "optim/update_share:high": smaller_steps,
    "network/logit_range:high": more_exploration,
    "policy/entropy_share:low": more_exploration,
    "policy/log_std:high": less_noise,
}
"""Alert id -> remedy, for alerts that the healthy range of a metric raises."""
