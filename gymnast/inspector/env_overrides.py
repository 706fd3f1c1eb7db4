"""Settings of the environment that replace those of a run for one episode."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.config.config import Config
from gymnast.config.resolve import apply_overrides
from gymnast.errors import ConfigError, UsageError
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.spaces import Action, Observation

NO_EFFECT = (
    *("env.id", "env.n_envs", "env.backend", "env.workers", "env.max_episode_steps"),
    *("env.timeout", "env.on_fault", "env.max_faults", "env.curriculum"),
    "env.atari.life_loss_ends",
)
"""Settings that make no difference to a single episode outside of training, or make it one of another
environment."""
_RANGES = ("low", "high", "top", "channels")
"""Fields of an observation space that a policy can do without: a run may have declared other ranges."""


def with_env_overrides(config: Config, overrides: Mapping[str, object]) -> Config:
    """Returns a config with overrides, dotted key -> value. Raises UsageError unless all are settings of the
    environment that change an episode, and ConfigError for invalid ones."""
    for key in overrides:
        if not key.startswith("env.") or key in NO_EFFECT:
            problem = f"{key} cannot be changed for an episode of a run"
            fix = "change settings env.*, such as env.kwargs.NAME or env.noise.obs"
            if key == "env.max_episode_steps":
                fix = "limit the number of steps instead (max_steps)"
            raise UsageError(problem, fix=fix)
    return apply_overrides(config, overrides)[0] if overrides else config


def require_spaces_of(policy: Policy, obs: Observation, action: Action, env: str) -> None:
    """Raises ConfigError if the environment `env` has other spaces than the policy was trained with."""
    for mine, theirs, what in (
        (policy.obs_space, obs, "observation"),
        (policy.action_space, action, "action"),
    ):
        if _layout(spaces.to_json(mine)) != _layout(spaces.to_json(theirs)):
            problem = f"with these settings, {env} has another {what} space than the policy"
            was, now = spaces.space_text(mine), spaces.space_text(theirs)
            raise ConfigError(
                f"{problem}: {now} instead of {was}", fix="leave out the overrides that change it"
            )


def _layout(stored: object) -> object:
    """Returns a stored space without the ranges of its numbers."""
    if isinstance(stored, dict):
        return {key: _layout(value) for key, value in stored.items() if key not in _RANGES}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(stored, list | tuple):
        return [_layout(value) for value in stored]  # pyright: ignore[reportUnknownVariableType]
    return stored
