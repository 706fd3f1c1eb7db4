"""Stored episodes: listing them, and the table of steps of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from gymnast.errors import UsageError
from gymnast.inspector import client
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.record import CsvSize, StepSlice
from gymnast.runs import store
from gymnast.runs.episode_kinds import KINDS, Kind
from gymnast.runs.episodes import EpisodeInfo, list_episodes
from gymnast.runs.step_columns import StepLists
from gymnast.runs.store import RunsDir


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
    columns: StepLists
    """Name -> values, one per step, of the columns that `inspect` describes; None where a number is not
    known."""
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
    them. `kind`: only train, eval, confirm, fresh or played; `version`: only those of the policy after that
    many env steps; `after`: the `cursor` of an earlier answer; `limit`: at most that many."""
    run, _ = store.resolve_readable(ref, store.runs_dir(runs_dir))
    start = (-1, 0, 0) if after is None else _position(after)
    # One more than asked for shows whether there are more.
    end = None if limit is None else limit + 1
    found = list(islice(list_episodes(run, kind, version, start), end))
    page = found if limit is None else found[:limit]
    cursor = "/".join(map(str, page[-1].position)) if page and len(page) < len(found) else None
    return EpisodePage(run.id, page, cursor)


def steps(
    ref: str,
    kind: Kind,
    version: int,
    number: int,
    *,
    role: str = "",
    seat: int = 0,
    columns: Sequence[str] = (),
    start: int = 0,
    limit: int | None = None,
    runs_dir: RunsDir = None,
) -> StepPage:
    """Returns the steps of a stored episode, which `kind`, `version` and `number` name as in `episodes`; of a
    match, those of the agent in a `seat` of a `role`, by default of the first role that learned. `columns`:
    only these; `start`: index of the first step; `limit`: at most that many steps. Raises RunError if the
    episode is not stored, UsageError for an unknown column."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    address = EpisodeAddress(str(run.path.resolve()), kind, version, number, role, seat)
    arguments = {"columns": columns, "start": start, "limit": limit}
    found = client.call("steps", address, arguments, StepSlice)
    return StepPage(run.id, found.table, start, found.total)


def steps_csv(
    ref: str,
    kind: Kind,
    version: int,
    number: int,
    *,
    role: str = "",
    seat: int = 0,
    columns: Sequence[str] = (),
    runs_dir: RunsDir = None,
) -> str:
    """Returns the steps of a stored episode as CSV, as they are written for the rollout of a checkpoint. The
    arguments are those of `steps`."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    address = EpisodeAddress(str(run.path.resolve()), kind, version, number, role, seat)
    pool = client.default_pool()
    return pool.call_binary("steps_csv", address, {"columns": columns}, CsvSize)[1].decode()


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
