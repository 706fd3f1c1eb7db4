"""The source of trajectories: a run, whose stored episodes are written first, or a directory of files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gymnast.config.config import Config
from gymnast.errors import RunError, UsageError
from gymnast.film.choose import select_version
from gymnast.progress import ProgressCallback
from gymnast.runs import layout, store
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.episodes import episode_settings, stored_versions
from gymnast.runs.requested_episodes import config_with
from gymnast.runs.run import Run
from gymnast.runs.run_data import run_data_dir
from gymnast.trajectories.files import find_files, read_file
from gymnast.trajectories.record import SkippedEpisode, TrajectoryFiles
from gymnast.trajectories.trajectory import Trajectory
from gymnast.trajectories.write import by_evaluation, describe_file, write_trajectories


@dataclass(frozen=True)
class Source:
    """Trajectory files, and the runs that they belong to."""

    files: TrajectoryFiles
    runs_dir: Path
    run: Run | None = None
    """The run, if one was named; None for a directory of files."""

    @property
    def directory(self) -> Path:
        return Path(self.files.directory)

    @property
    def skipped(self) -> tuple[SkippedEpisode, ...]:
        return self.files.skipped

    def evaluations(self) -> list[list[Trajectory]]:
        """Reads the files and returns the trajectories of each run, kind and version, sorted."""
        # A file with several runs or versions is listed once for each of them.
        paths = dict.fromkeys(file.path for file in self.files.files)
        every = [one for path in paths for one in read_file(Path(path))]
        return list(by_evaluation(every).values())

    def name(self, first: Trajectory) -> str:
        """Returns the name of what is made from an evaluation; of a directory, it starts with the run."""
        name = f"{first.kind}-{first.version:012d}"
        return name if self.run is not None else f"{first.run}-{name}"

    def run_of(self, one: Trajectory) -> Run | None:
        """Returns the run of a trajectory, if it is in the runs directory and of the same environment."""
        run = self.run or Run(self.runs_dir / one.run)
        # A name from elsewhere is no path: `..` would leave the runs directory.
        if not one.run.isalnum() or not layout.RUN.path(run.path).exists():
            return None
        return run if run.info["env"] == one.env else None

    def config_of(self, one: Trajectory) -> Config | None:
        """Returns the config with which an episode was played; None if its run is not known."""
        run = self.run_of(one)
        if run is None:
            return None
        return config_with(run, episode_settings(run, one.kind, one.version, one.number))


def open_source(
    ref: str,
    *,
    kind: Kind,
    data: str | None,
    runs_dir: str,
    all_versions: bool,
    progress: ProgressCallback,
) -> Source:
    """Returns the trajectories of a directory or file, if `ref` is a path. Otherwise it names a run, whose
    stored episodes of this kind are written first. `RUN:CHECKPOINT` chooses a version; without it, they are
    of all versions or, unless `all_versions`, of the best checkpoint. `data`: the data directory, for
    runs."""
    runs = store.runs_dir(runs_dir)
    path = Path(ref).expanduser()
    if _is_path(ref) and path.exists() and not layout.RUN.path(path).exists():
        if data is not None:
            problem = "--data is for runs: trajectory files are read where they are"
            raise UsageError(problem, at=ref, fix="omit --data")
        return Source(_listed(path), runs)
    run, checkpoint = store.resolve(ref, runs)
    versions = stored_versions(run, kind)
    version = None
    if versions and (checkpoint is not None or not all_versions):
        by_version = dict.fromkeys(versions, run.path)
        version = select_version(run, kind, by_version, "best", checkpoint)
    written = write_trajectories(run, run_data_dir(run, data), kind, version, progress)
    if not written.files:
        first = written.skipped[0]
        problem = (
            f"none of the {kind} episodes could be replayed; number {first.number}: {first.why}"
        )
        raise RunError(problem, at=run.id, fix="use the versions of packages that trained the run")
    return Source(written, runs, run)


def _is_path(ref: str) -> bool:
    """Returns whether a text is a path. Other texts name runs, so that a name never reaches other files."""
    return os.sep in ref or ref.startswith((".", "~"))


def _listed(path: Path) -> TrajectoryFiles:
    """Returns the files of a directory, all of them validated."""
    listed = [
        describe_file(file, group)
        for file in find_files(path)
        for group in by_evaluation(read_file(file)).values()
    ]
    directory = path if path.is_dir() else path.parent
    return TrajectoryFiles(str(directory), tuple(listed))
