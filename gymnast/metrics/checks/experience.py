"""Checks of the data: opposed rewards, large observations, actions without effect, small rollouts."""

from __future__ import annotations

from gymnast.config.numbers import Share, is_percent
from gymnast.metrics.checks.check import Changes, Check, Remedy, rounded_text
from gymnast.metrics.run_history import RunHistory

EFFECT, AGREEMENT = "rollout/action_effect", "rollout/reward_agreement"
NO_EFFECT = 0.004
"""Effect of actions below which they count as having none, beyond what chance explains."""
LARGE_OBS = 10.0
"""Size of observations above which they should be normalized."""
SMALL_ROLLOUT, SMALL_MINIBATCH = 64, 16
"""Steps below which gradients are mostly noise."""
SHORT_HORIZON = 5.0
"""Discount horizon, in steps, below which a run is suspected of looking too short a way ahead."""


def _opposed(history: RunHistory) -> str | None:
    """Returns the problem if the cosine similarity of training reward and raw reward is below -0.5, else
    None."""
    agreement = history.recent_mean(AGREEMENT)
    return (
        f"the training reward is opposed to the raw reward: agreement {agreement:.2f}"
        if agreement < -0.5
        else None
    )


def _fix_reward_sign(history: RunHistory) -> Remedy:
    """Returns the remedy for opposed rewards: make a negative `normalize.reward_scale` positive, else set the
    weight of every shaping term to 0."""
    scale = history.numeric_setting("normalize.reward_scale", 1.0)
    if scale < 0:
        return Remedy("The reward scale is negative.", {"normalize.reward_scale": -scale})
    weights = [
        key for key in history.settings if key.startswith("shaping.") and key.endswith(".weight")
    ]
    return Remedy("The shaping terms outweigh the reward.", dict.fromkeys(weights, 0))


def _large_observations(history: RunHistory) -> str | None:
    """Returns the problem if observations are not normalized and typically larger than LARGE_OBS, else
    None."""
    if history.setting("normalize.obs") is not None:
        return None
    size = obs_size(history)
    return (
        f"observations of about {rounded_text(size)} reach the network without normalization"
        if size > LARGE_OBS
        else None
    )


def obs_size(history: RunHistory) -> float:
    """Returns the typical size of an observation component, which is the larger of the absolute mean and the
    standard deviation; 0 if neither was recorded."""
    keys = [key for key in ("rollout/obs_mean", "rollout/obs_std") if history.has(key)]
    return max((abs(history.recent_mean(key)) for key in keys), default=0.0)


def normalize_observations(_: RunHistory) -> Remedy:
    return Remedy("Networks train best on inputs of about 1.", {"normalize.obs": "running"})


def rollout_steps(history: RunHistory) -> float:
    """Returns the number of env steps in a rollout, by the settings: `env.n_envs` times `algo.n_steps` (2048
    if unset)."""
    return history.numeric_setting("env.n_envs", 1) * history.numeric_setting("algo.n_steps", 2048)


def _no_effect(history: RunHistory) -> str | None:
    """Returns the problem if the actions explain no more of the change of the observation than random actions
    would by chance, else None."""
    # The share of variance that random actions explain by chance falls with the number of steps, of which
    # the metric uses at most 256.
    chance = 10.0 / min(rollout_steps(history), 256.0)
    effect = history.recent_mean(EFFECT)
    if effect > NO_EFFECT + chance:
        return None
    return f"actions have no effect: they explain {max(effect, 0):.1%} of the change of the observation"


def _fix_environment(_: RunHistory) -> Remedy:
    return Remedy(
        "Check how the environment uses its action (`gymnast check ENV`), env.noise, and the order of the "
        "wrappers. No training setting can fix this."
    )


def _minibatch(history: RunHistory) -> float:
    """Returns the number of env steps per gradient step, by `algo.batch_size`, a number or a share of the
    rollout; without it, the whole rollout."""
    size, steps = history.setting("algo.batch_size", "100%"), rollout_steps(history)
    return (
        Share.parse(size) * steps
        if is_percent(size)
        else history.numeric_setting("algo.batch_size", steps)
    )


def _too_few_steps(history: RunHistory) -> str | None:
    """Returns the problem if rollouts have fewer than SMALL_ROLLOUT steps or minibatches fewer than
    SMALL_MINIBATCH, by the settings, else None."""
    if history.setting("algo.n_steps") is None:
        return None  # REINFORCE: the size of a rollout follows from its episodes
    steps, minibatch = rollout_steps(history), _minibatch(history)
    if steps >= SMALL_ROLLOUT and minibatch >= SMALL_MINIBATCH:
        return None
    return f"{steps:.0f} steps per rollout and {minibatch:.0f} per gradient step give mostly noise"


def _more_steps(history: RunHistory) -> Remedy:
    envs = max(int(history.numeric_setting("env.n_envs", 1)), 8)
    steps = max(1024 // envs, int(history.numeric_setting("algo.n_steps", 1)))
    changes: Changes = {"env.n_envs": envs, "algo.n_steps": steps}
    if history.setting("algo.batch_size") is not None:
        changes["algo.batch_size"] = 128
    return Remedy("Gradient estimates from so few steps are too noisy.", changes)


def _shortsighted(history: RunHistory) -> str | None:
    """Returns the problem if the discount horizon is shorter than SHORT_HORIZON steps and than a quarter of
    an episode, else None."""
    gamma = history.numeric_setting("algo.gamma", 0.99)
    if gamma == 0:  # a contextual bandit: an action does not affect later rewards
        return None
    horizon, length = discount_horizon(gamma), history.recent_mean("episode/length")
    if horizon >= SHORT_HORIZON or length < 4 * horizon:
        return None  # a short horizon is fine if episodes are short as well
    return f"rewards more than {horizon:.1f} steps ahead hardly count; episodes have {length:.0f} steps"


def _larger_gamma(history: RunHistory) -> Remedy:
    gamma = gamma_for(history.stats["episode/length"].peak)
    return Remedy(
        "The consequences of an action come after the discount horizon.", {"algo.gamma": gamma}
    )


def discount_horizon(gamma: float) -> float:
    """Returns the number of steps after which a reward is discounted to 37 % (1 / e)."""
    return 1 / max(1 - gamma, 1e-6)


def gamma_for(steps: float) -> float:
    """Returns a discount factor for episodes of this many steps: 0.99 below 300 steps, else 0.995."""
    return 0.99 if steps < 300 else 0.995


CHECKS = (
    Check("rollout/reward_agreement:opposed", (AGREEMENT,), _opposed, _fix_reward_sign, patience=3),
    Check(
        "rollout/obs_std:large",
        ("rollout/obs_mean", "rollout/obs_std"),
        _large_observations,
        normalize_observations,
        patience=3,
    ),
    Check("rollout/action_effect:none", (EFFECT,), _no_effect, _fix_environment, patience=3),
    Check(
        "advantage/std:few",
        ("advantage/std",),
        _too_few_steps,
        _more_steps,
        skipped_phases=frozenset({"solved"}),
        required_settings=("algo.n_steps",),
    ),
    Check(
        "episode/length:shortsighted",
        ("episode/length",),
        _shortsighted,
        _larger_gamma,
        skipped_phases=frozenset({"solved"}),
        required_settings=("algo.gamma",),
    ),
)
