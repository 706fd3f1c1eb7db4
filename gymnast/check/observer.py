"""The interface of checks that watch episodes step by step, and a record of the first violation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from gymnast.check.checked_env import Timestep
from gymnast.check.finding import Finding


class Observer(Protocol):
    """Sees every reset and step, and reports its findings afterwards."""

    def observe(self, timestep: Timestep) -> None: ...

    def findings(self) -> Iterator[Finding]: ...


class FirstViolation:
    """Records the first violation of a check and counts the others, so that it is reported once."""

    def __init__(self, check: str) -> None:
        self.check, self.times = check, 0
        self._first: tuple[str, str] | None = None

    def __bool__(self) -> bool:
        return self._first is not None

    def record(self, timestep: Timestep, what: str) -> None:
        """Counts a violation; `what` and the place are kept only for the first."""
        self.times += 1
        self._first = self._first or (what, timestep.location)

    def finding(self) -> Finding:
        """Returns the first violation as a finding. There must be one."""
        assert self._first is not None
        what, where = self._first
        often = f" (and {self.times - 1:,} more times)" if self.times > 1 else ""
        return Finding(self.check, "wrong", what, f"{where}{often}")

    def finding_or_ok(self, what: str = "") -> Finding:
        """Returns the first violation, or a finding that says `what` is ok."""
        return self.finding() if self else Finding(self.check, "ok", what)
