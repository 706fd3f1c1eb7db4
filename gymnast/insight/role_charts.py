"""Charts about the roles of a self-play run: returns, win rates, ratings, lengths and outcomes of matches,
and how its versions did in cross-play."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from gymnast.insight.chart import ChartData, ChartLine, ChartSeries
from gymnast.insight.chart_data import line_chart
from gymnast.insight.self_play import RoleCurve, SelfPlay
from gymnast.league.matrix import CrossPlayCell, CrossPlayReport
from gymnast.league.results import entrant_version
from gymnast.league.run_ratings import ANCHOR, ANCHORED
from gymnast.rl.interval import Interval
from gymnast.rl.statistics import wilson_interval

FAMILY = "matches"
"""The section of the guide that explains these charts."""
SHARES = (0.0, 1.0)


def role_charts(record: SelfPlay) -> Iterator[ChartData]:
    """Yields the charts about the roles that have data."""
    if record.returns:
        yield _chart(
            record, "role-returns", "Return per match of each role", _lines(record.returns)
        )
    for role in record.roles:
        if rates := [curve for curve in record.win_rates if curve.role == role]:
            lines = _lines(rates, lambda curve: curve.label.removeprefix("scripted:"))
            chart = _chart(
                record, f"win-rate-{role}", f"Win rate of the {role}, by opponent", lines
            )
            yield replace(chart, unit="share", range=SHARES)
    if record.ratings:
        yield _ratings(record)
    if record.lengths:
        chart = _chart(record, "role-lengths", "Steps per match", _lines(record.lengths))
        yield replace(chart, unit="steps")
    yield from _outcomes(record)


def cross_play_chart(
    matrix: CrossPlayReport, x: str, position: Callable[[float], float]
) -> ChartData | None:
    """Returns the win rate of each version against all versions of the other role, over the clock `x`; None
    if the matrix has fewer than two versions of each role. `position`: converts env steps to this clock."""
    series: list[ChartSeries] = []
    for role in (matrix.row_role, matrix.column_role):
        rates = version_win_rates(matrix, role)
        if len(rates) < 2:
            continue
        means, lows, highs = zip(*((r.mean, r.low, r.high) for r in rates.values()), strict=True)
        xs = [position(version) for version in rates]
        series.append(ChartSeries(role, role, xs, list(means), list(lows), list(highs)))
    if not series:
        return None
    title = "Cross-play: win rate of each version against all versions of the other role"
    chart = line_chart("cross-play-versions", FAMILY, title, x, series)
    even = ChartLine(0.5, "even")
    return replace(chart, unit="share", range=SHARES, lines=[even])


def version_win_rates(matrix: CrossPlayReport, role: str) -> dict[int, Interval]:
    """Returns env steps of a version of `role` -> its win rate against all versions of the other role, with
    its 95 % interval; scripted players are not counted. A version without a known outcome is omitted."""
    is_row = role == matrix.row_role
    cells: Sequence[Sequence[CrossPlayCell]] = matrix.cells
    if not is_row:
        cells = list(zip(*matrix.cells, strict=True))
    own, others = (matrix.rows, matrix.columns) if is_row else (matrix.columns, matrix.rows)
    rates: dict[int, Interval] = {}
    for name, line in zip(own, cells, strict=True):
        played = [
            cell
            for other, cell in zip(others, line, strict=True)
            if entrant_version(other) is not None and cell.rate is not None
        ]
        version = entrant_version(name)
        if version is not None and played:
            n = sum(cell.matches for cell in played)
            row_wins = sum((cell.rate or 0.0) * cell.matches for cell in played)
            rates[version] = wilson_interval(row_wins if is_row else n - row_wins, n)
    return dict(sorted(rates.items()))


def _ratings(record: SelfPlay) -> ChartData:
    lines = [
        ChartSeries(
            f"eval/{curve.role}:league/rating",
            curve.role,
            curve.x,
            list(curve.rating),
            list(curve.low),
            list(curve.high),
        )
        for curve in record.ratings
    ]
    chart = _chart(record, "role-ratings", "Rating of each role, from evaluations", lines)
    return replace(chart, lines=[ChartLine(ANCHORED, ANCHOR)])


def _outcomes(record: SelfPlay) -> Iterator[ChartData]:
    """Yields the outcomes of training, and those of the evaluations of each role."""
    for role in ("", *record.roles):
        shares = [curve for curve in record.outcomes if curve.role == role]
        if shares:
            shares.sort(key=lambda curve: (curve.label == "unknown", curve.label))
            name = f"outcomes-{role or 'training'}"
            matches = f"evaluations of the {role}" if role else "training matches"
            lines = _lines(shares, lambda curve: curve.label)
            chart = _chart(record, name, f"Outcomes of {matches}", lines)
            yield replace(chart, kind="stacked", unit="share")


def _chart(record: SelfPlay, name: str, title: str, series: list[ChartSeries]) -> ChartData:
    return line_chart(name, FAMILY, title, record.x, series)


def _lines(
    curves: Sequence[RoleCurve], label: Callable[[RoleCurve], str] | None = None
) -> list[ChartSeries]:
    """Returns a series per curve, with its interval if it has one. `label`: returns the label of a curve, by
    default its own with the role."""
    return [
        ChartSeries(
            key=f"{curve.role} {curve.label}",
            label=label(curve) if label else f"{curve.label} {curve.role}".strip(),
            x=curve.x,
            y=list(curve.y),
            low=list(curve.low) or None,
            high=list(curve.high) or None,
        )
        for curve in curves
    ]
