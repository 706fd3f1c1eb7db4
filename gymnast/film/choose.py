"""Selects a stored episode of a run: `best`, `last` or a number."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.film.requested import find_requested
from gymnast.runs.episode_kinds import Kind
from gymnast.runs.episodes import read_episode
from gymnast.runs.reference import select_step
from gymnast.runs.requested_episodes import EpisodeSettings
from gymnast.runs.run import Run
from gymnast.runs.trace import KEPT_INDICES, Trace, read_meta, read_traces
from gymnast.runs.trace_budget import REMOVED_LIST


@dataclass(frozen=True, eq=False)
class ChosenEpisode:
    kind: Kind
    version: int
    """Env steps in the file name: of the policy or, for training episodes, of the checkpoint."""
    selection: str
    """The selection: `best`, `last`, or a number."""
    index: int
    """Index in the file, from 0; of a fresh or played episode, its number."""
    trace: Trace
    settings: EpisodeSettings | None = None
    """How a fresh or played episode was played; None for those of training."""


def choose_episode(
    run: Run, episode: str = "best", *, kind: Kind = "eval", checkpoint: str | None = None
) -> ChosenEpisode:
    """Returns a stored episode of `run`.

    `best` is the episode with the highest return of the best checkpoint. `last` is the first episode of
    the newest policy: an unbiased sample, since it was not selected by its return. A number is the index
    of an episode of the best checkpoint. `checkpoint` names another one. For fresh and played episodes, see
    `find_requested`.
    """
    if kind == "fresh" or kind == "played":
        info = find_requested(run, kind, episode, checkpoint)
        trace = read_episode(run, kind, info.version, info.number)
        assert isinstance(trace, Trace)
        number = info.number
        return ChosenEpisode(kind, info.version, str(number), number, trace, info.settings)
    files = trace_files(run, kind)
    version = select_version(run, kind, files, episode, checkpoint)
    traces = read_traces(files[version])
    if episode == "best":
        index = max(range(len(traces)), key=lambda i: traces[i].raw_return)
    elif episode == "last":
        index = 0
    else:
        # An evaluation that was thinned to save disk space lists which of its episodes remain.
        kept = read_meta(files[version]).get(KEPT_INDICES)
        index = parse_index(episode, len(traces)) if kept is None else _kept_index(episode, kept)
    return ChosenEpisode(kind, version, episode, index, traces[index])


def trace_files(run: Run, kind: Kind) -> dict[int, Path]:
    """Returns version -> trace file, sorted; raises RunError if there is none. The version is the
    env steps of the policy or, for training episodes, of the checkpoint."""
    files = files_by_version(run.traces, kind)
    if not files:
        settings = f"what is stored is set by {storage_settings(kind)}"
        fix = f"gymnast play {run.id} --record FILE plays and films a new episode; {settings}"
        raise RunError(f"no {kind} episodes are stored", at=str(run.path), fix=fix)
    return files


def files_by_version(folder: Path, kind: Kind) -> dict[int, Path]:
    files = sorted(folder.glob(f"{kind}-*.safetensors"))
    return {int(file.stem.rpartition("-")[2]): file for file in files}


def storage_settings(kind: Kind) -> str:
    """Returns the config keys that control whether episodes of this kind are stored."""
    return "traces.train" if kind == "train" else "traces.eval and eval.every"


def select_version(
    run: Run, kind: Kind, files: dict[int, Path], episode: str, checkpoint: str | None
) -> int:
    """Returns the newest version for `last`, else the one that `checkpoint` names (None: the best).
    `files`: version -> trace file. Raises UsageError for `last` together with a checkpoint,
    CheckpointError if nothing is stored for the checkpoint."""
    if episode != "last":
        return _version(run, kind, files, checkpoint)
    if checkpoint is not None:
        problem = f"--episode last and checkpoint {checkpoint} contradict each other"
        raise UsageError(problem, fix="omit one, or use --episode best or a number")
    return max(files)


def _version(run: Run, kind: Kind, files: dict[int, Path], checkpoint: str | None) -> int:
    """Returns the version that `checkpoint` names: `best`, `latest` or env steps. None means the
    best one or, if no episodes of it are stored, the newest; so does `best` for training
    episodes."""
    best = run.info["checkpoints"]["best"]
    if checkpoint in (None, "best") and best in files:
        return best
    # Training episodes are filed under checkpoints, of which the best need not have any.
    if checkpoint in (None, "latest") or (checkpoint == "best" and kind == "train"):
        return max(files)
    where = f"{kind} episodes of {run.id}"
    if any((folder / REMOVED_LIST).exists() for folder in (run.traces, run.matches)):
        where += ", some of which were removed to stay within traces.disk"
    wanted = best if checkpoint == "best" else checkpoint
    return select_step(list(files), "best" if wanted is None else wanted, at=where)


def _kept_index(episode: str, kept: list[int]) -> int:
    """Returns the index, in its file, of an episode of a thinned evaluation. `episode`: its number
    in the whole evaluation; `kept`: the numbers of the episodes that are still stored. Raises
    UsageError for any other."""
    if not episode.isdigit() or int(episode) not in kept:
        problem = (
            f"episode {episode} is no longer stored: it was removed to stay within traces.disk"
        )
        raise UsageError(problem, fix=f"choose best, last or one of {', '.join(map(str, kept))}")
    return kept.index(int(episode))


def parse_index(episode: str, count: int) -> int:
    if not episode.isdigit() or int(episode) >= count:
        expected = f"best, last or a number from 0 to {count - 1}"
        raise UsageError(f"there is no episode {episode} (expected {expected})")
    return int(episode)
