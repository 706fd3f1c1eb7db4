"""Acrobot with a step that computes on Python floats, in about a third of the time."""

from __future__ import annotations

from math import pi
from typing import Literal

import numpy as np
from gymnasium.envs.classic_control.acrobot import AcrobotEnv, wrap

from gymnast.envs.env_types import Info

_INTEGERS = (np.int64, int)
State = tuple[float, float, float, float]
"""Angles of both joints, then their velocities."""


class FastAcrobot(AcrobotEnv):
    """The fast path covers the equations of the book without noise and rendering; everything else uses
    Gymnasium's step."""

    def step(self, a: int | np.ndarray) -> tuple[np.ndarray, float, bool, Literal[False], Info]:
        """Returns what Gymnasium's step returns for this action, bit for bit, and changes the state in the
        same way."""
        before = self.state
        unusual = self.book_or_nips != "book" or self.torque_noise_max > 0
        if type(a) not in _INTEGERS or not 0 <= a < 3 or before is None or unusual:
            return super().step(a)
        if self.render_mode is not None:
            return super().step(a)
        angle1, angle2, speed1, speed2 = self._integrate(before.tolist(), self.AVAIL_TORQUE[a])
        angle1, angle2 = wrap(angle1, -pi, pi), wrap(angle2, -pi, pi)
        speed1 = min(max(speed1, -self.MAX_VEL_1), self.MAX_VEL_1)
        speed2 = min(max(speed2, -self.MAX_VEL_2), self.MAX_VEL_2)
        self.state = np.array((angle1, angle2, speed1, speed2), dtype=np.float64)
        cos1 = float(np.cos(angle1))
        terminated = bool(-cos1 - float(np.cos(angle2 + angle1)) > 1.0)
        obs = (cos1, np.sin(angle1), np.cos(angle2), np.sin(angle2), speed1, speed2)
        return np.array(obs, dtype=np.float32), 0.0 if terminated else -1.0, terminated, False, {}

    def _integrate(self, start: State, torque: float) -> State:
        """Returns the state after one step of the Runge-Kutta method of order 4."""
        dt = self.dt
        half = dt / 2.0
        p, q, u, v = start
        a1, b1, c1, d1 = self._derivative(p, q, u, v, torque)
        a2, b2, c2, d2 = self._derivative(
            p + half * a1, q + half * b1, u + half * c1, v + half * d1, torque
        )
        a3, b3, c3, d3 = self._derivative(
            p + half * a2, q + half * b2, u + half * c2, v + half * d2, torque
        )
        a4, b4, c4, d4 = self._derivative(
            p + dt * a3, q + dt * b3, u + dt * c3, v + dt * d3, torque
        )
        sixth = dt / 6.0
        return (
            p + sixth * (a1 + 2 * a2 + 2 * a3 + a4),
            q + sixth * (b1 + 2 * b2 + 2 * b3 + b4),
            u + sixth * (c1 + 2 * c2 + 2 * c3 + c4),
            v + sixth * (d1 + 2 * d2 + 2 * d3 + d4),
        )

    def _derivative(
        self, angle1: float, angle2: float, speed1: float, speed2: float, torque: float
    ) -> State:
        """Returns the derivative of the state with respect to time."""
        m1, m2, l1 = self.LINK_MASS_1, self.LINK_MASS_2, self.LINK_LENGTH_1
        lc1, lc2, moi, g = self.LINK_COM_POS_1, self.LINK_COM_POS_2, self.LINK_MOI, 9.8
        # np.cos and np.sin, as Gymnasium uses: the last bit may differ from math.cos and math.sin
        cos2, sin2 = float(np.cos(angle2)), float(np.sin(angle2))
        # The order of operations of Gymnasium, since floating-point sums depend on it; and `**`, whose
        # last bit may differ from a product.
        d1 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos2) + moi + moi
        d2 = m2 * (lc2**2 + l1 * lc2 * cos2) + moi
        phi2 = m2 * lc2 * g * float(np.cos(angle1 + angle2 - pi / 2.0))
        phi1 = (
            -m2 * l1 * lc2 * speed2**2 * sin2
            - 2 * m2 * l1 * lc2 * speed2 * speed1 * sin2
            + (m1 * lc1 + m2 * l1) * g * float(np.cos(angle1 - pi / 2))
            + phi2
        )
        acc2 = (torque + d2 / d1 * phi1 - m2 * l1 * lc2 * speed1**2 * sin2 - phi2) / (
            m2 * lc2**2 + moi - d2**2 / d1
        )
        return speed1, speed2, -(d2 * acc2 + phi1) / d1, acc2
