"""Possible causes of a bad run, and the alerts that each of them raises.

Causes with direct evidence (actions without effect, a critic without gradient) have a higher weight than
causes whose alerts may have many reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ERROR = 110.0
"""Weight of an impossible or NaN value, which outranks every cause."""


@dataclass(frozen=True)
class Cause:
    name: str
    weight: float
    alerts: tuple[str, ...]


@dataclass(frozen=True)
class LikelyCause:
    cause: str
    weight: float
    evidence: list[str] = field(default_factory=list[str])
    changes: Mapping[str, object] = field(default_factory=dict[str, object])
    """Advised settings, dotted config key -> value; only settings that concern learning."""
    alerts: list[str] = field(default_factory=list[str])
    lasting: bool = True
    """Whether its alerts were active for a large part of the run."""
    advice: str = ""
    """Advice in words, with the names of the library that made a foreign run; empty for a run of gymnast."""


TOO_LARGE_STEPS = "the learning rate is too large"
TOO_SMALL_STEPS = "the learning rate is too small"
SHORT_HORIZON = "gamma is too small"

# Weights rank causes against each other. From top to bottom: the environment or the reward is wrong, the
# network cannot learn, a scale is wrong, a hyperparameter is wrong, and last what usually follows from these.
CAUSES = (
    Cause(
        "the next observation hardly depends on the action", 100, ("rollout/action_effect:none",)
    ),
    Cause("the training reward opposes the raw reward", 98, ("rollout/reward_agreement:opposed",)),
    Cause("the critic does not learn", 92, ("optim/grad_norm_critic:frozen",)),
    Cause("many hidden units are dead", 88, ("network/dead_units:high",)),
    Cause("observations are not normalized", 86, ("rollout/obs_std:large",)),
    Cause("rewards are too large", 84, ("value/target_std:large",)),
    Cause("gradients are too large", 83, ("optim/grad_norm:high",)),
    Cause("updates use too few steps", 82, ("advantage/std:few",)),
    Cause(SHORT_HORIZON, 80, ("episode/length:shortsighted",)),
    Cause(TOO_SMALL_STEPS, 76, ("policy/kl:frozen",)),
    Cause(
        TOO_LARGE_STEPS,
        74,
        (
            "policy/kl:high",
            "optim/update_share:high",
            "optim/rollbacks:high",
            "policy/clip_fraction:high",
            "policy/ratio_max:high",
            "policy/ratio_mean:high",
            "policy/ratio_mean:low",
            "optim/epochs:cut",
        ),
    ),
    Cause("the entropy bonus is too large", 72, ("policy/entropy_share:undecided",)),
    Cause(
        "the policy stopped exploring too early",
        70,
        (
            "policy/entropy_share:early",
            "policy/entropy_share:low",
            "network/logit_range:high",
            "policy/log_std:low",
        ),
    ),
    Cause(
        "the untrained policy prefers some actions",
        66,
        ("policy/entropy_share:biased", "rollout/action_offset:biased"),
    ),
    Cause("the initial spread of the actions is wrong", 65, ("rollout/action_spread:biased",)),
    Cause("many hidden units are saturated", 64, ("network/saturated_units:high",)),
    Cause("the critic's gradient dominates the actor's", 62, ("optim/grad_norm_critic:dominates",)),
    Cause("actions are mostly noise", 60, ("policy/log_std:high",)),
    Cause("the policy does not use its memory", 59, ("policy/memory_effect:unused",)),
    Cause("environment copies fail", 58, ("rollout/faults:high",)),
    Cause("environment copies are nearly identical", 50, ("rollout/diversity:low",)),
    Cause("the critic predicts poorly", 35, ("value/explained_variance:low",)),
)
SYMPTOMS = (
    "episode/return:falls",
    "episode/return:stalled",
    "eval:episode/return:behind",
    "policy/entropy_share:aimless",
    "speed/env_steps:dropped",
    "time/evaluate_wait:long",
    "hosts/slowest:slow",
)
"""Alerts that indicate a problem, but not its cause."""


def is_symptom(alert: str) -> bool:
    """True if an alert id, with or without the scope of a role, is that of a symptom."""
    return alert.endswith(SYMPTOMS)  # not `in`: with several roles, ids start with the role's scope
