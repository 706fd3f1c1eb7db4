"""Stored episodes: listing them, and the table of steps of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from gymnast.errors import UsageError
from gymnast.runs import store
from gymnast.runs.episodes import KINDS, EpisodeInfo, list_episodes, read_episode
from gymnast.runs.steps import step_columns
from gymnast.runs.store import RunsDir
from gymnast.text.suggestions import did_you_mean


@dataclass(frozen=True)
class EpisodePage:
    """A part of the list of stored episodes."""

    run: str
    """Id of the run."""
    episodes: list[EpisodeInfo]
    """The episodes, sorted by policy version, oldest first."""
    cursor: str | None
    """Pass it as `after` to get the episodes that follow; None if there are none."""


@dataclass(frozen=True)
class StepPage:
    """A part of the steps of an episode, column by column."""

    run: str
    """Id of the run."""
    columns: dict[str, list[bool | int | float]]
    """Name -> values, one per step: `step`, `obs/*` (before the action, if stored), `action` or `action/*`,
    `p/*` or `mean/*` and `log_std/*` (the policy's distribution), `reward_raw`, `reward_so_far_raw`, `value`
    (the critic's estimate), `terminated`, `truncated`. For a match, `ROLE/SEAT/action` and
    `ROLE/SEAT/reward_raw`."""
    start: int
    """Index of the first step."""
    total: int
    """Number of steps of the episode."""


def episodes(
    ref: str = "@last",
    *,
    kind: str = "",
    version: int | None = None,
    after: str | None = None,
    limit: int | None = None,
    runs_dir: RunsDir = None,
) -> EpisodePage:
    """Lists the stored episodes of a run: return, length, seed, outcome, and the policy version that played
    them. `kind`: only train, eval or confirm; `version`: only those of the policy after that many env steps;
    `after`: the `cursor` of an earlier answer; `limit`: at most that many."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    start = (-1, 0, 0) if after is None else _position(after)
    # One more than asked for shows whether there are more.
    end = None if limit is None else limit + 1
    found = list(islice(list_episodes(run, kind, version, start), end))
    page = found if limit is None else found[:limit]
    cursor = "/".join(map(str, page[-1].position)) if page and len(page) < len(found) else None
    return EpisodePage(run.id, page, cursor)


def steps(
    ref: str,
    kind: str,
    version: int,
    number: int,
    *,
    columns: Sequence[str] = (),
    start: int = 0,
    limit: int | None = None,
    runs_dir: RunsDir = None,
) -> StepPage:
    """Returns the steps of a stored episode, which `kind`, `version` and `number` name as in `episodes`.
    `columns`: only these; `start`: index of the first step; `limit`: at most that many steps. Raises RunError
    if the episode is not stored, UsageError for an unknown column."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    episode = read_episode(run, kind, version, number)
    table = step_columns(run, episode)
    for name in columns:
        if name not in table:
            problem = f"the episode has no column {name!r}{did_you_mean(name, table)}"
            raise UsageError(problem, fix=f"use {', '.join(table)}")
    end = None if limit is None else start + limit
    values = {name: table[name][start:end].tolist() for name in columns or table}
    return StepPage(run.id, values, start, len(episode))


def _position(cursor: str) -> tuple[int, int, int]:
    """Returns the position of the episode that a cursor of `episodes` names."""
    parts = cursor.split("/")
    if (
        len(parts) != 3
        or not all(part.isdecimal() for part in parts)
        or int(parts[1]) >= len(KINDS)
    ):
        raise UsageError(f"{cursor!r} is not a cursor", fix="pass the one of an earlier answer")
    version, kind, number = map(int, parts)
    return version, kind, number
