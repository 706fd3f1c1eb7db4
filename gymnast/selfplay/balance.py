"""What is done when one role dominates the other: remedies, one after the other, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from gymnast.config.sections.league import BalanceConfig
from gymnast.league.wins import Wins


@dataclass
class Balance:
    cfg: BalanceConfig
    weaker: str = ""
    """The role that remedies are for."""
    outside: int = 0
    """Rollouts in a row in which it was dominated, since the last remedy."""
    inside: int = 0
    """Rollouts in a row since in which nobody was."""
    applied: list[str] = field(default_factory=list[str])

    def watch(self, wins: Mapping[str, Wins]) -> dict[str, Any] | None:
        """After a rollout: the remedy to be `applied` or `withdrawn` now, for the event."""
        dominated = self._dominated(wins)
        if dominated and dominated != self.weaker and self.applied:
            return self._withdraw(wins)  # the tables have turned
        if dominated:
            self.outside = self.outside + 1 if dominated == self.weaker else 1
            self.weaker, self.inside = dominated, 0
            left = [remedy for remedy in self.cfg.remedies if remedy not in self.applied]
            if left and self.outside >= self.cfg.patience:
                self.applied.append(left[0])
                self.outside = 0
                return self._told("applied", left[0], wins)
            return None
        self.outside = 0
        self.inside += 1
        if self.applied and self.inside >= self.cfg.patience:
            return self._withdraw(wins)
        return None

    def has(self, remedy: str, role: str) -> bool:
        """Whether the role is being helped in this way."""
        return remedy in self.applied and role == self.weaker

    def state(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "cfg"}

    def load(self, state: Mapping[str, Any]) -> None:
        for key, value in state.items():
            setattr(self, key, value)

    def _dominated(self, wins: Mapping[str, Wins]) -> str:
        low, high = self.cfg.aim or self.cfg.band
        for role, record in wins.items():
            others = [other for other in wins if other != role]
            if record.known * 2 < record.window or not others:
                continue
            if record.rate().mean < low:
                return role
            if record.rate().mean > high:
                return min(others, key=lambda other: wins[other].rate().mean)
        return ""

    def _withdraw(self, wins: Mapping[str, Wins]) -> dict[str, Any]:
        remedy = self.applied.pop()
        self.inside = self.outside = 0
        return self._told("withdrawn", remedy, wins)

    def _told(self, what: str, remedy: str, wins: Mapping[str, Wins]) -> dict[str, Any]:
        rates = {role: record.rate().mean for role, record in wins.items()}
        return {"what": what, "remedy": remedy, "weaker": self.weaker, "win_rates": rates}
