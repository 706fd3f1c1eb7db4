"""Trajectories of stored episodes and matches as JSON lines, and what is made from them."""

from __future__ import annotations

from typing import TypeVar

from gymnast.runs import store
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.store import RunsDir
from gymnast.tasks import Task, start
from gymnast.trajectories.record import (
    PathPictures,
    TrajectoryFiles,
    TrajectoryFilms,
    TrajectoryMetrics,
)

T = TypeVar("T")


def trajectories(
    ref: str = "@last",
    *,
    kind: Kind = "eval",
    data: str | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[TrajectoryFiles]:
    """Writes the stored episodes or matches of a run, or of `RUN:CHECKPOINT`, as JSON lines to its data
    directory, by replaying them; those whose replay differs are reported and not written. Files that are up
    to date are kept. If `ref` is the path of a directory or file, such as ./data, its trajectory files are
    validated and listed. `kind`: which episodes of the run; `data`: the data directory, by default the one
    that the run was started with."""
    arguments = {"ref": ref, "kind": kind, "data": data}
    return _start("trajectories", arguments, TrajectoryFiles, deadline, runs_dir)


def trajectory_metrics(
    ref: str = "@last",
    *,
    kind: Kind = "eval",
    data: str | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[TrajectoryMetrics]:
    """Computes the metrics of every evaluation from trajectories alone: returns, win rates with intervals,
    outcomes, lengths and distances per role; next to them, what training recorded. The arguments are those
    of `trajectories`."""
    arguments = {"ref": ref, "kind": kind, "data": data}
    return _start("trajectory_metrics", arguments, TrajectoryMetrics, deadline, runs_dir)


def trajectory_paths(
    ref: str = "@last",
    *,
    kind: Kind = "eval",
    number: int | None = None,
    out: str | None = None,
    data: str | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[PathPictures]:
    """Draws the paths of agents from trajectories, with walls, starts, ends and tags: a picture per policy
    version with several episodes or, with `number`, of one. Of a run, the version is that of the best
    checkpoint unless `RUN:CHECKPOINT` names another. `out`: the directory of the pictures, by default next
    to the trajectories. The other arguments are those of `trajectories`."""
    arguments = {"ref": ref, "kind": kind, "number": number, "out": out, "data": data}
    return _start("trajectory_paths", arguments, PathPictures, deadline, runs_dir)


def trajectory_replay(
    ref: str = "@last",
    *,
    kind: Kind = "eval",
    number: int | None = None,
    out: str | None = None,
    fps: float | None = None,
    data: str | None = None,
    deadline: float | None = None,
    runs_dir: RunsDir = None,
) -> Task[TrajectoryFilms]:
    """Makes films of trajectories: of one match per cast and outcome, of the best episode of a single agent,
    or of the episode `number`. They are rendered by the environment if the run is known, else drawn from
    the positions. `fps`: frames per second; the other arguments are those of `trajectory_paths`."""
    arguments = {"ref": ref, "kind": kind, "number": number, "out": out, "fps": fps, "data": data}
    return _start("trajectory_replay", arguments, TrajectoryFilms, deadline, runs_dir)


def _start(
    name: str,
    arguments: dict[str, object],
    result: type[T],
    deadline: float | None,
    runs_dir: RunsDir,
) -> Task[T]:
    return start(
        f"gymnast.trajectories.task:{name}",
        arguments | {"runs_dir": store.runs_dir(runs_dir)},
        result,
        title=f"{name.replace('_', ' ')} of {arguments['ref']}",
        deadline=deadline,
    )
