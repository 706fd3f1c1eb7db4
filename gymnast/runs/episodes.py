"""The stored episodes and matches of a run: listing them, without reading their steps, and finding one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from gymnast.errors import RunError, UsageError
from gymnast.runs.match_trace import MatchTrace, read_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, read_episode_table, read_meta, read_traces
from gymnast.runs.trace_budget import version_from_name

Kind = Literal["train", "eval", "confirm"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class EpisodeInfo:
    """A stored episode, or a stored match between roles."""

    kind: Kind
    """train, eval (evaluation during training) or confirm (held-out seeds, at the end)."""
    version: int
    """Env steps of the policy that was evaluated or, for training episodes, of the checkpoint."""
    number: int
    """Number of the episode in its evaluation or among the training episodes of its checkpoint, from 0."""
    seed: int
    """Seed passed to `env.reset`."""
    length: int
    """Number of steps."""
    raw_return: float | None
    """Sum of the environment's rewards; None for a match."""
    outcome: str
    """`terminated` or `truncated`; for a match, the outcome that the environment reported."""
    env: int | None = None
    """Index of the env copy; None for a match."""
    returns: dict[str, float] = field(default_factory=dict[str, float])
    """Role -> mean return of its seats, of a match."""
    cast: dict[str, str] = field(default_factory=dict[str, str])
    """Role -> the policy or player that had it, in a match."""
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    """Numbers from the last `info`: the preset's own metrics, and randomized parameters."""

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
    for at, file, is_match in _files(run, kind, version):
        if at[0] >= after[0]:
            listed = _matches(at, file) if is_match else _episodes(at, file)
            yield from (episode for episode in listed if episode.position > after)


def read_episode(run: Run, kind: str, version: int, number: int) -> Trace | MatchTrace:
    """Returns a stored episode or match with its steps; raises RunError if it is not stored."""
    for _, file, is_match in _files(run, kind, version):
        stored = read_matches(file) if is_match else read_traces(file)
        kept = range(len(stored)) if is_match else read_meta(file).get("kept", range(len(stored)))
        if number in kept:
            return stored[list(kept).index(number)]
    problem = f"{run.id} has no stored {kind} episode {number} of version {version}"
    raise RunError(problem, fix="list the stored ones with `episodes`")


def _files(run: Run, kind: str, version: int | None) -> list[tuple[tuple[int, Kind], Path, bool]]:
    """Returns version and kind, path, and whether it has matches, of each file, sorted by position."""
    if kind and kind not in KINDS:
        raise UsageError(f"{kind!r} is not a kind of episode", fix=f"use {', '.join(KINDS)}")
    found: list[tuple[tuple[int, Kind], Path, bool]] = [
        ((version_from_name(file), of_kind), file, folder == run.matches)
        for folder in (run.traces, run.matches)
        for of_kind in KINDS
        for file in folder.glob(f"{of_kind}-*.safetensors")
        if kind in ("", of_kind)
    ]
    chosen = [entry for entry in found if version is None or entry[0][0] == version]
    return sorted(chosen, key=lambda entry: (entry[0][0], KINDS.index(entry[0][1])))


def _episodes(at: tuple[int, Kind], file: Path) -> Iterator[EpisodeInfo]:
    table = read_episode_table(file)
    for i in range(len(table.length)):
        yield EpisodeInfo(
            kind=at[1],
            version=at[0],
            number=table.number[i],
            seed=table.seed[i],
            length=table.length[i],
            raw_return=table.raw_return[i],
            outcome="terminated" if table.terminated[i] else "truncated",
            env=table.env[i],
            numbers=table.numbers[i],
        )


def _matches(at: tuple[int, Kind], file: Path) -> Iterator[EpisodeInfo]:
    for number, match in enumerate(read_matches(file)):
        yield EpisodeInfo(
            kind=at[1],
            version=at[0],
            number=number,
            seed=match.seed,
            length=len(match),
            raw_return=None,
            outcome=match.outcome,
            returns={role: float(r.sum(0).mean()) for role, r in match.rewards.items()},
            cast=match.cast,
            numbers=match.numbers,
        )
