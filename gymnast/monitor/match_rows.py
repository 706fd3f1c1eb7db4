"""Metrics over the last matches, from a file with one row per match: the newest `window` matches count."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gymnast.errors import RunError
from gymnast.foreign.column_map import OUTCOME, WON
from gymnast.foreign.table import ForeignTable
from gymnast.league.wins import RecentWins
from gymnast.monitor.monitored_run import UNKNOWN, Array, MatchEntry, MatchTable, role_column
from gymnast.monitor.schema import RETURN, ROLLING_WIN_RATE

DURATION, LENGTH = "match/duration", "episode/length"
SCORES = (0.0, 0.5, 1.0)
"""Values of a win flag: lost, drawn, won."""


def rolling_mean(values: Array, window: int) -> Array:
    """Returns the mean of the last `window` entries that have a value, at each of them, [matches]; NaN before
    the first."""
    known = ~np.isnan(values)
    total = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    # position of each entry among those with a value
    count = np.cumsum(known)
    ends = np.concatenate([[0.0], total[1:][known]])
    start = np.maximum(count - window, 0)
    with np.errstate(invalid="ignore"):
        return (ends[count] - ends[start]) / np.where(count > 0, count - start, np.nan)


def rolling_wins(scores: Array, role: str, window: int) -> dict[str, Array]:
    """Returns the rolling win rate of a role and the ends of its 95 % interval. `scores`: 1 won, 1/2 drawn, 0
    lost, NaN if the outcome is unknown; such a match counts for nobody."""
    recent = RecentWins(window)
    ends = np.full((3, len(scores)), np.nan)
    for i, score in enumerate(scores.tolist()):
        recent.add(None if np.isnan(score) else score)
        if recent.n_known:
            interval = recent.win_rate()
            ends[:, i] = interval.mean, interval.low, interval.high
    names = (ROLLING_WIN_RATE, "league/win_low", "league/win_high")
    return {role_column(name, role): values for name, values in zip(names, ends, strict=True)}


def outcome_shares(outcomes: Sequence[str], window: int) -> dict[str, Array]:
    """Returns the share of each outcome in the last `window` matches; `match/unknown_share` is among them."""
    return {
        f"match/{outcome}_share": rolling_mean(
            np.array([o == outcome for o in outcomes], float), window
        )
        for outcome in dict.fromkeys((*outcomes, UNKNOWN))
    }


def check_win_flags(flags: Array, column: str, table: ForeignTable) -> None:
    """Raises RunError at a win flag that is neither 0, 1/2 nor 1."""
    for row in np.flatnonzero(~np.isnan(flags) & ~np.isin(flags, SCORES)).tolist():
        raise RunError(
            f"column {column!r} has the win flag {flags[row]:g} (expected 1 won, 0 lost, 0.5 drawn)",
            at=f"{table.file}:{table.lines[row]}",
            fix="correct the cell; leave it empty if the outcome is unknown",
        )


def match_metrics(
    table: ForeignTable, values: dict[str, Array], outcomes: Sequence[str], window: int
) -> dict[str, Array]:
    """Returns the rolling metrics of a file with a row per match. `values`: metric -> [matches] the mapped
    columns; `outcomes`: the outcome of each match, empty if the file has none."""
    found = {"clock/episodes": np.arange(1.0, len(table.lines) + 1)}
    for name, of_matches in values.items():
        scope, _, metric = name.rpartition(":")
        if name.startswith("clock/"):
            found[name] = of_matches
        elif metric == WON:
            found |= rolling_wins(of_matches, scope, window)
        else:
            found[name] = rolling_mean(of_matches, window)
            if metric == RETURN:
                known = np.cumsum(~np.isnan(of_matches))
                found[role_column("episode/count", scope)] = np.minimum(known, window).astype(float)
    return found | (outcome_shares(outcomes, window) if outcomes else {})


def match_entries(
    env_steps: Array, values: dict[str, Array], outcomes: Sequence[str], roles: Sequence[str]
) -> MatchTable | None:
    """Returns the matches one by one; None if the file does not say how long they were."""
    length = values.get(DURATION, values.get(LENGTH))
    if length is None or bool(np.isnan(length).any()):
        return None
    returns = {
        role: values[name]
        for role in roles or ("",)
        if (name := role_column(RETURN, role)) in values
    }
    return MatchTable.from_entries(
        [
            MatchEntry(
                version=int(env_steps[i]),
                kind="train",
                length=int(length[i]),
                outcome=outcomes[i] if outcomes else UNKNOWN,
                returns={role: float(own[i]) for role, own in returns.items()},
                players={},
            )
            for i in range(len(env_steps))
        ]
    )


def read_outcomes(table: ForeignTable, columns: dict[str, str]) -> list[str]:
    """Returns the outcome of each match as one word in lower case, UNKNOWN where the cell is empty; empty if
    the map names no column with outcomes."""
    if OUTCOME not in columns:
        return []
    texts = table.texts(columns[OUTCOME])
    return ["_".join(text.lower().split()) or UNKNOWN for text in texts]
