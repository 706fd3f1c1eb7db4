"""Config defaults that depend on an environment's observation and action spaces.

Presets are layered on top of these defaults, unless they set `space_defaults: off`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace

import gymnasium as gym

from gymnast.config.config import Config
from gymnast.config.families import family_of, is_multi_agent
from gymnast.config.resolve import ResolvedConfig, resolve
from gymnast.config.sections import ALGORITHMS
from gymnast.config.sections.env import IMAGE_STACK, VECTOR_BACKENDS, EnvConfig
from gymnast.config.space_settings import SpaceSettings, resolve_with
from gymnast.config.target import split_target
from gymnast.envs.build.env_ids import latest_version
from gymnast.envs.build.make import make_env
from gymnast.envs.matches.open import open_matches
from gymnast.errors import EnvError
from gymnast.policy.architecture import NATURE_MIN_PIXELS, SMALL_MIN_PIXELS
from gymnast.spaces import spaces
from gymnast.spaces.observations import BoxObs, as_box, leaves_of
from gymnast.spaces.spaces import Action, DiscreteObs, ImageObs, Observation


def resolve_for_spaces(
    target: str, overrides: Mapping[str, object] = {}, *, algo: str | None = None
) -> ResolvedConfig:
    """Returns the config that training uses. Later layers win: plain defaults, defaults for the spaces,
    preset, overrides. Creates the environment once if its spaces are needed. `target`: `ENV[:variant]`;
    `algo`: algorithm to use instead of the one of the variant."""
    target, resolved = _resolve_without_spaces(target, overrides, algo)
    if not resolved.space_defaults:
        return resolved
    return resolve_with(_settings(target, resolved), overrides, algo=algo)


def settings_for_spaces(
    target: str, overrides: Mapping[str, object] = {}, *, algo: str | None = None
) -> SpaceSettings:
    """Returns the settings that follow from the spaces of an environment; none, and without creating it, if
    its preset says so. The arguments are those of `resolve_for_spaces`."""
    return _settings(*_resolve_without_spaces(target, overrides, algo))


def has_vector_obs(target: str) -> bool:
    """Returns whether a part of the observation of `ENV[:variant]` is a vector of numbers. Creates the
    environment."""
    cfg = resolve_for_spaces(target).config
    obs, _ = _spaces(cfg, cfg.env)
    return any(isinstance(leaf, BoxObs) for leaf in leaves_of(obs).values())


def _resolve_without_spaces(
    target: str, overrides: Mapping[str, object], algo: str | None
) -> tuple[str, ResolvedConfig]:
    """Returns the target with the version of its environment, and its config without any defaults for the
    spaces: it says which environment to look at."""
    resolved = resolve(target, overrides, algo=algo)
    if not resolved.has_preset:
        # Without a preset, `CartPole` means the highest registered version, CartPole-v1.
        name, variant = split_target(target)
        target = latest_version(name) + (f":{variant}" if variant else "")
        resolved = replace(resolve(target, overrides, algo=algo), requested_env=name)
    return target, resolved


def _settings(target: str, resolved: ResolvedConfig) -> SpaceSettings:
    """Returns the defaults for the spaces that the policy will see."""
    if not resolved.space_defaults:
        return SpaceSettings(target, resolved.requested_env, {})
    cfg = resolved.config
    readable = {} if is_multi_agent(cfg.env.id) else _readable_obs(cfg.env)
    obs, action = _spaces(cfg, cfg.env.model_copy(update=readable))
    settings = {"env": readable, **default_settings(obs, action, cfg.algo.name)}
    if isinstance(obs, ImageObs) and _is_single_frame(obs, cfg.env):
        settings["env"] = {**readable, "stack": IMAGE_STACK}
    if (threshold := _registered_threshold(cfg.env)) is not None:
        settings["facts"] = {"threshold": threshold}
    return SpaceSettings(target, resolved.requested_env, settings)


def _is_single_frame(obs: ImageObs, cfg: EnvConfig) -> bool:
    """True if the environment shows one frame at a time and its copies can be wrapped to stack several."""
    can_stack = cfg.backend not in VECTOR_BACKENDS and not is_multi_agent(cfg.id)
    frame = obs.channels != "unknown" and obs.planes[0] in (1, 3)  # grayscale or RGB
    return can_stack and cfg.stack == 1 and frame


def _registered_threshold(cfg: EnvConfig) -> float | None:
    """Returns the return from which the environment's registration counts it as solved. None if there is
    none, or if the settings change the task."""
    spec = gym.registry.get(cfg.id)
    return None if spec is None or cfg.kwargs or cfg.tasks else spec.reward_threshold


def _readable_obs(cfg: EnvConfig) -> dict[str, object]:
    """Returns the `env` settings that a policy needs to read a Dict observation: they keep the numeric
    entries, since text such as MiniGrid's `mission` cannot be read. `{}` if nothing has to be dropped."""
    with closing(make_env(cfg)) as env:
        space = env.observation_space
    if not isinstance(space, gym.spaces.Dict):
        return {}
    readable = [name for name, entry in space.spaces.items() if _is_readable(entry)]
    if not readable or len(readable) == len(space.spaces):
        return {}  # nothing to drop; if no entry is readable, converting the space reports why
    family = family_of(cfg.id)
    if family is not None and family.name == "MiniGrid" and not cfg.one_hot:
        # MiniGrid's "image" holds category indices: object type, color and state of each cell
        return {"keep": ["image"], "one_hot": [11, 6, 3]}
    return {"keep": readable}


def _is_readable(space: gym.Space[object]) -> bool:
    try:
        spaces.convert_obs_space(space)
    except EnvError:
        return False
    return True


def _spaces(cfg: Config, env_cfg: EnvConfig) -> tuple[Observation, Action]:
    """Returns the spaces of the environment with the settings `env_cfg`, or of the first role of a
    multi-agent environment."""
    if is_multi_agent(cfg.env.id):
        with closing(open_matches(cfg, 1)) as matches:
            role = next(iter(matches.roles.values()))
            return role.obs, role.action
    with closing(make_env(env_cfg)) as env:
        obs, action = env.observation_space, env.action_space
    return spaces.convert_obs_space(obs), spaces.convert_action_space(action)


def default_settings(obs: Observation, action: Action, algo: str) -> dict[str, dict[str, object]]:
    """Returns nested config settings that work well for most environments with these spaces. `algo`: name of
    the algorithm."""
    images = any(isinstance(leaf, ImageObs) for leaf in leaves_of(obs).values())
    # The convolutional network for images ends in a dense layer of its own.
    settings: dict[str, dict[str, object]] = {"policy": {"hidden": [] if images else [64, 64]}}
    if isinstance(obs, ImageObs) and obs.channels != "unknown":
        _, *sides = obs.planes
        if SMALL_MIN_PIXELS <= min(sides) < NATURE_MIN_PIXELS:
            settings["policy"]["cnn"] = "small"  # the native engine computes it, unlike impala
    if not isinstance(obs, DiscreteObs):
        settings["normalize"] = {"obs": "running"} if as_box(obs) else {}
        # A replay buffer mixes rewards of different ages, whose running scale would differ: so not for
        # off-policy algorithms, which do not sample their actions.
        if ALGORITHMS[algo][0].action_selection == "sample":
            settings["normalize"]["reward"] = "running"
    if algo == "ppo":
        settings["algo"] = dict(_CONTINUOUS if action.has_continuous else _DISCRETE)
        if images:
            settings["algo"]["lr"] = "2.5e-4 -> 0"  # as in OpenAI Baselines for Atari
    return settings


# 10 epochs of 32 minibatches, as in Schulman et al. 2017 for MuJoCo (64 of 2048 samples)
_CONTINUOUS = {"n_steps": 256, "epochs": 10, "batch_size": "3.125%", "lr": "3e-4 -> 0"}
# 4 epochs of 4 minibatches, n_steps and the entropy bonus of OpenAI Baselines for Atari
_DISCRETE = {
    "n_steps": 128,
    "epochs": 4,
    "batch_size": "25%",
    "lr": "1e-3 -> 0",
    "entropy_coef": 0.01,
}
