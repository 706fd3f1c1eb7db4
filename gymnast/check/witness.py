"""Somebody who watches episodes go by and says afterwards what there is to say about one thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from gymnast.check.finding import Finding
from gymnast.check.live import Moment


class Observer(Protocol):
    def sees(self, moment: Moment) -> None: ...

    def findings(self) -> Iterator[Finding]: ...


class FirstViolation:
    """Something that is wrong, told once: where it was first met, and how often."""

    def __init__(self, check: str) -> None:
        self.check, self.times = check, 0
        self._first: tuple[str, str] | None = None

    def __bool__(self) -> bool:
        return self._first is not None

    def at(self, moment: Moment, what: str) -> None:
        self.times += 1
        self._first = self._first or (what, moment.where)

    def finding(self) -> Finding:
        assert self._first is not None
        what, where = self._first
        often = f" (and {self.times - 1:,} times more)" if self.times > 1 else ""
        return Finding(self.check, "wrong", what, f"{where}{often}")

    def or_ok(self, what: str = "") -> Finding:
        return self.finding() if self else Finding(self.check, "ok", what)
