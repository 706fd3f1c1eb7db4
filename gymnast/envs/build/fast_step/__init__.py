"""Faster `step` methods for some Gymnasium environments, with bit-identical results.

Gymnasium's steps validate the action, handle rendering and compute on NumPy scalars, which costs more
than the physics. A fast class is a subclass with its own `step` for the usual settings; for all other
settings it calls Gymnasium's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from gymnast.envs.env_types import Env

# Exact classes: a subclass may override parts of the physics.
FAST = {
    "gymnasium.envs.classic_control.cartpole:CartPoleEnv": ("cartpole", "FastCartPole"),
    "gymnasium.envs.classic_control.acrobot:AcrobotEnv": ("acrobot", "FastAcrobot"),
    "gymnasium.envs.box2d.lunar_lander:LunarLander": ("lander", "FastLunarLander"),
}
FIXED = {"gymnasium.envs.box2d.bipedal_walker:BipedalWalker": ("walker", "SeededBipedalWalker")}
"""Classes with the usual speed in which an episode depends on its seed alone."""


def use_fast_step(env: Env) -> Env:
    """Returns the same environment, switched to the fast class if there is one for exactly its class.

    Assigning `__class__` keeps the wrappers around it and whatever the constructor has set up.
    """
    inner = env.unwrapped
    name = f"{type(inner).__module__}:{type(inner).__qualname__}"
    if name in (known := FAST | FIXED):
        module, subclass = known[name]
        inner.__class__ = getattr(import_module(f"{__name__}.{module}"), subclass)
    return env


@contextmanager
def no_rendering(env: Env) -> Iterator[None]:
    """Lets an environment take fast steps inside although it has a renderer. Its state afterwards may only be
    rendered after further steps outside."""
    inner = env.unwrapped
    if type(inner).__module__.rpartition(".")[0] != __name__:
        yield
        return
    mode, inner.render_mode = inner.render_mode, None
    try:
        yield
    finally:
        inner.render_mode = mode
