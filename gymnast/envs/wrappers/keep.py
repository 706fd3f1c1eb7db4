"""Keeps some entries of a Dict observation. A single kept entry becomes the observation itself."""

from __future__ import annotations

import gymnasium as gym

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, dict_obs
from gymnast.errors import EnvError


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment with only the entries `env.keep`. Raises EnvError for unknown entries."""
    space, names = env.observation_space, cfg.keep
    if not isinstance(space, gym.spaces.Dict):
        what = f"the observation of {cfg.id} is {space}, not a Dict with entries to keep"
        raise EnvError(what, at="env.keep", fix="remove env.keep")
    if missing := [name for name in names if name not in space.spaces]:
        what = f"{cfg.id} has no entry {', '.join(missing)}"
        raise EnvError(what, at="env.keep", fix=f"its entries are {', '.join(space.spaces)}")
    if len(names) == 1:
        (name,) = names
        return gym.wrappers.TransformObservation(env, lambda obs: dict_obs(obs)[name], space[name])
    kept = gym.spaces.Dict({name: space[name] for name in names})

    def keep(obs: object) -> dict[str, object]:
        entries = dict_obs(obs)
        return {name: entries[name] for name in names}

    return gym.wrappers.TransformObservation(env, keep, kept)
