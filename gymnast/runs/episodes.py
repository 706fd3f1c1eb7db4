"""The stored episodes and matches of a run: listing them, without reading their steps, and finding one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.runs.episode_kinds import KINDS, Kind
from gymnast.runs.match_trace import MatchTrace, read_matches
from gymnast.runs.requested_episodes import (
    EpisodeSettings,
    has_matches,
    read_settings,
    requested_files,
)
from gymnast.runs.run import Run
from gymnast.runs.surprise import Surprise, surprises
from gymnast.runs.trace import Trace, read_episode_table, read_meta, read_traces
from gymnast.runs.trace_budget import version_from_name


@dataclass(frozen=True)
class EpisodeInfo:
    """A stored episode, or a stored match between roles."""

    kind: Kind
    """train, eval (evaluation during training), confirm (held-out seeds, at the end), fresh (rolled out on
    request) or played (by a person)."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint; 0 without a policy."""
    number: int
    """Number of the episode, from 0: in its evaluation, among the training episodes of its checkpoint, or
    among the fresh or played episodes of the run."""
    seed: int
    """Seed passed to `env.reset`."""
    length: int
    """Number of steps."""
    raw_return: float | None
    """Sum of the environment's rewards; None for a match."""
    outcome: str
    """`terminated`, `truncated`, or `stopped` if it was not played to its end; for a match, the outcome that
    the environment reported, or `stopped`."""
    env: int | None = None
    """Index of the env copy; None for a match."""
    returns: dict[str, float] = field(default_factory=dict[str, float])
    """Role -> mean return of its seats, of a match."""
    cast: dict[str, str] = field(default_factory=dict[str, str])
    """Role -> the policy or player that had it, in a match."""
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    """Numbers from the last `info`: the preset's own metrics, and randomized parameters."""
    surprise: float | None = None
    """Distance between the discounted return and the critic's value of the first observation, in units of the
    environment's reward. None for a match, for a person's episode, and where values cannot be converted to
    these units: with shaping, `normalize.reward: sign` or without a critic."""
    settings: EpisodeSettings | None = None
    """How a fresh or played episode was played; None for those of training."""

    @property
    def position(self) -> tuple[int, int, int]:
        """Sort key: chronological by policy version."""
        return self.version, KINDS.index(self.kind), self.number


def list_episodes(
    run: Run,
    kind: str = "",
    version: int | None = None,
    after: tuple[int, int, int] = (-1, 0, 0),
) -> Iterator[EpisodeInfo]:
    """Yields the stored episodes in order of their position. `kind`: only these; `version`: only those of
    this policy version; `after`: only those after this position. Raises UsageError for an unknown kind."""
    surprise: Surprise | None = None
    for file in _files(run, kind, version):
        if file.version >= after[0]:
            if file.is_match:
                listed = _matches(file)
            else:
                surprise = surprise or surprises(run)
                listed = _episodes(file, surprise)
            yield from (episode for episode in listed if episode.position > after)


def read_episode(run: Run, kind: str, version: int, number: int) -> Trace | MatchTrace:
    """Returns a stored episode or match with its steps; raises RunError if it is not stored."""
    for file in _files(run, kind, version):
        if file.number in (None, number):
            stored = read_matches(file.path) if file.is_match else read_traces(file.path)
            kept = _numbers(file, len(stored))
            if number in kept:
                return stored[kept.index(number)]
    raise _not_stored(run, kind, version, number)


@dataclass(frozen=True, eq=False)
class StoredEpisode:
    """A stored episode or match with its steps."""

    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    number: int
    """Its number, as in EpisodeInfo."""
    trace: Trace | MatchTrace
    settings: EpisodeSettings | None
    """How a fresh or played episode was played; None for those of training."""


def read_episodes(run: Run, kind: str, version: int | None = None) -> Iterator[StoredEpisode]:
    """Yields the stored episodes of a kind, and of a version if one is given, with their steps; each file is
    read once. Raises RunError if a file is damaged."""
    for file in _files(run, kind, version):
        stored = read_matches(file.path) if file.is_match else read_traces(file.path)
        settings = _settings(file)
        for number, trace in zip(_numbers(file, len(stored)), stored, strict=True):
            yield StoredEpisode(file.version, number, trace, settings)


def stored_versions(run: Run, kind: str) -> list[int]:
    """Returns the policy versions of which episodes of this kind are stored, in ascending order."""
    return sorted({file.version for file in _files(run, kind, None)})


def find_episode(run: Run, kind: str, version: int, number: int) -> EpisodeInfo:
    """Returns the description of a stored episode or match; raises RunError if it is not stored."""
    for episode in list_episodes(run, kind, version):
        if episode.number == number:
            return episode
    raise _not_stored(run, kind, version, number)


def episode_settings(run: Run, kind: str, version: int, number: int) -> EpisodeSettings | None:
    """Returns how a fresh or played episode was played; None for episodes of training."""
    for file in _files(run, kind, version):
        if file.number == number:
            return read_settings(file.path, is_match=file.is_match)
    return None


def episode_files(run: Run, kind: str, version: int, number: int) -> list[Path]:
    """Returns the files that the episode or match may be read from."""
    return [f.path for f in _files(run, kind, version) if f.number in (None, number)]


@dataclass(frozen=True)
class _StoredFile:
    """A file with episodes or matches of one kind and version."""

    version: int
    kind: Kind
    path: Path
    is_match: bool
    number: int | None = None
    """The number of its only episode; None for a file of training or of an evaluation."""


def _files(run: Run, kind: str, version: int | None) -> list[_StoredFile]:
    """Returns the files with episodes of this kind and version, sorted by position."""
    if kind and kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of episode", fix=f"use {', '.join(KINDS)}")
    found = [
        _StoredFile(version_from_name(file), of_kind, file, folder == run.matches)
        for folder in (run.traces, run.matches)
        for of_kind in KINDS
        for file in folder.glob(f"{of_kind}-*.safetensors")
    ]
    if requested := requested_files(run):
        is_match = has_matches(run)
        found += [_StoredFile(f.version, f.kind, f.path, is_match, f.number) for f in requested]
    chosen = [
        file
        for file in found
        if kind in ("", file.kind) and (version is None or file.version == version)
    ]
    return sorted(chosen, key=lambda f: (f.version, KINDS.index(f.kind), f.number or 0))


def _numbers(file: _StoredFile, count: int) -> list[int]:
    """Returns the numbers of the `count` episodes of a file."""
    if file.number is not None:
        return [file.number]
    every = list(range(count))
    return every if file.is_match else read_meta(file.path).get("kept", every)


def _settings(file: _StoredFile) -> EpisodeSettings | None:
    return None if file.number is None else read_settings(file.path, is_match=file.is_match)


def _episodes(file: _StoredFile, surprise: Surprise) -> Iterator[EpisodeInfo]:
    table, settings = read_episode_table(file.path), _settings(file)
    # The critic expects what its policy would get.
    by_person = file.kind == "played"
    distances = [None] * len(table.length) if by_person else surprise(file.path, file.version)
    for i in range(len(table.length)):
        ending = "truncated" if table.truncated[i] else "stopped"
        yield EpisodeInfo(
            kind=file.kind,
            version=file.version,
            number=table.number[i],
            seed=table.seed[i],
            length=table.length[i],
            raw_return=table.raw_return[i],
            outcome="terminated" if table.terminated[i] else ending,
            env=table.env[i],
            numbers=table.numbers[i],
            surprise=distances[i],
            settings=settings,
        )


def _matches(file: _StoredFile) -> Iterator[EpisodeInfo]:
    matches, settings = read_matches(file.path), _settings(file)
    for number, match in zip(_numbers(file, len(matches)), matches, strict=True):
        yield EpisodeInfo(
            kind=file.kind,
            version=file.version,
            number=number,
            seed=match.seed,
            length=len(match),
            raw_return=None,
            outcome=match.outcome if match.ended else "stopped",
            returns={role: float(r.sum(0).mean()) for role, r in match.rewards.items()},
            cast=match.cast,
            numbers=match.numbers,
            settings=settings,
        )


def _not_stored(run: Run, kind: str, version: int, number: int) -> RunError:
    problem = f"{run.id} has no stored {kind} episode {number} of version {version}"
    return RunError(problem, fix="list the stored ones with `episodes`")
