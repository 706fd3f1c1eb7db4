"""Films, pictures and frames of stored episodes, as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass, field

from gymnast.records import JsonValue


@dataclass(frozen=True)
class FilmClip:
    """One part of a film of learning progress."""

    version: int
    """Env steps of the policy."""
    seed: int
    """Seed of the episode."""
    episode_return: float
    """Return of the episode."""


@dataclass(frozen=True)
class Film:
    """A film of a stored episode, of a match or of learning progress; or a picture with frames of one."""

    path: str
    """The file."""
    kind: str
    """The kind of the stored episode, as in `EpisodeInfo`; `learning` for several evaluations."""
    version: int | None = None
    """Env steps of the policy or, for training episodes, of the checkpoint; None for several."""
    which: str = ""
    """The selection: `best`, `last`, a number, or for a match its players and result."""
    episode: int | None = None
    """Index of the episode or match among the stored ones, from 0."""
    seed: int | None = None
    """Seed of the episode or match."""
    episode_return: float | None = None
    """Return of the episode; None for matches."""
    length: int | None = None
    """Number of steps."""
    cast: dict[str, str] = field(default_factory=dict[str, str])
    """Role -> player, of a match."""
    returns: dict[str, float] = field(default_factory=dict[str, float])
    """Role -> return, averaged over its agents, of a match."""
    outcome: str = ""
    """Outcome of a match, if it is known."""
    handicap: dict[str, float] = field(default_factory=dict[str, float])
    """Role -> its speed, if it was slowed in a match."""
    clips: tuple[FilmClip, ...] = ()
    """The evaluations in a film of learning progress."""
    exact: bool = True
    """True if the replay is the same as the stored episode in every step."""
    note: str = ""
    """The difference from the stored episode, if it is not exact."""
    fps: float = 0.0
    """Frames per second; 0 for a picture."""
    frames: int = 1
    """Number of frames."""
    size: tuple[int, int] = (0, 0)
    """Width and height in pixels."""
    codec: str = ""
    """Video codec; `png` for a picture."""
    created: float = 0.0
    """Unix time at which it was made."""

    def description(self) -> dict[str, JsonValue]:
        """Returns the content of the .json file next to the film."""
        about: dict[str, JsonValue] = {"kind": self.kind}
        if self.clips:
            about["versions"] = [clip.version for clip in self.clips]
            about["seeds"] = [clip.seed for clip in self.clips]
            about["returns"] = [clip.episode_return for clip in self.clips]
        else:
            about |= {"version": self.version, "which": self.which, "episode": self.episode}
            about |= self.identity()
        if self.cast:
            about |= {"outcome": self.outcome, "handicap": dict[str, JsonValue](self.handicap)}
        about |= {"exact": self.exact, "note": self.note, "fps": self.fps, "frames": self.frames}
        return about | {"size": list(self.size), "codec": self.codec, "created": self.created}

    def identity(self) -> dict[str, JsonValue]:
        """Returns the part of the description that identifies the episode or match."""
        if self.cast:
            returns = dict[str, JsonValue](self.returns)
            played: dict[str, JsonValue] = {"cast": dict[str, JsonValue](self.cast)}
            played["returns"] = returns
        else:
            played = {"return": self.episode_return}
        return {"seed": self.seed, **played, "length": self.length}


@dataclass(frozen=True)
class FilmReport:
    """The films that were made."""

    run: str
    """Id of the run."""
    films: tuple[Film, ...]
    """The films, or the picture."""


@dataclass(frozen=True)
class Frame:
    """One frame of a stored episode as a PNG."""

    step: int
    """Number of steps taken so far."""
    width: int
    """Width in pixels."""
    height: int
    """Height in pixels."""
    path: str = ""
    """The file; empty if the frame was not written to one."""
    png: str = ""
    """The PNG in base64; empty if it was written to a file."""


@dataclass(frozen=True)
class FrameReport:
    """Frames of a stored episode or match."""

    run: str
    """Id of the run."""
    kind: str
    """The kind of the stored episode, as in `EpisodeInfo`."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    episode: int
    """Index of the episode or match among the stored ones, from 0."""
    length: int
    """Number of steps of the episode."""
    exact: bool
    """True if the replay is the same as the stored episode in every step."""
    note: str
    """The difference from the stored episode, if it is not exact."""
    frames: tuple[Frame, ...]
    """The frames, in the order of the steps."""
