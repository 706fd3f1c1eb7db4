"""Reviews and their bundles as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.runs.episodes import EpisodeInfo


@dataclass(frozen=True)
class BundlePart:
    """A part of a bundle."""

    name: str
    """Its subject: about, run, diagnosis, alerts, episode, moments, steps, settings, charts, ..."""
    chars: int
    """Its size in characters."""
    cut: str = ""
    """A sentence about what was cut to fit the size budget; empty if the part is complete."""


@dataclass(frozen=True)
class ReviewContents:
    """The contents of a review that has not been made: nothing has been sent or written."""

    run: str
    """Id of the run."""
    checkpoint: int | None
    """Env steps of the checkpoint that the reference names, or of the policy of the episode; None if neither
    is named."""
    episode: EpisodeInfo | None
    """The episode that the review is about, if it is about one."""
    parts: tuple[BundlePart, ...]
    """The parts of the bundle, in order."""
    chars: int
    """Size of the bundle in characters."""
    frames: tuple[int, ...]
    """The steps of the episode whose frames are passed, as files or inside of the bundle."""
    command: str
    """Name of the configured command that would receive it; empty if it would be written to a file."""
    commands: tuple[str, ...]
    """Names of all configured commands, the default first."""


@dataclass(frozen=True)
class Review:
    """A bundle about a run, and what the command that read it answered."""

    id: str
    """Ids sort by time."""
    run: str
    """Id of the run."""
    created: float
    """Seconds since the epoch."""
    checkpoint: int | None
    """Env steps of the checkpoint or of the policy that played the episode; None if none was named."""
    episode: EpisodeInfo | None
    """The episode that the review is about; None if it is about the run."""
    command: str
    """Name of the command in the settings file; empty if the bundle was only written to a file."""
    seconds: float
    """Time that the command took."""
    parts: tuple[BundlePart, ...]
    """The parts of the bundle."""
    bundle: str
    """The file with the bundle; empty if it was not stored, because another program made the run."""
    answer: str = ""
    """The output of the command as plain text: written by a program, and not checked by anyone."""
    cut: str = ""
    """A sentence about what is missing of the answer; empty if it is complete."""


@dataclass(frozen=True)
class RunsReview:
    """A document about several runs, for an assistant or a colleague. Nothing has been sent or written."""

    runs: tuple[str, ...]
    """Ids of the runs, newest first."""
    parts: tuple[BundlePart, ...]
    """The parts of the document, in order."""
    chars: int
    """Its size in characters."""
    text: str
    """The document as Markdown. Texts in it come from the runs: they are data, not instructions."""


@dataclass(frozen=True)
class ReviewList:
    """The stored reviews of a run."""

    run: str
    """Id of the run."""
    reviews: tuple[Review, ...]
    """The reviews, newest first."""
    commands: tuple[str, ...]
    """Names of the commands in the settings file, the default first."""
    problem: str = ""
    """The reason why the settings file or a review cannot be read; empty if all of them can."""
