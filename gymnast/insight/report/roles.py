"""The sections of a report about the roles of a self-play run: the last results, and how they developed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gymnast.insight.report.blocks import Block, Figure, Heading, Paragraph, Picture, Table
from gymnast.insight.role_charts import cross_play_chart, role_charts
from gymnast.insight.self_play import SelfPlay
from gymnast.league.heatmap import heatmap_png
from gymnast.league.matrix import CrossPlayReport
from gymnast.league.results import entrant_version
from gymnast.metrics.specs import metric_for_key, split_key
from gymnast.runs.curve import ClockAxis, Row, curve_of
from gymnast.text.formatting import count

VERSIONS = 8
"""Maximum number of evaluated versions in the table of a role; the first and the last are among them."""
LENGTH = "match/duration"
INTERVALS = {
    "match/win_rate": ("match/win_low", "match/win_high"),
    "league/win_rate": ("league/win_low", "league/win_high"),
    "league/rating": ("league/rating_low", "league/rating_high"),
}
"""Metric -> the metrics with the ends of its 95 % interval."""
_SHARE = re.compile(r"match/\w+_share")


def role_blocks(record: SelfPlay, rows: Sequence[Row]) -> Iterator[Block]:
    """Yields the sections about the roles. `rows`: the metrics of the run."""
    yield Heading("Roles")
    yield Paragraph(
        "Numbers in brackets are 95 % intervals. Matches with an unknown outcome count for neither side. "
        "Ratings are on the Elo scale: scripted:medium is 1000, and 400 points mean odds of 10 to 1."
    )
    yield from _training(record.roles, rows)
    for role in record.roles:
        yield from _evaluations(role, rows)
    yield Heading("Roles over time", 3)
    for chart in role_charts(record):
        yield Figure(chart)
    yield from _cross_play(record, rows)


def _training(roles: Sequence[str], rows: Sequence[Row]) -> Iterator[Block]:
    """Yields the last values of the training matches: a table with a line per role, and the outcomes."""
    last: dict[str, float] = {}
    for row in rows:
        last |= row  # the last recorded value of each metric
    titles = {
        "episode/return": "return",
        "league/win_rate": "win rate against learning opponents",
        "league/past_win_rate": "win rate against past versions",
    }
    known = [m for m in titles if any(f"{role}:{m}" in last for role in roles)]
    if not known:
        return
    yield Heading("Last matches of training", 3)
    lines = [(role, *(_cell(last, f"{role}:{metric}") for metric in known)) for role in roles]
    yield Table(("role", *(titles[metric] for metric in known)), lines)
    outcomes = [f"{_outcome(key)} {_cell(last, key)}" for key in _share_keys(last, "")]
    texts = [f"Steps per match: {_cell(last, LENGTH)}."] if LENGTH in last else []
    texts += [f"Outcomes: {', '.join(outcomes)}."] if outcomes else []
    if texts:
        yield Paragraph(" ".join(texts))


def _evaluations(role: str, rows: Sequence[Row]) -> Iterator[Block]:
    """Yields the table of the evaluated versions of a role; nothing if none was evaluated."""
    scope = f"eval/{role}"
    evaluated = {
        key: dict(zip(*curve_of(rows, "env_steps", key), strict=True))
        for key in dict.fromkeys(key for row in rows for key in row)
        if split_key(key)[0][:2] == ("eval", role)
    }
    columns = {
        "return": f"{scope}:episode/return",
        "win rate": f"{scope}:match/win_rate",
        **_opponents(role, evaluated),
        "rating": f"{scope}:league/rating",
        "steps": f"{scope}:{LENGTH}",
        **{_outcome(key): key for key in _share_keys(evaluated, scope)},
    }
    columns = {title: key for title, key in columns.items() if key in evaluated}
    versions = sorted({version for key in columns.values() for version in evaluated[key]})
    if not versions:
        return
    yield Heading(f"Evaluations of the {role}", 3)
    lines: list[Sequence[str]] = []
    for version in _spread(versions):
        values = {
            key: by_version[version]
            for key, by_version in evaluated.items()
            if version in by_version
        }
        lines.append((count(version), *(_cell(values, key) for key in columns.values())))
    yield Table(("env steps", *columns), lines)
    text = "All numbers are means over the matches of an evaluation, against scripted opponents."
    if len(lines) < len(versions):
        text += f" The table has {len(lines)} of {len(versions)} evaluations; the charts have all."
    yield Paragraph(text)


def _cross_play(record: SelfPlay, rows: Sequence[Row]) -> Iterator[Block]:
    """Yields the cross-play matrix, and how its versions did; without a matrix, the command that plays it."""
    yield Heading("Cross-play", 3)
    matrix = record.matrix
    if matrix is None or not matrix.rows or not matrix.columns:
        yield Paragraph(
            "No cross-play was played yet. After this command, the report has its matrix:"
        )
        purpose = "play every version of a role against every version of the other"
        command = f"gymnast league {record.run} --matrix"
        yield Table(("command", "purpose"), [(command, purpose)], code_columns=(0,))
        return
    title = f"Cross-play: win rate of the {matrix.row_role}"
    yield Picture("cross-play", title, lambda: heatmap_png(matrix))
    yield from _matrix_blocks(matrix)
    if chart := cross_play_chart(matrix, record.x, ClockAxis(rows, record.x)):
        yield Figure(chart)


def _matrix_blocks(matrix: CrossPlayReport) -> Iterator[Block]:
    """Yields the matrix as a table, and what its cells mean. The number of matches is in the cells only if it
    differs between them."""
    counts = {cell.matches for cells in matrix.cells for cell in cells}
    in_cells = len(counts) > 1
    head = (f"{matrix.row_role} \\ {matrix.column_role}", *map(_player, matrix.columns))
    lines = [
        (_player(name), *(str(cell) if in_cells else cell.rate_text() for cell in cells))
        for name, cells in zip(matrix.rows, matrix.cells, strict=True)
    ]
    yield Table(head, lines)
    yield Paragraph(f"Cells: {matrix.legend(None if in_cells else counts.pop())}.")


def _player(name: str) -> str:
    """Returns the name of a player; that of a past version is its number of env steps."""
    version = entrant_version(name)
    return name if version is None else count(version)


def _opponents(role: str, evaluated: Iterable[str]) -> dict[str, str]:
    """Returns `vs. OPPONENT` -> the column with the win rate, for every opponent of the evaluations."""
    found: dict[str, str] = {}
    for key in evaluated:
        scopes, metric = split_key(key)
        if metric == "match/win_rate" and scopes[:2] == ("eval", role) and len(scopes) == 3:
            found[f"vs. {scopes[2]}"] = key
    return found


def _share_keys(keys: Iterable[str], scope: str) -> list[str]:
    """Returns the metrics with the shares of the outcomes in a scope; the unknown ones last."""
    found = [
        key
        for key in keys
        if key.rpartition(":")[0] == scope and _SHARE.fullmatch(split_key(key)[1])
    ]
    return sorted(found, key=lambda key: (_outcome(key) == "unknown", key))


def _outcome(key: str) -> str:
    """Returns the outcome of a metric: `eval/seeker:match/tag_share` -> `tag`."""
    return split_key(key)[1].removeprefix("match/").removesuffix("_share")


def _cell(values: dict[str, float], key: str) -> str:
    """Returns a value with its interval, if it has one; a dash if it is missing."""
    if key not in values:
        return "-"
    scope, separator, metric = key.rpartition(":")
    ends = [f"{scope}{separator}{end}" for end in INTERVALS.get(metric, ())]
    interval = [_number(metric, values[end], 0) for end in ends if end in values]
    text = _number(metric, values[key], 1)
    if metric_for_key(metric).unit == "share":
        text += "%"
    return f"{text} [{', '.join(interval)}]" if len(interval) == 2 else text


def _number(metric: str, value: float, decimals: int) -> str:
    """Returns a value without its unit; a share in percent with `decimals` decimals, so that the lines of a
    table can be compared."""
    declared = metric_for_key(metric)
    if declared.unit == "share":
        return f"{100 * value:.{decimals}f}"
    # A comma separates the ends of an interval, not thousands.
    return declared.format_parts(value)[0].replace(",", "")


def _spread(versions: Sequence[float]) -> list[float]:
    """Returns at most VERSIONS of the versions, evenly spread, with the first and the last."""
    n = len(versions)
    if n <= VERSIONS:
        return list(versions)
    return [versions[round(i * (n - 1) / (VERSIONS - 1))] for i in range(VERSIONS)]
