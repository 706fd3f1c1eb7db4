"""How often copies of an environment broke: which may try again, which is given up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.envs.backends.backend import Fault


class FaultCount:
    def __init__(self, copies: int, most: int) -> None:
        """`most`: faults of a copy without an episode between, after which it is given up."""
        self.most = most
        self.of_rollout: list[Fault] = []
        self.failed: Fault | None = None
        """The fault after which a copy was given up."""
        self._in_a_row = np.zeros(copies, dtype=np.int64)
        """Faults of each copy since it last finished an episode."""

    def begin(self) -> None:
        """A rollout."""
        self.of_rollout = []

    def finished(self, copies: int | np.ndarray) -> None:
        """These came to the end of an episode."""
        self._in_a_row[copies] = 0

    def record(self, faults: Sequence[Fault]) -> list[int]:
        """Keep count; the copies that may try again."""
        again: dict[int, bool] = {}
        for fault in faults:
            if fault.copy not in again:
                again[fault.copy] = True
                self.of_rollout.append(fault)
                self._in_a_row[fault.copy] += not fault.bystander
                if self._in_a_row[fault.copy] >= self.most:
                    self.failed = self.failed or fault
                    again[fault.copy] = False
        return [copy for copy, may in again.items() if may]
