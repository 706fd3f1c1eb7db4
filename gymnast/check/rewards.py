"""Checks of rewards and returns against their declared ranges."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gymnast.check.checked_env import Timestep
from gymnast.check.finding import Finding
from gymnast.check.observer import FirstViolation
from gymnast.config.facts import Facts

_ROUNDING = 1e-6
"""Tolerance beyond a bound, relative to max(1, |number|)."""
Range = tuple[float, float]


class RewardCheck:
    """Checks that rewards and returns are within their declared ranges."""

    def __init__(self, facts: Facts) -> None:
        self._reward, self._returns = facts.reward, facts.returns
        self._wrong_reward = FirstViolation("facts.reward")
        self._wrong_return = FirstViolation("facts.returns")
        self._rewards, self._totals = _ObservedRange(), _ObservedRange()
        self._total = 0.0
        """Return of the episode so far."""

    def observe(self, timestep: Timestep) -> None:
        """Checks the reward and, at the end of an episode, the return against their declared ranges."""
        if timestep.step == 0:
            self._total = 0.0
            return
        self._total += timestep.reward
        if not math.isfinite(self._total):
            return  # reported by FiniteCheck
        self._rewards.add(timestep.reward)
        if beyond := _beyond(self._reward, timestep.reward):
            self._wrong_reward.record(timestep, f"the reward is {timestep.reward:.6g}, {beyond}")
        if timestep.over:
            self._totals.add(self._total)
            if beyond := _beyond(self._returns, self._total):
                self._wrong_return.record(timestep, f"the return is {self._total:.6g}, {beyond}")

    def findings(self) -> Iterator[Finding]:
        """Yields a finding for the reward and one for the return, each only if its range is declared."""
        if self._reward is not None:
            yield self._wrong_reward.finding_or_ok(
                f"{self._rewards} observed, {_text(self._reward)} declared"
            )
        if self._returns is not None:
            observed = f"{self._totals} observed" if self._totals.count else "no episode ended"
            yield self._wrong_return.finding_or_ok(f"{observed}, {_text(self._returns)} declared")


class _ObservedRange:
    """Minimum and maximum of the numbers so far."""

    def __init__(self) -> None:
        self.count, self.low, self.high = 0, math.inf, -math.inf

    def add(self, number: float) -> None:
        self.count += 1
        self.low, self.high = min(self.low, number), max(self.high, number)

    def __str__(self) -> str:
        return _text((self.low, self.high)) if self.count else "none"


def _beyond(bounds: Range | None, number: float) -> str:
    """Returns the end of a message if the number is outside of its declared range, else an empty text."""
    if bounds is None:
        return ""
    low, high = bounds
    slack = _ROUNDING * max(1.0, abs(number))
    return "" if low - slack <= number <= high + slack else f"declared is {_text(bounds)}"


def _text(bounds: Range) -> str:
    return f"[{bounds[0]:.6g}, {bounds[1]:.6g}]"
