"""Reports of environment faults to the user: one line per cause, with its consequence.

Copies lost with the same process are one report, and so are faults of the same kind in one rollout. A kind
that recurs is reported again whenever its count has doubled; the rest is reported at the end. The
metric `rollout/faults` counts every fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gymnast.envs.backends.backend import Fault

_NUMBERS = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")
MAX_LISTED = 8
"""Maximum number of copies that a line names. For more, it gives their number."""


@dataclass
class _Kind:
    """Faults with the same message, ignoring the numbers in it."""

    count: int = 0
    report_at: int = 1
    """The count at which this kind is reported next."""
    waiting: list[Fault] = field(default_factory=list[Fault])
    """Faults that were not reported yet, including those of copies lost with the same process."""


class FaultReports:
    def __init__(self, noun: str) -> None:
        """`noun` is the word for what breaks: "copy" (of the environment) or "match"."""
        self._noun = noun
        self._kinds: dict[str, _Kind] = {}

    def add(self, faults: Sequence[Fault], failed: Fault | None) -> Iterator[dict[str, object]]:
        """Adds the faults of a rollout and yields the reports that are due. `failed` is the fault that
        ends training, if any."""
        if not faults:
            return
        kind_of: dict[int, str] = {}
        # Causes come first, so that bystanders (copies of the same process) find their kind.
        for fault in sorted(faults, key=lambda fault: fault.is_bystander):
            name = kind_of.get(fault.caused_by, "") if fault.caused_by is not None else ""
            name = name or _NUMBERS.sub("#", fault.message)  # such as the step or the wrong value
            kind = self._kinds.setdefault(name, _Kind())
            kind.waiting.append(fault)
            if not fault.is_bystander:
                kind_of[fault.copy] = name
                kind.count += 1
        for kind in self._kinds.values():
            ends_training = failed is not None and failed in kind.waiting
            if kind.waiting and (kind.count >= kind.report_at or ends_training):
                # Doubling bounds the reports: a fault in every episode of a long run gives about 20.
                kind.report_at = 2 * max(kind.count, 1)
                yield self._report(kind, failed if ends_training else None)

    def remaining(self) -> Iterator[dict[str, object]]:
        """Yields reports of all faults since the last report of their kind."""
        for kind in self._kinds.values():
            if kind.waiting:
                yield self._report(kind, None)

    def _report(self, kind: _Kind, failed: Fault | None) -> dict[str, object]:
        """Returns the report of all waiting faults of a kind, as the content of a "fault" event, and clears
        them. `failed`: the fault that ends training, which the report then names; None if training
        continues."""
        faults, kind.waiting = kind.waiting, []
        fault = failed or next((fault for fault in faults if not fault.is_bystander), faults[0])
        copies = sorted({fault.copy for fault in faults})
        where = f"step {fault.step}" if fault.step else "reset"
        message = f"{self._noun} {fault.copy}, {where}: {fault.message}; "
        message += "training ends" if failed else self._consequence(copies)
        if kind.count > 1:
            message += f" ({kind.count} faults of this kind so far)"
        return {
            "copy": fault.copy,
            "step": fault.step,
            "what": fault.message,
            "traceback": fault.traceback,
            "copies": copies,
            "faults": len(faults),
            "seen": kind.count,
            "message": message,
        }

    def _consequence(self, copies: Sequence[int]) -> str:
        """Returns what happened to these copies, as a clause."""
        if len(copies) == 1:
            return f"the episode was dropped and the {self._noun} restarted"
        plural = "copies" if self._noun == "copy" else "matches"
        if len(copies) > MAX_LISTED:
            return f"the episodes of {len(copies)} {plural} were dropped and these restarted"
        listed = ", ".join(map(str, copies))
        return f"the episodes of {plural} {listed} were dropped and these restarted"
