"""CartPole whose sensor breaks: every step from the 5,000th of the process on raises."""

from __future__ import annotations

from typing import Any

from gymnasium.envs.classic_control.cartpole import CartPoleEnv

MESSAGE = "sensor 7 does not answer"
BREAKS_AFTER = 5_000


class BreakingEnv(CartPoleEnv):
    steps = 0
    """Steps of all copies in this process."""

    def step(self, action: Any) -> Any:
        BreakingEnv.steps += 1
        if BreakingEnv.steps > BREAKS_AFTER:
            raise RuntimeError(MESSAGE)
        return super().step(action)
