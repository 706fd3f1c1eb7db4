"""The critic: does it learn, and does it leave room for the actor?"""

from __future__ import annotations

from gymnast.metrics.checks.check import Check, Remedy, scaled, shown
from gymnast.metrics.seen import Seen

ACTOR, CRITIC = "optim/grad_norm_actor", "optim/grad_norm_critic"
EXPLAINED = "value/explained_variance"
DOMINATES = 1e4
LARGEST_TARGET = 300.0
"""A critic's first layers know nothing of numbers of this size."""


def _frozen(seen: Seen) -> str | None:
    if seen.now(CRITIC) > 1e-9:
        return None
    return f"the critic gets no gradient, and explains {seen.now(EXPLAINED):.2f} of its targets"


def _let_it_learn(seen: Seen) -> Remedy:
    from gymnast.config.schedule import Schedule

    off = Schedule.parse(seen.setting("algo.value_coef", 0.5)).highest <= 0
    changes = {"algo.value_coef": 0.5} if off else {"normalize.value": "popart"}
    return Remedy("Advantages are noise while the critic knows nothing.", changes)


def _dominates(seen: Seen) -> str | None:
    actor, critic = seen.now(ACTOR), seen.now(CRITIC)
    cut = seen.now("optim/clipped_share")
    if cut < 0.9 or critic < DOMINATES * actor:
        return None
    return (
        f"the critic's gradient is {shown(critic / max(actor, 1e-12))} times the actor's, and both "
        "are cut together"
    )


def _too_large(seen: Seen) -> str | None:
    if seen.setting("normalize.value") or seen.setting("normalize.reward") == "running":
        return None
    size = max(abs(seen.now("value/target_mean")), seen.now("value/target_std"))
    return f"the critic is to predict numbers of {shown(size)}" if size > LARGEST_TARGET else None


def normalised_rewards(seen: Seen) -> Remedy:
    if seen.setting("normalize.reward") == "running":
        why = "The value loss outweighs the policy's, though rewards are normalised."
        return Remedy(why, scaled(seen, "algo.value_coef", 0.1))
    return Remedy(
        "Rewards are too large to learn from as they are.", {"normalize.reward": "running"}
    )


def better_critic(seen: Seen) -> Remedy:
    if seen.setting("normalize.reward") is None:
        return normalised_rewards(seen)
    return Remedy("The critic misleads.", scaled(seen, "algo.lr", 0.3))


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
