"""The critic: does it learn, and does it leave room for the actor?"""

from __future__ import annotations

from gymnast.config.schedule import Schedule
from gymnast.metrics.checks.check import Changes, Check, Remedy, scaled, shown
from gymnast.metrics.seen import RunHistory

ACTOR, CRITIC = "optim/grad_norm_actor", "optim/grad_norm_critic"
EXPLAINED = "value/explained_variance"
DOMINATES = 1e4
USUAL_TARGET = 10.0
"""Below this, the scale of the rewards does not hold a critic up."""
LARGEST_TARGET = 300.0
"""A critic's first layers know nothing of numbers of this size."""


def _frozen(seen: RunHistory) -> str | None:
    if seen.now(CRITIC) > 1e-9:
        return None
    return f"the critic gets no gradient, and explains {seen.now(EXPLAINED):.2f} of its targets"


def _let_it_learn(seen: RunHistory) -> Remedy:
    off = Schedule.parse(seen.setting("algo.value_coef", 0.5)).highest <= 0
    changes: Changes = {"algo.value_coef": 0.5} if off else {}
    return Remedy("Advantages are noise while the critic does not learn.", changes)


def _dominates(seen: RunHistory) -> str | None:
    actor, critic = seen.now(ACTOR), seen.now(CRITIC)
    cut = seen.now("optim/clipped_share")
    if cut < 0.9 or critic < DOMINATES * actor:
        return None
    return (
        f"the critic's gradient is {shown(critic / max(actor, 1e-12))} times the actor's, and both "
        "are cut together"
    )


def _too_large(seen: RunHistory) -> str | None:
    if seen.setting("normalize.value") or seen.setting("normalize.reward") == "running":
        return None
    size = _target_size(seen)
    return f"the critic is to predict numbers of {shown(size)}" if size > LARGEST_TARGET else None


def _target_size(seen: RunHistory) -> float:
    return max(abs(seen.now("value/target_mean")), seen.now("value/target_std"))


def _targets_are_large(seen: RunHistory) -> bool:
    return seen.has("value/target_mean", "value/target_std") and _target_size(seen) > USUAL_TARGET


def normalised_rewards(seen: RunHistory) -> Remedy:
    if seen.setting("normalize.reward") == "running":
        why = "The value loss outweighs the policy's, though rewards are normalised."
        return Remedy(why, scaled(seen, "algo.value_coef", 0.1))
    why = "Rewards are too large to learn from as they are."
    if "algo.replay" in seen.settings:  # stored rewards must keep one scale
        return Remedy(why, {"normalize.reward": "sign"})
    return Remedy(why, {"normalize.reward": "running"})


def better_critic(seen: RunHistory) -> Remedy:
    if seen.setting("normalize.reward") is None and _targets_are_large(seen):
        return normalised_rewards(seen)
    return Remedy("The critic's predictions are worse than their mean would be.")


CHECKS = (
    Check("optim/grad_norm_critic:frozen", (CRITIC, EXPLAINED), _frozen, _let_it_learn),
    Check(
        "value/target_std:large",
        ("value/target_mean", "value/target_std"),
        _too_large,
        normalised_rewards,
    ),
    Check(
        "optim/grad_norm_critic:dominates",
        (ACTOR, CRITIC, "optim/clipped_share"),
        _dominates,
        normalised_rewards,
        patience=10,
        excused=frozenset({"solved"}),
    ),
)
REMEDIES = {
    "optim/grad_norm:high": normalised_rewards,
    "value/explained_variance:low": better_critic,
}
