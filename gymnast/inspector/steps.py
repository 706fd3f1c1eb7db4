"""The step table of an episode for other programs: a part of its columns, or a CSV file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.errors import UsageError
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.record import CsvSize, StepSlice
from gymnast.inspector.table import as_lists
from gymnast.step_table import to_csv
from gymnast.text.suggestions import did_you_mean

Array = np.ndarray


def steps(
    episode: OpenEpisode, *, columns: Sequence[str], start: int, limit: int | None
) -> StepSlice:
    """Returns `limit` steps from step `start` on; `columns`: only these, all if it is empty."""
    end = None if limit is None else start + limit
    chosen = {name: column[start:end] for name, column in _chosen(episode, columns).items()}
    return StepSlice(as_lists(chosen), len(episode.trace))


def steps_csv(episode: OpenEpisode, *, columns: Sequence[str]) -> tuple[CsvSize, bytes]:
    """Returns the table as CSV, written by the function that writes `rollout.csv`."""
    table, rows = _chosen(episode, columns), len(episode.trace)
    return CsvSize(rows, len(table)), to_csv(table, max_rows=rows).encode()


def _chosen(episode: OpenEpisode, columns: Sequence[str]) -> dict[str, Array]:
    """Returns these columns of the table, all if there are none; raises UsageError for an unknown one."""
    table = episode.table
    for name in columns:
        if name not in table:
            problem = f"the episode has no column {name!r}{did_you_mean(name, table)}"
            raise UsageError(problem, fix=f"use {', '.join(table)}")
    return {name: table[name] for name in columns or table}
