"""Parameters of LunarLander: gravity, wind, engine power and initial state.

The initial state is given in the units of the observation. What is not drawn keeps its usual value.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from gymnasium.envs.box2d.lunar_lander import FPS, LEG_DOWN, SCALE, VIEWPORT_H, VIEWPORT_W

from gymnast.envs.build.fast_step.lander import FastLunarLander
from gymnast.envs.build.parameters import KEY, Parameters, Values
from gymnast.errors import EnvError

_WIND = ("wind_power", "turbulence_power")
_START = ("start_x", "start_y", "start_vx", "start_vy", "start_angle")
_HALF_WIDTH, _HALF_HEIGHT = VIEWPORT_W / SCALE / 2, VIEWPORT_H / SCALE / 2


def _check(env: object, wanted: Collection[str]) -> None:
    """Raises EnvError for a wind parameter of an environment without wind."""
    assert isinstance(env, FastLunarLander)
    wind = [name for name in _WIND if name in wanted]
    if wind and not env.enable_wind:
        what = f"{wind[0]} has no effect without wind"
        fix = "set env.kwargs.enable_wind to true"
        raise EnvError(what, at=f"{KEY}.{wind[0]}", fix=fix)


def _start(env: object, values: Values) -> np.ndarray | None:
    """Moves the lander and its legs as one rigid body, rotated about the center of the lander. Returns the
    new observation; None if no initial state was drawn."""
    if not any(name in values for name in _START):
        return None
    assert isinstance(env, FastLunarLander)
    lander = env.lander
    assert lander is not None
    center = lander.position.copy()  # the body's own vector changes when the lander is moved
    x, y = center.x, center.y
    # The inverse of the scaling in Gymnasium's observation.
    if "start_x" in values:
        x = (1 + values["start_x"]) * _HALF_WIDTH
    if "start_y" in values:
        y = values["start_y"] * _HALF_HEIGHT + env.helipad_y + LEG_DOWN / SCALE
    turn = values.get("start_angle", lander.angle) - lander.angle
    cos, sin = math.cos(turn), math.sin(turn)
    # The joints between lander and legs hold only if all bodies make the same rigid motion.
    for body in (lander, *env.legs):
        dx, dy = body.position.x - center.x, body.position.y - center.y
        body.transform = (x + cos * dx - sin * dy, y + sin * dx + cos * dy), body.angle + turn
        velocity = body.linearVelocity
        vx, vy = velocity.x, velocity.y
        if "start_vx" in values:
            vx = values["start_vx"] * FPS / _HALF_WIDTH
        if "start_vy" in values:
            vy = values["start_vy"] * FPS / _HALF_HEIGHT
        body.linearVelocity = vx, vy
    return env.restarted_obs()


PARAMETERS = Parameters(
    names=("gravity", *_WIND, "main_engine_power", "side_engine_power", *_START),
    other_attributes=False,
    check=_check,
    set_initial_state=_start,
    non_attributes=_START,
)
