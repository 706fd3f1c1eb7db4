"""Memory that rollouts and replay buffers need, checked before a run starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.config.config import Config
from gymnast.config.schedule import highest
from gymnast.memory import check_memory
from gymnast.spaces.observations import Observation

_BYTES_PER_STEP = 64
"""Bytes of a step without its observation: action, reward, value, flags. A low estimate."""


def check_memory_fits(cfg: Config, obs_spaces: Sequence[Observation]) -> None:
    """Raises ConfigError if a rollout or the replay buffer does not fit into this machine's memory.
    `obs_spaces` has one observation space per role."""
    # Bytes of one observation, per role.
    sizes = [obs.dtype.itemsize * int(np.prod(obs.shape)) for obs in obs_spaces]
    per_step = sum(sizes) + _BYTES_PER_STEP * len(sizes)
    if (memory := cfg.policy.memory) is not None:
        # One policy state per sequence: at most two vectors of each layer, of actor and critic.
        per_step += len(sizes) * 16 * memory.width * memory.layers / cfg.policy.bptt
    steps = highest(getattr(cfg.algo, "n_steps", None) or 1) * cfg.env.n_envs
    steps = min(steps, cfg.stop.env_steps or steps)  # a rollout never exceeds the budget
    fix = "set a smaller algo.n_steps or env.n_envs"
    check_memory(steps * per_step, f"a rollout of {steps:,.0f} steps", fix)
    capacity = getattr(cfg.algo, "replay", 0)
    # each replayed step stores its observation and the next one
    needed = capacity * (2 * sum(sizes) + _BYTES_PER_STEP)
    check_memory(needed, f"a replay of {capacity:,} steps", "set a smaller algo.replay")
