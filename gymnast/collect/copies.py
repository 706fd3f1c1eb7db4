"""The env copies of a run that a collector has: all of them, or those of one host."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CopyRange:
    """Consecutive env copies of a run, numbered from 0."""

    first: int
    stop: int
    """Number of the copy after the last."""
    total: int
    """Number of copies of the whole run."""

    @classmethod
    def all(cls, total: int) -> CopyRange:
        """Returns the range of all copies of a run."""
        return cls(0, total, total)

    @classmethod
    def divide(cls, total: int, parts: int) -> list[CopyRange]:
        """Returns the copies of a run in `parts` ranges, whose sizes differ by one at most."""
        bounds = [total * k // parts for k in range(parts + 1)]
        return [cls(bounds[k], bounds[k + 1], total) for k in range(parts)]

    @property
    def slice(self) -> slice:
        return slice(self.first, self.stop)

    def __len__(self) -> int:
        return self.stop - self.first
