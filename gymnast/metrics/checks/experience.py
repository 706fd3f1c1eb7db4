"""What the agent meets: rewards that mislead, observations too large, actions without effect."""

from __future__ import annotations

from typing import Any

from gymnast.config.numbers import Share, is_percent
from gymnast.metrics.checks.check import Check, Remedy, shown
from gymnast.metrics.seen import RunHistory

EFFECT, AGREEMENT = "rollout/action_effect", "rollout/reward_agreement"
NO_EFFECT = 0.004
LARGE_OBS = 10.0
SMALL_ROLLOUT, SMALL_MINIBATCH = 64, 16
SHORT_HORIZON = 5.0


def _opposed(seen: RunHistory) -> str | None:
    agreement = seen.now(AGREEMENT)
    return (
        f"what is learned from is the opposite of the raw reward: agreement {agreement:.2f}"
        if agreement < -0.5
        else None
    )


def _turn(seen: RunHistory) -> Remedy:
    scale = seen.setting("normalize.reward_scale", 1.0)
    if scale < 0:
        return Remedy("Rewards are turned around.", {"normalize.reward_scale": -scale})
    weights = {
        k: v for k, v in seen.settings.items() if k.startswith("shaping.") and k.endswith(".weight")
    }
    return Remedy("Shaping outweighs the reward.", dict.fromkeys(weights, 0))


def _unscaled(seen: RunHistory) -> str | None:
    if seen.setting("normalize.obs") is not None:
        return None
    size = obs_size(seen)
    return (
        f"observations of about {shown(size)} reach the network as they are"
        if size > LARGE_OBS
        else None
    )


def obs_size(seen: RunHistory) -> float:
    """Of a typical observation; 0 where it was not recorded."""
    keys = [key for key in ("rollout/obs_mean", "rollout/obs_std") if seen.has(key)]
    return max((abs(seen.now(key)) for key in keys), default=0.0)


def normalised_observations(_: RunHistory) -> Remedy:
    return Remedy("Networks learn from numbers around 1.", {"normalize.obs": "running"})


def rollout_steps(seen: RunHistory) -> float:
    """Steps in a rollout, as far as the settings say."""
    return seen.number("env.n_envs", 1) * seen.number("algo.n_steps", 2048)


def _no_effect(seen: RunHistory) -> str | None:
    chance = 10.0 / min(rollout_steps(seen), 256.0)
    effect = seen.now(EFFECT)
    if effect > NO_EFFECT + chance:
        return None
    return f"what happens does not depend on the actions: they tell {max(effect, 0):.1%} of it"


def _mend_environment(_: RunHistory) -> Remedy:
    return Remedy(
        "Look at how the environment uses its action (`gymnast check ENV`), at env.noise, and at the "
        "order of wrappers: no setting of the learner can help."
    )


def _minibatch(seen: RunHistory) -> float:
    size, steps = seen.setting("algo.batch_size", "100%"), rollout_steps(seen)
    return Share.parse(size) * steps if is_percent(size) else seen.number("algo.batch_size", steps)


def _few(seen: RunHistory) -> str | None:
    if seen.setting("algo.n_steps") is None:
        return None
    steps, minibatch = rollout_steps(seen), _minibatch(seen)
    if steps >= SMALL_ROLLOUT and minibatch >= SMALL_MINIBATCH:
        return None
    return f"{steps:.0f} steps a rollout and {minibatch:.0f} a gradient step are mostly noise"


def _more(seen: RunHistory) -> Remedy:
    envs = max(seen.setting("env.n_envs", 1), 8)
    changes: dict[str, Any] = {"env.n_envs": envs, "algo.n_steps": max(1024 // envs, 1)}
    if seen.setting("algo.batch_size") is not None:
        changes["algo.batch_size"] = 128
    return Remedy("An update needs more steps to tell luck from skill.", changes)


def _shortsighted(seen: RunHistory) -> str | None:
    gamma = seen.number("algo.gamma", 0.99)
    if gamma == 0:  # chosen for bandits, where an action changes nothing that follows
        return None
    horizon, length = horizon_of(gamma), seen.now("episode/length")
    if horizon >= SHORT_HORIZON or length < 4 * horizon:
        return None
    return f"rewards more than {horizon:.1f} steps ahead hardly count; episodes have {length:.0f} steps"


def _farther(seen: RunHistory) -> Remedy:
    gamma = gamma_for(seen.tracks["episode/length"].peak)
    return Remedy(
        "What an action leads to comes later than the learner looks.", {"algo.gamma": gamma}
    )


def horizon_of(gamma: float) -> float:
    """Steps ahead after which a reward counts less than 37 %."""
    return 1 / max(1 - gamma, 1e-6)


def gamma_for(steps: float) -> float:
    """A discount that looks far enough ahead in episodes of so many steps."""
    return 0.99 if steps < 300 else 0.995


CHECKS = (
    Check("rollout/reward_agreement:opposed", (AGREEMENT,), _opposed, _turn, patience=3),
    Check(
        "rollout/obs_std:large",
        ("rollout/obs_mean", "rollout/obs_std"),
        _unscaled,
        normalised_observations,
        patience=3,
    ),
    Check("rollout/action_effect:none", (EFFECT,), _no_effect, _mend_environment, patience=3),
    Check("advantage/std:few", ("advantage/std",), _few, _more, excused=frozenset({"solved"})),
    Check(
        "episode/length:shortsighted",
        ("episode/length",),
        _shortsighted,
        _farther,
        excused=frozenset({"solved"}),
    ),
)
