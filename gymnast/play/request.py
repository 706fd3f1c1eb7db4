"""A request to play episodes, and its result, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PlayerKind = Literal["policy", "random", "human"]


@dataclass(frozen=True)
class PlayRequest:
    """Options of a game: the environment, the player, and where it is shown."""

    target: str
    """`ENV[:variant]`, or a run or RUN:CHECKPOINT whose policy plays."""
    player: PlayerKind | None = None
    """None: the policy of a run, or random actions."""
    sampled: bool = False
    """Whether the policy samples its actions instead of taking the most likely ones."""
    checkpoint: str | None = None
    """best, latest, or env steps, of a run; None: the one that the target names, else the best."""
    episodes: int = 1
    seed: int | None = None
    """Seed of the first episode, plus one for each further episode; None: random."""
    fps: float | None = None
    """Frames per second; None: those of the environment."""
    record: str | None = None
    """The film file to write."""
    step_by_step: bool = False
    """Whether each step waits for a key, and its numbers are printed."""


@dataclass(frozen=True)
class EpisodeOutcome:
    seed: int
    raw_return: float
    length: int
    """Number of steps."""
    ending: str
    """`terminated`, `truncated`, or `interrupted` if the user ended it."""


@dataclass(frozen=True)
class PlayResult:
    player: PlayerKind
    episodes: tuple[EpisodeOutcome, ...]
    record: str | None
    """The film, if one was written."""
