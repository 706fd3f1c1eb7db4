"""What a person is told of faults: one line for each cause, with what became of it.

Copies that were lost together are one report, and so are faults of the same kind in one rollout. A kind
that comes back is reported again each time its number has doubled; what is left over is reported at the
end. Rows count every fault (`rollout/faults`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gymnast.envs.backends.backend import Fault

_NUMBERS = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")
LISTED = 8
"""Copies that a line names; of more, it says how many."""


@dataclass
class _Kind:
    """Faults with the same cause, but for the numbers in it."""

    seen: int = 0
    next: int = 1
    """Reported again when so many were seen."""
    waiting: list[Fault] = field(default_factory=list[Fault])
    """Not reported yet, copies that were lost with them included."""


class FaultReports:
    def __init__(self, noun: str) -> None:
        """`noun`: what breaks, a copy of an environment or a match."""
        self._noun = noun
        self._kinds: dict[str, _Kind] = {}

    def take(self, faults: Sequence[Fault], failed: Fault | None) -> Iterator[dict[str, Any]]:
        """The faults of a rollout; yields reports that are due. `failed`: after it training ends."""
        if not faults:
            return
        kind_of: dict[int, str] = {}
        for fault in sorted(faults, key=lambda fault: fault.bystander):  # the cause comes first
            name = kind_of.get(fault.because_of, "") if fault.because_of is not None else ""
            name = name or _NUMBERS.sub("#", fault.what)
            kind = self._kinds.setdefault(name, _Kind())
            kind.waiting.append(fault)
            if not fault.bystander:
                kind_of[fault.copy] = name
                kind.seen += 1
        for kind in self._kinds.values():
            ends = failed is not None and failed in kind.waiting
            if kind.waiting and (kind.seen >= kind.next or ends):
                kind.next = 2 * max(kind.seen, 1)
                yield self._report(kind, failed if ends else None)

    def rest(self) -> Iterator[dict[str, Any]]:
        """Those that came since the last report of their kind."""
        for kind in self._kinds.values():
            if kind.waiting:
                yield self._report(kind, None)

    def _report(self, kind: _Kind, failed: Fault | None) -> dict[str, Any]:
        faults, kind.waiting = kind.waiting, []
        fault = failed or next((fault for fault in faults if not fault.bystander), faults[0])
        copies = sorted({fault.copy for fault in faults})
        where = f"step {fault.step}" if fault.step else "reset"
        message = f"{self._noun} {fault.copy}, {where}: {fault.what}; "
        message += "training ends" if failed else self._consequence(copies)
        if kind.seen > 1:
            message += f" ({kind.seen} faults of this kind so far)"
        return {
            "copy": fault.copy,
            "step": fault.step,
            "what": fault.what,
            "traceback": fault.traceback,
            "copies": copies,
            "faults": len(faults),
            "seen": kind.seen,
            "message": message,
        }

    def _consequence(self, copies: Sequence[int]) -> str:
        if len(copies) == 1:
            return f"the episode was dropped and the {self._noun} restarted"
        plural = "copies" if self._noun == "copy" else "matches"
        if len(copies) > LISTED:
            return f"the episodes of {len(copies)} {plural} were dropped and these restarted"
        listed = ", ".join(map(str, copies))
        return f"the episodes of {plural} {listed} were dropped and these restarted"
