"""Counts the faults of each environment copy and decides which copies are reset and which are given up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.envs.backends.backend import Fault, raise_fault


class FaultCount:
    """Counts faults per copy. One finished episode clears a copy's record."""

    def __init__(self, copies: int, limit: int) -> None:
        """A copy is given up after `limit` faults without a finished episode in between."""
        self.limit = limit
        self.rollout_faults: list[Fault] = []
        """Faults during the current rollout, at most one per copy and step."""
        self.fatal_fault: Fault | None = None
        """The first fault that reached the limit; the run cannot continue after it."""
        self._in_a_row = np.zeros(copies, dtype=np.int64)
        """Faults of each copy since it last finished an episode, [N]."""

    def in_a_row(self) -> np.ndarray:
        """Returns the number of faults of each copy since it last finished an episode, [N]."""
        return self._in_a_row.copy()

    def continue_from(self, in_a_row: np.ndarray) -> None:
        """Continues with these numbers of faults, those of the host that had the copies before."""
        self._in_a_row[:] = in_a_row

    def begin_rollout(self) -> None:
        """Forgets the faults of the previous rollout, but not how many each copy had in a row."""
        self.rollout_faults = []

    def raise_if_fatal(self, env: str) -> None:
        """Raises EnvError, with the name of the environment, if the run cannot continue."""
        if self.fatal_fault is not None:
            raise_fault(env, [self.fatal_fault])

    def episode_finished(self, copies: int | np.ndarray) -> None:
        """Sets the fault count of these copies back to 0."""
        self._in_a_row[copies] = 0

    def record(self, faults: Sequence[Fault]) -> list[int]:
        """Counts the faults and returns the copies that may be reset and tried again."""
        retry: dict[int, bool] = {}
        for fault in faults:
            if fault.copy not in retry:
                retry[fault.copy] = True
                self.rollout_faults.append(fault)
                # A bystander lost its episode because another copy in its process broke: not its fault.
                self._in_a_row[fault.copy] += not fault.is_bystander
                # An environment that never finishes an episode would otherwise be restarted forever.
                if self._in_a_row[fault.copy] >= self.limit:
                    self.fatal_fault = self.fatal_fault or fault
                    retry[fault.copy] = False
        return [copy for copy, allowed in retry.items() if allowed]
