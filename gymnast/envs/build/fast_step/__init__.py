"""Environments whose step does more than it must: the same numbers, bit for bit, in less time.

Gymnasium's steps check their action, draw, and compute on single NumPy numbers in ways that cost
more than the physics. A quick class is a subclass with a step of its own, for the usual settings
only; for all others it calls Gymnasium's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import gymnasium as gym

QUICK = {
    "gymnasium.envs.classic_control.cartpole:CartPoleEnv": ("cartpole", "FastCartPole"),
    "gymnasium.envs.box2d.lunar_lander:LunarLander": ("lander", "FastLunarLander"),
}
MENDED = {"gymnasium.envs.box2d.bipedal_walker:BipedalWalker": ("walker", "SeededBipedalWalker")}
"""No quicker, but each episode begins like the first."""


def use_fast_step(env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
    """The same environment, in the quick class where there is one for exactly its own."""
    inner = env.unwrapped
    name = f"{type(inner).__module__}:{type(inner).__qualname__}"
    if name in (known := QUICK | MENDED):
        module, quick = known[name]
        inner.__class__ = getattr(import_module(f"{__name__}.{module}"), quick)
    return env
