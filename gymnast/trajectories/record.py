"""Trajectory files, and what is made from them, as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.film.record import Film


@dataclass(frozen=True)
class SkippedEpisode:
    """A stored episode or match that has no trajectory."""

    kind: str
    """Its kind: train, eval, confirm, fresh or played."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    number: int
    """Its number."""
    why: str
    """The reason: its replay differed from what was stored, or failed."""


@dataclass(frozen=True)
class TrajectoryFile:
    """A file with trajectories of one kind and policy version."""

    path: str
    """The file."""
    run: str
    """Id of the run."""
    kind: str
    """Kind of its episodes."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    episodes: int
    """Number of lines: episodes or matches."""
    steps: int
    """Number of steps of all of them together."""
    has_positions: bool
    """Whether its agents have positions, which path pictures need."""
    written: bool
    """True if it was written now, False if it was up to date or comes from elsewhere."""


@dataclass(frozen=True)
class TrajectoryFiles:
    """Trajectory files of a run or a directory."""

    directory: str
    """The directory that they are in."""
    files: tuple[TrajectoryFile, ...]
    """The files, by run, kind and version."""
    skipped: tuple[SkippedEpisode, ...] = ()
    """Episodes of the run without a trajectory."""


@dataclass(frozen=True)
class RebuiltMetric:
    """A metric that was computed from trajectories."""

    name: str
    """Its name as in the rows of a run, such as `eval/hider:match/win_rate`."""
    value: float
    """The value from the trajectories."""
    recorded: float | None = None
    """The value that training recorded for the same evaluation; None if there is none."""
    equal: bool | None = None
    """Whether both values are equal; None if they cannot be compared."""


@dataclass(frozen=True)
class RebuiltEvaluation:
    """The metrics of the trajectories of one kind and policy version."""

    run: str
    """Id of the run."""
    kind: str
    """Kind of the episodes."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    episodes: int
    """Number of trajectories."""
    stored_all: bool | None
    """Whether these are all episodes of the evaluation; None if nothing was recorded about it."""
    note: str
    """A sentence about episodes that are missing; empty if none are known to be."""
    metrics: tuple[RebuiltMetric, ...]
    """The metrics, by name."""


@dataclass(frozen=True)
class TrajectoryMetrics:
    """Metrics that were rebuilt from trajectories alone."""

    directory: str
    """The directory of the trajectory files."""
    evaluations: tuple[RebuiltEvaluation, ...]
    """One entry per run, kind and policy version."""
    skipped: tuple[SkippedEpisode, ...] = ()
    """Episodes of the run without a trajectory."""


@dataclass(frozen=True)
class PathPicture:
    """A picture with the paths of one or more trajectories."""

    path: str
    """The PNG file."""
    run: str
    """Id of the run."""
    kind: str
    """Kind of the episodes."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    numbers: tuple[int, ...]
    """Numbers of the episodes or matches that it shows."""


@dataclass(frozen=True)
class PathPictures:
    """The pictures that were made."""

    directory: str
    """The directory of the pictures."""
    pictures: tuple[PathPicture, ...]
    """The pictures, by run, kind and version."""
    skipped: tuple[SkippedEpisode, ...] = ()
    """Episodes of the run without a trajectory."""


@dataclass(frozen=True)
class TrajectoryFilms:
    """The films that were made from trajectories."""

    directory: str
    """The directory of the films."""
    films: tuple[Film, ...]
    """The films."""
    skipped: tuple[SkippedEpisode, ...] = ()
    """Episodes of the run without a trajectory."""
