"""CartPole's step on Python's numbers: a third of the time."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

_INTEGERS = (np.int64, int)


class FastCartPole(CartPoleEnv):
    def step(self, action: Any) -> Any:
        before = self.state
        usual = self.kinematics_integrator != "euler" or self.render_mode is not None
        if type(action) not in _INTEGERS or not 0 <= action < 2 or before is None or usual:
            return super().step(action)
        if self.steps_beyond_terminated is not None:
            return super().step(action)
        x, speed, angle, spin = before.tolist()
        force = self.force_mag if action == 1 else -self.force_mag
        # NumPy's, of which the last bit may be another than that of Python's
        cos, sin = float(np.cos(angle)), float(np.sin(angle))
        mass, lever, tau = self.total_mass, self.polemass_length, self.tau
        push = (force + lever * (spin * spin) * sin) / mass
        bend = (self.gravity * sin - cos * push) / (
            self.length * (4.0 / 3.0 - self.masspole * (cos * cos) / mass)
        )
        slide = push - lever * bend * cos / mass
        x, speed = x + tau * speed, speed + tau * slide
        angle, spin = angle + tau * spin, spin + tau * bend
        self.state = state = np.array((x, speed, angle, spin), dtype=np.float64)
        reward = 0.0 if self._sutton_barto_reward else 1.0
        fallen = not (
            -self.x_threshold <= x <= self.x_threshold
            and -self.theta_threshold_radians <= angle <= self.theta_threshold_radians
        )
        if fallen:
            self.steps_beyond_terminated = 0
            reward = -1.0 if self._sutton_barto_reward else 1.0
        return state.astype(np.float32), reward, fallen, False, {}
