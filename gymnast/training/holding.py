"""How much memory the steps take that a learner holds at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gymnast.config.config import Config
from gymnast.config.schedule import highest
from gymnast.memory import refuse_more_than_memory
from gymnast.spaces.observations import Observation

_BESIDE_OBS = 64
"""Bytes of a step next to its observation: action, reward, value, flags; a low estimate."""


def refuse_too_many_steps(cfg: Config[Any], observed: Sequence[Observation]) -> None:
    """Raises ConfigError where a rollout or the replay memory cannot fit into this machine."""
    sizes = [obs.dtype.itemsize * int(np.prod(obs.shape)) for obs in observed]
    each = sum(sizes) + _BESIDE_OBS * len(sizes)
    steps = highest(getattr(cfg.algo, "n_steps", None) or 1) * cfg.env.n_envs
    steps = min(steps, cfg.stop.env_steps or steps)  # a rollout never exceeds the budget
    fix = "set a smaller algo.n_steps or env.n_envs"
    refuse_more_than_memory(steps * each, f"a rollout of {steps:,.0f} steps", fix)
    kept = getattr(cfg.algo, "replay", 0)
    needed = kept * (2 * sum(sizes) + _BESIDE_OBS)
    refuse_more_than_memory(needed, f"a replay of {kept:,} steps", "set a smaller algo.replay")
