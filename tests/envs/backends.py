"""Every backend with copies of `Shaky`, and helpers to step them."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.backend import Fault, Step
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.process import ProcessBackend
from gymnast.envs.backends.vector import VectorBackend
from tests.scripted import Shaky, obs_of, reward_of

N = 4
NAME = "Shaky-v0"


def inprocess_backend() -> InProcessBackend:
    return InProcessBackend(Shaky, N, NAME)


def process_backend(id: str = "py:tests.scripted:Shaky", **more: Any) -> ProcessBackend:
    """Returns a process backend with copies 0 and 1 in one worker, 2 and 3 in another."""
    defaults = {"info_keys": ["steps"], "on_output": print}
    own = {name: more.pop(name) for name in ("info_keys", "on_output", "limit") if name in more}
    settings = {"n_envs": N, "workers": 2} | more
    return ProcessBackend(EnvConfig(id=id, **settings), **defaults | own)


def vector_backend(mode: AutoresetMode, kind: type[SyncVectorEnv] = SyncVectorEnv) -> VectorBackend:
    """Returns a backend for Gymnasium's own vector, which supports all three autoreset modes."""
    return VectorBackend(lambda: kind([Shaky] * N, autoreset_mode=mode), NAME, info_keys=["steps"])


OURS = ("in process", "in workers")
"""Backends that can reset and step single copies."""
VECTORS = {f"vector {mode.value}": mode for mode in AutoresetMode}


def no_action(envs: Any) -> np.ndarray:
    return np.zeros(envs.n_envs, dtype=np.int64)


def reset_all(envs: Any, seeds: list[int]) -> tuple[Fault, ...]:
    return envs.reset(range(envs.n_envs), seeds)


def step_repeatedly(envs: Any, times: int) -> Step:
    """Steps several times without a fault, then once more, and returns that step."""
    for _ in range(times - 1):
        assert envs.step(no_action(envs)).faults == ()
    return envs.step(no_action(envs))


def follows_script(step: Step, copy: int, seed: int, t: int) -> bool:
    same = np.array_equal(step.obs[copy], obs_of(seed, t))
    return same and step.reward[copy] == reward_of(seed, t)
