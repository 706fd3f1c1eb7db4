"""The records of a game that a person plays. They can be imported without gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.inspector.address import EpisodeAddress
from gymnast.runs.episodes import EpisodeInfo


@dataclass(frozen=True)
class PlayedEpisode:
    """The stored episode or match of a game that is over or was stopped."""

    run: str
    """Id of the run with which it is stored."""
    address: EpisodeAddress
    """The name of the stored episode."""
    info: EpisodeInfo
    """Return, length, seed and outcome."""


@dataclass(frozen=True)
class PlayState:
    """The state of a game after the last steps."""

    session: str
    """Id of the game."""
    step: int
    """Number of steps taken so far."""
    reward: float
    """Sum of the rewards of the steps that were just taken; 0 if there was none."""
    total: float
    """Sum of all rewards so far."""
    terminated: bool
    """Whether the episode was terminated."""
    truncated: bool
    """Whether the episode was truncated."""
    over: bool
    """Whether the game is over: the episode ended, or all agents of a match have ended."""
    outcome: str
    """`terminated` or `truncated`, or the outcome of a match that is over; empty otherwise."""
    picture: str
    """The current frame in base64."""
    media_type: str
    """Type of the picture: image/png or image/jpeg."""
    width: int
    """Width of the picture in pixels."""
    height: int
    """Height of the picture in pixels."""
    episode: PlayedEpisode | None = None
    """The stored episode, once the game is over."""


@dataclass(frozen=True)
class PlayEnd:
    """A game that was stopped."""

    session: str
    """Id of the game."""
    episode: PlayedEpisode | None
    """The stored episode; None if no step was taken."""


@dataclass(frozen=True)
class PlayKey:
    """A key of the keyboard and what it does."""

    key: str
    """Its name: a character, or a name such as left, up, space."""
    does: str
    """Its action in words, with the labels of the preset."""


@dataclass(frozen=True)
class PlayStart:
    """A game that was started."""

    session: str
    """Id of the game, for the calls that follow."""
    run: str
    """Id of the run with which it is stored. Empty for an environment, whose run is found or created when
    the game ends."""
    env: str
    """Id of the environment."""
    version: int
    """Env steps of the policy that plays the other roles or is shown next to the person's; 0 without one."""
    seed: int
    """Seed passed to `env.reset`."""
    fps: float
    """Frames per second at natural speed."""
    keys: list[PlayKey]
    """The keys. Keys that are held together act together."""
    waits_for_key: bool
    """True if nothing happens while no key is pressed; else a step without a key takes the idle action."""
    role: str
    """The role of the person in a match; empty for a single agent."""
    roles: list[str]
    """All roles of a match; empty for a single agent."""
    cast: dict[str, str]
    """Role -> the player that has it, in a match."""
    state: PlayState
    """The state before the first step."""
