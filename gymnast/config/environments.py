"""The environments that gymnast can train on, with or without a preset, as data that ships with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("environments.json")
"""Made by `python -m gymnast.envs.catalog`."""


@dataclass(frozen=True)
class KnownEnvironment:
    """An environment of one of the families."""

    id: str
    family: str
    observation: str
    """Kind and size of the observation space; empty if it is not known."""
    action: str
    """Kind and size of the action space; empty if it is not known."""
    max_steps: int | None
    """Largest number of steps of an episode; None if there is no limit or it is not known."""
    threshold: float | None
    """The return from which Gymnasium counts it as solved; None if there is none."""


@cache
def known_environments() -> list[KnownEnvironment]:
    """Returns all of them, by family and id."""
    return [KnownEnvironment(**entry) for entry in json.loads(FILE.read_text(encoding="utf-8"))]
