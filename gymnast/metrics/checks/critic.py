"""Checks of the critic: whether it learns, and whether its gradient dominates the actor's."""

from __future__ import annotations

from gymnast.config.schedule import Schedule
from gymnast.metrics.checks.check import Changes, Check, Remedy, rounded_text, scale_setting
from gymnast.metrics.run_history import RunHistory
from gymnast.text.formatting import times_text

ACTOR, CRITIC = "optim/grad_norm_actor", "optim/grad_norm_critic"
EXPLAINED = "value/explained_variance"
DOMINATES = 1e4
"""Ratio of the gradient norms of critic and actor above which clipping both together starves the actor."""
USUAL_TARGET = 10.0
"""Size of value targets up to which the reward scale does not slow down the critic."""
LARGEST_TARGET = 300.0
"""Size of value targets that a freshly initialized critic takes too long to reach."""


def _frozen(history: RunHistory) -> str | None:
    """Returns the problem if the gradient of the critic is practically zero (norm up to 1e-9), else None."""
    if history.recent_mean(CRITIC) > 1e-9:
        return None
    return f"the critic gets no gradient and {explained_text(history.recent_mean(EXPLAINED))}"


def explained_text(explained: float) -> str:
    """Returns what an explained variance says about the critic. It is negative, without a limit, for a critic
    that is worse than a constant."""
    if explained < 0:
        return (
            f"predicts its targets worse than their mean would (explained variance {explained:.3g})"
        )
    return f"explains {explained:.0%} of the variance of its targets"


def _let_it_learn(history: RunHistory) -> Remedy:
    off = Schedule.parse(history.setting("algo.value_coef", 0.5)).highest <= 0
    changes: Changes = {"algo.value_coef": 0.5} if off else {}
    return Remedy("Without a critic that learns, the advantages are mostly noise.", changes)


def _dominates(history: RunHistory) -> str | None:
    """Returns the problem if at least 90 % of the gradients are clipped and the critic's gradient norm is at
    least DOMINATES times the actor's, else None."""
    actor, critic = history.recent_mean(ACTOR), history.recent_mean(CRITIC)
    clipped = history.recent_mean("optim/clipped_share")
    # Without clipping the sizes do not matter: Adam rescales the gradient of each parameter.
    if clipped < 0.9 or critic < DOMINATES * actor:
        return None
    return (
        f"the critic's gradient is {times_text(critic / max(actor, 1e-12))} the actor's, and both are "
        "clipped together"
    )


def _too_large(history: RunHistory) -> str | None:
    # Either of these brings the targets to a size of about 1.
    if history.setting("normalize.value") or history.setting("normalize.reward") == "running":
        return None
    size = _target_size(history)
    return f"the value targets are about {rounded_text(size)}" if size > LARGEST_TARGET else None


def _target_size(history: RunHistory) -> float:
    """Returns the typical size of a value target: its mean or its deviation, whichever is larger."""
    return max(
        abs(history.recent_mean("value/target_mean")), history.recent_mean("value/target_std")
    )


def _targets_are_large(history: RunHistory) -> bool:
    """Returns whether value targets were recorded and are typically larger than USUAL_TARGET."""
    return (
        history.has("value/target_mean", "value/target_std")
        and _target_size(history) > USUAL_TARGET
    )


def normalize_rewards(history: RunHistory) -> Remedy:
    """Returns the remedy for rewards that are too large: normalize them or, if they already are, divide
    `algo.value_coef` by 10. With a replay buffer, rewards are reduced to their sign."""
    if history.setting("normalize.reward") == "running":
        why = "The value loss outweighs the policy loss, although rewards are normalized."
        return Remedy(why, scale_setting(history, "algo.value_coef", 0.1))
    why = "The rewards are too large without normalization."
    if "algo.replay" in history.settings:  # rewards in a replay buffer must all have the same scale
        return Remedy(why, {"normalize.reward": "sign"})
    return Remedy(why, {"normalize.reward": "running"})


def better_critic(history: RunHistory) -> Remedy:
    """Returns the remedy for a critic that is worse than a constant: normalize the rewards if they are large
    and not normalized, else no change."""
    if history.setting("normalize.reward") is None and _targets_are_large(history):
        return normalize_rewards(history)
    return Remedy("The critic predicts its targets worse than their mean would.")


CHECKS = (
    Check("optim/grad_norm_critic:frozen", (CRITIC, EXPLAINED), _frozen, _let_it_learn),
    Check(
        "value/target_std:large",
        ("value/target_mean", "value/target_std"),
        _too_large,
        normalize_rewards,
    ),
    Check(
        "optim/grad_norm_critic:dominates",
        (ACTOR, CRITIC, "optim/clipped_share"),
        _dominates,
        normalize_rewards,
        patience=10,
        skipped_phases=frozenset({"solved"}),
    ),
)
REMEDIES = {
    "optim/grad_norm:high": normalize_rewards,
    "value/explained_variance:low": better_critic,
}
