"""References to a run and one of its checkpoints: `RUN`, `RUN:best`, `RUN:latest`, `RUN:120k`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gymnast.errors import CheckpointError

_NUMBER = re.compile(r"(\d+(?:\.(\d+))?)([kKmMgG]?)")
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def split_reference(reference: str) -> tuple[str, str | None]:
    """Splits `RUN:CHECKPOINT` into run and checkpoint; the checkpoint is None unless the text ends in :best,
    :latest or a number of env steps such as :120k."""
    head, colon, tail = reference.rpartition(":")
    if colon and (tail in ("best", "latest") or _NUMBER.fullmatch(tail)):
        return head, tail
    return reference, None


def select_step(available: Sequence[int], wanted_step: str | int, *, at: str) -> int:
    """Returns the step of `available` that `wanted_step` names exactly or, written as 121k or 1.5M, that
    rounds to it. Raises CheckpointError if there is none or several. `at`: the run, for the message."""
    match = _NUMBER.fullmatch(str(wanted_step).strip())
    if match is None:
        raise CheckpointError(
            f"{wanted_step!r} is not a checkpoint", at=at, fix=_choices(available)
        )
    unit = _UNITS[match[3].lower()]
    wanted = round(float(match[1]) * unit)
    half = unit / 10 ** len(match[2] or "") / 2
    near = [step for step in available if unit > 1 and abs(step - wanted) <= half]
    if wanted in available or len(near) == 1:
        return wanted if wanted in available else near[0]
    problem = "several checkpoints round" if near else "no checkpoint is at or rounds"
    raise CheckpointError(f"{problem} to {wanted_step}", at=at, fix=_choices(near or available))


def _choices(steps: Sequence[int]) -> str:
    return "choose best, latest" + "".join(f", {step}" for step in steps)
