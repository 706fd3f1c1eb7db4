"""How the policy moves: too far, not at all, to a corner, or nowhere."""

from __future__ import annotations

import math

from gymnast.metrics.checks.check import Changes, Check, Remedy, at_most, scaled, shown
from gymnast.metrics.checks.experience import obs_size
from gymnast.metrics.seen import RunHistory

KL, ENTROPY, LR = "policy/kl", "policy/entropy_share", "hyper/lr"
MOVED = "optim/update_share"
STILL_KL = 3e-5
"""Below this an update hardly changes what the policy does."""
STILL_SHARE = 3e-4
"""Of the size of the parameters: a single careful step, as A2C takes, moves them by more."""
USUAL_KL = 0.005
"""Of an update that learns well."""
UNDECIDED, HALF_DECIDED = 0.95, 0.3
"""Entropy as a share of its maximum."""
EARLY = 0.2
"""Of the budget."""
USUAL_BONUS = 0.01
"""Entropy coefficients up to this do not keep a policy from deciding."""
LARGE_OBS = 3.0
"""From this size on, observations alone may make an untrained policy prefer some actions."""


def smaller_steps(seen: RunHistory) -> Remedy:
    """KL grows about with the square of the learning rate."""
    kl = seen.now(KL) if seen.has(KL) else 1.0
    factor = min(0.5, max(math.sqrt(USUAL_KL / max(kl, 1e-9)), 0.01))
    factor = 0.01 if kl > 0.5 else factor
    return Remedy("Updates are too large.", scaled(seen, "algo.lr", factor))


def more_exploration(seen: RunHistory) -> Remedy:
    why = "The policy stopped exploring before it was good."
    return Remedy(why, _bonus(seen, 5.0, 0.02))


def _bonus(seen: RunHistory, factor: float, fresh: float) -> Changes:
    return scaled(seen, "algo.entropy_coef", factor) or {"algo.entropy_coef": fresh}


def _still(seen: RunHistory) -> str | None:
    kl, moved = seen.now(KL), seen.now(MOVED)
    if kl > STILL_KL or moved > STILL_SHARE:
        return None
    return f"an update moves the policy by {shown(kl)} nats only"


def _larger_steps(seen: RunHistory) -> Remedy:
    factor = math.sqrt(USUAL_KL / max(seen.now(KL), 1e-12))
    why = "Updates are too small to learn from."
    return Remedy(why, scaled(seen, "algo.lr", min(max(factor, 3.0), 1000.0)))


def _bonus_is_large(seen: RunHistory) -> bool:
    return bool(at_most(seen, "algo.entropy_coef", USUAL_BONUS))


def _undecided(seen: RunHistory) -> str | None:
    return _as_random_as_before(seen) if _bonus_is_large(seen) else None


def _aimless(seen: RunHistory) -> str | None:
    return None if _bonus_is_large(seen) else _as_random_as_before(seen)


def _as_random_as_before(seen: RunHistory) -> str | None:
    progress = seen.progress
    late = seen.rows >= 50 if progress is None else progress >= 0.15
    share = seen.now(ENTROPY)
    if not late or share < UNDECIDED or seen.now(KL) < STILL_KL:
        return None
    return f"the policy is as undecided as at the start: {share:.0%} of the highest entropy"


def _early(seen: RunHistory) -> str | None:
    progress, share = seen.progress, seen.now(ENTROPY)
    if progress is None or progress > EARLY or share > HALF_DECIDED:
        return None
    return (
        f"entropy is down to {share:.0%} of the highest after {progress:.0%} of the budget, and it is "
        "not solved"
    )


def _less_bonus(seen: RunHistory) -> Remedy:
    why = "The entropy bonus outweighs the rewards."
    return Remedy(why, at_most(seen, "algo.entropy_coef", USUAL_BONUS))


def less_noise(seen: RunHistory) -> Remedy:
    why = "The entropy bonus widens the distribution of actions for its own sake."
    return Remedy(why, at_most(seen, "algo.entropy_coef", USUAL_BONUS))


def _no_direction(_: RunHistory) -> Remedy:
    return Remedy(
        "Updates find no action better than another: rewards may be rare, noisy, or not depend on "
        "what the policy observes."
    )


def _not_uniform(seen: RunHistory) -> str | None:
    if seen.rows > 1 or seen.setting("run.parent"):
        return None
    most = seen.now("policy/entropy") / max(seen.now(ENTROPY), 1e-9)
    share = seen.now("rollout/neg_logprob") / max(most, 1e-9)
    return None if share > 0.97 else f"it begins with {share:.0%} of the highest entropy only"


def _fresh_head(seen: RunHistory) -> Remedy:
    why = (
        "Some actions are preferred before anything is learned: observations that are large, or a "
        "module of your own whose last layer is, do that."
    )
    as_they_are = seen.setting("normalize.obs") is None
    large = as_they_are and obs_size(seen) > LARGE_OBS
    return Remedy(why, {"normalize.obs": "running"} if large else {})


def _one_pass(seen: RunHistory) -> str | None:
    planned = seen.number("algo.epochs", 1)
    done = seen.now("optim/epochs")
    return (
        f"algo.target_kl ends updates after {done:.1f} of {planned:.0f} passes"
        if (planned >= 4 and done < 1.5)
        else None
    )


CHECKS = (
    Check(
        "policy/entropy_share:biased",
        (ENTROPY, "policy/entropy", "rollout/neg_logprob"),
        _not_uniform,
        _fresh_head,
        patience=1,
    ),
    Check(
        "policy/kl:frozen",
        (KL, MOVED, LR),
        _still,
        _larger_steps,
        excused=frozenset({"annealed", "solved"}),
    ),
    Check(
        "policy/entropy_share:undecided",
        (ENTROPY, KL),
        _undecided,
        _less_bonus,
        excused=frozenset({"solved"}),
    ),
    Check(
        "policy/entropy_share:aimless",
        (ENTROPY, KL),
        _aimless,
        _no_direction,
        excused=frozenset({"solved"}),
    ),
    Check(
        "policy/entropy_share:early",
        (ENTROPY,),
        _early,
        more_exploration,
        patience=10,
        excused=frozenset({"solved"}),
    ),
    Check("optim/epochs:cut", ("optim/epochs",), _one_pass, smaller_steps, patience=10),
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
"""Of alerts that the declared range of a metric raises."""
