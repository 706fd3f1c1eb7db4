"""CartPole with a step that computes on Python floats, in a third of the time."""

from __future__ import annotations

from typing import Literal

import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from gymnast.envs.env_types import Info

_INTEGERS = (np.int64, int)


class FastCartPole(CartPoleEnv):
    """The fast path covers the Euler integrator without rendering; everything else uses Gymnasium's step."""

    def step(
        self, action: int | np.ndarray
    ) -> tuple[np.ndarray, float, bool, Literal[False], Info]:
        """Returns what Gymnasium's step returns for this action, bit for bit, and changes the state in the
        same way."""
        before = self.state
        unusual = self.kinematics_integrator != "euler" or self.render_mode is not None
        # Gymnasium raises for invalid actions and warns about steps after the end: leave that to it.
        if type(action) not in _INTEGERS or not 0 <= action < 2 or before is None or unusual:
            return super().step(action)
        if self.steps_beyond_terminated is not None:
            return super().step(action)
        x, speed, angle, angle_speed = before.tolist()
        force = self.force_mag if action == 1 else -self.force_mag
        # np.cos and np.sin, as Gymnasium uses: the last bit may differ from math.cos and math.sin
        cos, sin = float(np.cos(angle)), float(np.sin(angle))
        # The same order of operations as in Gymnasium, since floating-point sums depend on it.
        mass, pole_moment, tau = self.total_mass, self.polemass_length, self.tau
        temp = (force + pole_moment * (angle_speed * angle_speed) * sin) / mass
        angle_acc = (self.gravity * sin - cos * temp) / (
            self.length * (4.0 / 3.0 - self.masspole * (cos * cos) / mass)
        )
        x_acc = temp - pole_moment * angle_acc * cos / mass
        x, speed = x + tau * speed, speed + tau * x_acc
        angle, angle_speed = angle + tau * angle_speed, angle_speed + tau * angle_acc
        self.state = state = np.array((x, speed, angle, angle_speed), dtype=np.float64)
        reward = 0.0 if self._sutton_barto_reward else 1.0
        fallen = not (
            -self.x_threshold <= x <= self.x_threshold
            and -self.theta_threshold_radians <= angle <= self.theta_threshold_radians
        )
        if fallen:
            self.steps_beyond_terminated = 0
            reward = -1.0 if self._sutton_barto_reward else 1.0
        return state.astype(np.float32), reward, fallen, False, {}
