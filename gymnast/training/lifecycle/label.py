"""What a person says about a new run apart from its config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Label:
    name: str = ""
    group: str | None = None
    tags: Sequence[str] = ()
    claimed: Path | None = None
    """The directory it is to have, where one was claimed before."""
