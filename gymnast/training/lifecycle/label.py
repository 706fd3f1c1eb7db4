"""The labels of a new run: what the user says about it apart from its config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Label:
    name: str = ""
    group: str | None = None
    tags: Sequence[str] = ()
    claimed_dir: Path | None = None
    """The run directory, if it was claimed before (by `--detach`, for example)."""
