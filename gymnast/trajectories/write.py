"""Writes the trajectories of a run's stored episodes and matches to its data directory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from gymnast.config.config import Config
from gymnast.errors import EnvError, GymnastError, RunError
from gymnast.film.choose import storage_settings
from gymnast.film.matches.replay import MatchRenderer
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import ReplayMismatch
from gymnast.progress import ProgressCallback, no_progress
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.episodes import StoredEpisode, read_episodes, stored_versions
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import EpisodeSettings, config_with, has_matches
from gymnast.runs.run import Run
from gymnast.trajectories.files import read_file, run_folder, trajectory_file, write_file
from gymnast.trajectories.positions import position_reader
from gymnast.trajectories.record import SkippedEpisode, TrajectoryFile, TrajectoryFiles
from gymnast.trajectories.replay import Identity, episode_trajectory, match_trajectory
from gymnast.trajectories.trajectory import AGENT, Trajectory


def write_trajectories(
    run: Run,
    data: Path,
    kind: Kind = "eval",
    version: int | None = None,
    progress: ProgressCallback = no_progress,
) -> TrajectoryFiles:
    """Writes the trajectories of the stored episodes of this kind, and of this version if one is given, a
    file per version. A file that has them already is kept, also if some of its episodes are no longer stored
    in the run. Episodes whose replay differs are returned as skipped. Raises RunError if none are stored."""
    versions = [v for v in stored_versions(run, kind) if version in (None, v)]
    if not versions:
        which = f"{kind} episodes" + ("" if version is None else f" of version {version}")
        fix = f"what is stored is set by {storage_settings(kind)}"
        raise RunError(f"no {which} are stored", at=str(run.path), fix=fix)
    folder = run_folder(data, run.id)
    files: list[TrajectoryFile] = []
    skipped: list[SkippedEpisode] = []
    with _Replays(run, kind) as replays:
        for done, each in enumerate(versions):
            progress(done, len(versions), f"{kind} {each:,}")
            path = trajectory_file(folder, kind, each)
            stored = list(read_episodes(run, kind, each))
            if existing := _complete_file(path, stored):
                files.append(describe_file(path, existing))
                continue
            made, left_out = replays.trajectories(stored)
            skipped += left_out
            if made:  # else all of them are reported
                write_file(path, made)
                files.append(describe_file(path, made, written=True))
    progress(len(versions), len(versions), "")
    return TrajectoryFiles(str(folder), tuple(files), tuple(skipped))


def describe_file(
    path: Path, trajectories: Sequence[Trajectory], *, written: bool = False
) -> TrajectoryFile:
    """Returns the description of a file with these trajectories, which are of one kind and version."""
    first = trajectories[0]
    return TrajectoryFile(
        path=str(path),
        run=first.run,
        kind=first.kind,
        version=first.version,
        episodes=len(trajectories),
        steps=sum(one.length for one in trajectories),
        has_positions=all(one.has_positions for one in trajectories),
        written=written,
    )


def by_evaluation(
    trajectories: Sequence[Trajectory],
) -> dict[tuple[str, str, int], list[Trajectory]]:
    """Returns (run, kind, version) -> trajectories, sorted."""
    groups: dict[tuple[str, str, int], list[Trajectory]] = defaultdict(list)
    for one in trajectories:
        groups[one.run, one.kind, one.version].append(one)
    return {key: groups[key] for key in sorted(groups)}


class _Replays:
    """The open environment of a run, in which its stored episodes are replayed."""

    def __init__(self, run: Run, kind: Kind) -> None:
        self.run, self.kind = run, kind
        self.is_match, self.env = has_matches(run), run.info["env"]
        self._opened: MatchRenderer | EnvRenderer | None = None
        self._config: Config | None = None
        """The config of the open environment."""
        self._settings: EpisodeSettings | None = None
        """The settings of the episodes with which it is opened: reading a config takes longer than replaying
        an episode."""

    def __enter__(self) -> _Replays:
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()

    def trajectories(
        self, stored: Sequence[StoredEpisode]
    ) -> tuple[list[Trajectory], list[SkippedEpisode]]:
        """Returns the trajectories of these episodes, and the episodes that have none."""
        made: list[Trajectory] = []
        skipped: list[SkippedEpisode] = []
        for episode in stored:
            try:
                made.append(self._trajectory(episode))
            except (ReplayMismatch, EnvError) as problem:
                skipped.append(
                    SkippedEpisode(self.kind, episode.version, episode.number, str(problem))
                )
        return made, skipped

    def _trajectory(self, episode: StoredEpisode) -> Trajectory:
        about = Identity(self.run.id, self.env, self.kind, episode.version, episode.number)
        renderer, cfg = self._renderer(episode.settings)
        trace = episode.trace
        if isinstance(trace, MatchTrace):
            assert isinstance(renderer, MatchRenderer)
            return match_trajectory(renderer, trace, about)
        assert isinstance(renderer, EnvRenderer)
        return episode_trajectory(renderer, trace, position_reader(cfg, renderer.obs_space), about)

    def _renderer(
        self, settings: EpisodeSettings | None
    ) -> tuple[MatchRenderer | EnvRenderer, Config]:
        """Returns the environment of episodes with these settings and its config, opened if it was not the
        last one."""
        if self._opened is None or self._config is None or settings != self._settings:
            if self._opened is not None:
                self._opened.close()
            cfg = config_with(self.run, settings)
            training = self.kind == "train"
            if self.is_match:
                self._opened = MatchRenderer(cfg, training=training)
            else:
                self._opened = EnvRenderer(cfg, render=False, training=training)
            self._config, self._settings = cfg, settings
        return self._opened, self._config


def _complete_file(path: Path, stored: Sequence[StoredEpisode]) -> list[Trajectory] | None:
    """Returns the trajectories of an existing file if it has all of these episodes, else None. A file that
    cannot be read is written again."""
    if not path.exists():
        return None
    try:
        existing = read_file(path)
    except GymnastError:
        return None
    known = {one.number: one for one in existing}
    is_complete = all(
        episode.number in known and _is_same(known[episode.number], episode) for episode in stored
    )
    return existing if is_complete else None


def _is_same(one: Trajectory, episode: StoredEpisode) -> bool:
    """Returns whether a trajectory is that of a stored episode: same seed, and same rewards."""
    trace = episode.trace
    rewards = trace.rewards if isinstance(trace, MatchTrace) else {AGENT: trace.reward[:, None]}
    return (
        one.seed == trace.seed
        and one.length == len(trace)
        and set(one.roles) == set(rewards)
        and all((one.rewards(role) == array).all() for role, array in rewards.items())
    )
