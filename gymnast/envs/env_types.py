"""Types of Gymnasium environments whose observations and actions are known only at run time.

Observations and actions are `object`: code that needs an array converts or checks the value first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsFloat, TypedDict

import gymnasium as gym
import numpy as np

Array = np.ndarray

Env = gym.Env[object, object]
VectorEnv = gym.vector.VectorEnv[object, object, Array]
EnvWrapper = gym.Wrapper[object, object, object, object]
"""Base class of wrappers around any `Env`."""
Info = dict[str, object]
ResetResult = tuple[object, Info]
"""Observation and info."""
StepResult = tuple[object, SupportsFloat, bool, bool, Info]
"""Observation, reward, terminated, truncated and info."""
Options = dict[str, object] | None
"""The argument `options` of `reset`."""


class ResetArguments(TypedDict, total=False):
    """The keyword arguments of `reset`, for wrappers that pass on only the given ones."""

    seed: int | None
    options: Options


def dict_obs(obs: object) -> Mapping[str, object]:
    """Returns an observation of a Dict space. Raises TypeError for a value that is not a mapping."""
    if not isinstance(obs, Mapping):
        raise TypeError(f"the observation is a {type(obs).__name__}, not a dict")
    return obs
