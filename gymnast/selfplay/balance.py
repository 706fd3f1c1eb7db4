"""Balances the roles: when one dominates, remedies are applied one by one, and later withdrawn in reverse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypedDict

from gymnast.config.sections.league import BalanceConfig
from gymnast.league.wins import RecentWins


class BalanceState(TypedDict):
    """The fields of Balance that a checkpoint stores."""

    weaker: str
    outside: int
    inside: int
    applied: list[str]


class Rebalanced(TypedDict):
    """The detail of the event that a remedy was applied or withdrawn."""

    what: Literal["applied", "withdrawn"]
    remedy: str
    weaker: str
    """The role that the remedy helps."""
    win_rates: dict[str, float]


@dataclass
class Balance:
    cfg: BalanceConfig
    weaker: str = ""
    """The role that the remedies help."""
    outside: int = 0
    """Consecutive rollouts in which that role was dominated, since the last remedy."""
    inside: int = 0
    """Consecutive rollouts in which no role was dominated."""
    applied: list[str] = field(default_factory=list[str])
    """Active remedies, in the order in which they were applied."""

    def update(self, wins: Mapping[str, RecentWins]) -> Rebalanced | None:
        """Checks the win rates after a rollout. Returns the detail of an event if a remedy is to be applied
        or withdrawn now, else None. `wins`: recent results by learning role."""
        dominated = self._dominated(wins)
        if dominated and dominated != self.weaker and self.applied:
            return self._withdraw(wins)  # the role that was helped is now the stronger one
        if dominated:
            self.outside = self.outside + 1 if dominated == self.weaker else 1
            self.weaker, self.inside = dominated, 0
            unused = [remedy for remedy in self.cfg.remedies if remedy not in self.applied]
            if unused and self.outside >= self.cfg.patience:
                self.applied.append(unused[0])
                self.outside = 0  # each remedy gets `patience` rollouts to take effect
                return self._event("applied", unused[0], wins)
            return None
        self.outside = 0
        self.inside += 1
        if self.applied and self.inside >= self.cfg.patience:
            return self._withdraw(wins)
        return None

    def is_helping(self, remedy: str, role: str) -> bool:
        """Returns whether `remedy` is applied now and helps this role."""
        return remedy in self.applied and role == self.weaker

    def state(self) -> BalanceState:
        return {
            "weaker": self.weaker,
            "outside": self.outside,
            "inside": self.inside,
            "applied": list(self.applied),
        }

    def load(self, state: BalanceState) -> None:
        self.weaker, self.applied = state["weaker"], list(state["applied"])
        self.outside, self.inside = state["outside"], state["inside"]

    def _dominated(self, wins: Mapping[str, RecentWins]) -> str:
        """Returns the role that is dominated by the others, because it wins too rarely or another wins too
        often; an empty string if there is none. Rates count once half of the window is known."""
        low, high = self.cfg.aim or self.cfg.band
        for role, record in wins.items():
            others = [other for other in wins if other != role]
            if record.n_known * 2 < record.window or not others:
                continue  # too few matches: a rate over a handful is noise
            if record.win_rate().mean < low:
                return role
            if record.win_rate().mean > high:
                return min(others, key=lambda other: wins[other].win_rate().mean)
        return ""

    def _withdraw(self, wins: Mapping[str, RecentWins]) -> Rebalanced:
        """Withdraws the remedy that was applied last, and returns the detail of the event."""
        remedy = self.applied.pop()
        self.inside = self.outside = 0
        return self._event("withdrawn", remedy, wins)

    def _event(
        self, what: Literal["applied", "withdrawn"], remedy: str, wins: Mapping[str, RecentWins]
    ) -> Rebalanced:
        rates = {role: record.win_rate().mean for role, record in wins.items()}
        return {"what": what, "remedy": remedy, "weaker": self.weaker, "win_rates": rates}
