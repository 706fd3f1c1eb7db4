"""LunarLander with a step that skips checks and particle effects; its results are bit-identical."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from gymnasium.envs.box2d import lunar_lander
from gymnasium.envs.box2d.lunar_lander import (
    FPS,
    LEG_DOWN,
    MAIN_ENGINE_POWER,
    MAIN_ENGINE_Y_LOCATION,
    SCALE,
    SIDE_ENGINE_AWAY,
    SIDE_ENGINE_HEIGHT,
    SIDE_ENGINE_POWER,
    VIEWPORT_H,
    VIEWPORT_W,
    LunarLander,
)

from gymnast.envs.env_types import Info

if TYPE_CHECKING:
    from Box2D import b2Body

LanderStep = tuple[np.ndarray, float, bool, Literal[False], Info]
_INTEGERS = (np.int64, int)
_HALF_WIDTH, _HALF_HEIGHT = VIEWPORT_W / SCALE / 2, VIEWPORT_H / SCALE / 2
_LEG, _MAIN = LEG_DOWN / SCALE, MAIN_ENGINE_Y_LOCATION / SCALE
_NOTHING, _MAIN_ENGINE = 0, 2
_SIDE_ENGINE_UP = 17
"""Gymnasium writes 17 here, where one would expect SIDE_ENGINE_HEIGHT (14)."""

_ENGINES = MAIN_ENGINE_POWER, SIDE_ENGINE_POWER
"""Gymnasium's engine powers, to be restored after they were changed."""


class FastLunarLander(LunarLander):
    """The fast path covers discrete actions without rendering; everything else uses Gymnasium's step."""

    main_engine_power, side_engine_power = MAIN_ENGINE_POWER, SIDE_ENGINE_POWER
    """Attributes, so that they can be randomized. Gymnasium has constants for all landers."""

    def step(self, action: int | np.ndarray) -> LanderStep:
        """Returns what Gymnasium's step returns for this action, bit for bit, and changes the state in the
        same way. Particles, which only rendering shows, are left out."""
        unusual = type(action) not in _INTEGERS or not 0 <= action < 4
        if unusual or self.continuous or self.render_mode is not None:
            return self._gymnasium_step(action)
        lander = self.lander
        assert lander is not None
        left, right = self.legs
        # 1. Wind and turbulence, unless the lander stands on the ground.
        if self.enable_wind and not (left.ground_contact or right.ground_contact):
            lander.ApplyForceToCenter((_gust(self.wind_idx) * self.wind_power, 0.0), True)
            lander.ApplyTorque(_gust(self.torque_idx) * self.turbulence_power, True)
            self.wind_idx += 1
            self.torque_idx += 1
        # 2. Engines: an impulse at the nozzle, with some random dispersion.
        engine = int(action)
        draw = self.np_random.random
        # drawn even if no engine fires, as in Gymnasium: the random stream must stay the same
        ahead, aside = (2.0 * draw() - 1.0) / SCALE, (2.0 * draw() - 1.0) / SCALE
        fuel = 0.0
        if engine != _NOTHING:
            angle, position = lander.angle, lander.position
            sin, cos = math.sin(angle), math.cos(angle)
            if engine == _MAIN_ENGINE:
                fuel, power = 0.30, self.main_engine_power
                ox = sin * (_MAIN + 2 * ahead) + -cos * aside
                oy = -cos * (_MAIN + 2 * ahead) - sin * aside
                at = position.x + ox, position.y + oy
            else:
                fuel, power = 0.03, self.side_engine_power
                away = 3 * aside + (engine - 2) * SIDE_ENGINE_AWAY / SCALE
                ox = sin * ahead + -cos * away
                oy = -cos * ahead - sin * away
                at = (
                    position.x + ox - sin * _SIDE_ENGINE_UP / SCALE,
                    position.y + oy + cos * SIDE_ENGINE_HEIGHT / SCALE,
                )
            lander.ApplyLinearImpulse((-ox * power, -oy * power), at, True)
        # 3. Physics, with Gymnasium's numbers of velocity and position iterations.
        self.world.Step(1.0 / FPS, 6 * 30, 2 * 30)
        return self._outcome(lander, fuel)

    def restarted_obs(self) -> np.ndarray:
        """Returns the observation after the lander was moved. Restarts the reward's potential, so that
        the move itself is not rewarded."""
        assert self.lander is not None
        self.prev_shaping = None
        return self._outcome(self.lander, 0.0)[0]

    def _gymnasium_step(self, action: int | np.ndarray) -> LanderStep:
        """Steps with Gymnasium's code, which reads the engine powers from constants of its module."""
        if (self.main_engine_power, self.side_engine_power) == _ENGINES:
            return super().step(action)
        try:
            _set_engines(self.main_engine_power, self.side_engine_power)
            return super().step(action)
        finally:
            _set_engines(*_ENGINES)

    def _outcome(self, lander: b2Body, fuel: float) -> LanderStep:
        """Returns the result of a step that used this much fuel, computed as in Gymnasium."""
        position, velocity, angle = lander.position, lander.linearVelocity, lander.angle
        left, right = self.legs
        x = (position.x - _HALF_WIDTH) / _HALF_WIDTH
        y = (position.y - (self.helipad_y + _LEG)) / _HALF_HEIGHT
        vx, vy = velocity.x * _HALF_WIDTH / FPS, velocity.y * _HALF_HEIGHT / FPS
        touch = 1.0 if left.ground_contact else 0.0, 1.0 if right.ground_contact else 0.0
        shaping = (
            -100 * math.sqrt(x * x + y * y)
            - 100 * math.sqrt(vx * vx + vy * vy)
            - 100 * abs(angle)
            + 10 * touch[0]
            + 10 * touch[1]
        )
        reward = 0.0 if self.prev_shaping is None else shaping - self.prev_shaping
        self.prev_shaping = shaping
        reward -= fuel
        terminated = False
        if self.game_over or abs(x) >= 1.0:
            terminated, reward = True, -100
        if not lander.awake:
            terminated, reward = True, +100
        spin = 20.0 * lander.angularVelocity / FPS
        obs = np.array((x, y, vx, vy, angle, spin, *touch), dtype=np.float32)
        return obs, reward, terminated, False, {}


def _gust(index: int | np.int64) -> float:
    """Returns the strength of wind or turbulence, -1 to 1; the sequence is not periodic."""
    return math.tanh(math.sin(0.02 * index) + math.sin(math.pi * 0.01 * index))


def _set_engines(main: float, side: float) -> None:
    lunar_lander.MAIN_ENGINE_POWER, lunar_lander.SIDE_ENGINE_POWER = main, side
