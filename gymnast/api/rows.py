"""The metrics of a run: rows and CSV."""

from __future__ import annotations

import csv
import io
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gymnast.clock import CLOCKS
from gymnast.errors import UsageError
from gymnast.metrics.nearest_rows import CLOCK, earlier_rows, position_before
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir

AROUND = 10
"""Number of rows around a step, unless `limit` says another."""


@dataclass(frozen=True)
class MetricRows:
    """Rows of metrics, one per rollout, and one per evaluation that finished after the row of its rollout."""

    run: str
    """Id of the run."""
    rows: list[dict[str, float]]
    """Key -> value; a row has only the keys that were measured."""
    cursor: int
    """Position of the last row: pass it as `after` to get the rows that follow."""
    has_more: bool
    """Whether there are more rows now, which `limit` cut off."""
    attempt: int
    """Number of the latest attempt to train the run. If it is another one than before, a resume has replaced
    the rows after its checkpoint: read all rows again."""


def rows(
    ref: str = "@last",
    names: Sequence[str] = (),
    *,
    last: int | None = None,
    after: int = 0,
    limit: int | None = None,
    around: float | str | None = None,
    runs_dir: RunsDir = None,
) -> MetricRows:
    """Returns the metric rows of a run; with `names`, only these metrics and the clocks.

    `last`: only that many of the latest rows. `after`: only rows after this position, the `cursor` of an
    earlier answer; `limit`: at most that many. `around`: the rows nearest to this number of env steps
    (also a text such as 120k), as many as `limit`, by default 10. Raises UsageError for a
    name that no row of the run has."""
    if last is not None and (after or limit is not None):
        raise UsageError("`last` cannot be combined with `after` or `limit`")
    if around is not None and (after or last is not None):
        raise UsageError("`around` cannot be combined with `after` or `last`", fix="use `limit`")
    if around is not None and limit is not None and limit < 1:
        raise UsageError("`limit` must be at least 1 with `around`")
    run, _ = store.resolve_readable(ref, store.runs_dir(runs_dir))
    with run.metrics() as metrics:
        if around is not None:
            limit = AROUND if limit is None else limit
            after = position_before(metrics, _env_steps(around), limit)
        # One row more than asked for shows whether there are more.
        beyond = None if limit is None else limit + 1
        found = list(metrics.numbered_rows(last, after=after, limit=beyond))
        # A name is known if any row has it: the latest ones may hold only a late evaluation.
        columns = _columns(run, names, metrics.names()) if names else None
        attempt = metrics.attempt
    page = found if limit is None else found[:limit]
    return MetricRows(
        run=run.id,
        rows=[_selected(row, columns) for _, row in page],
        cursor=page[-1][0] if page else after,
        has_more=len(page) < len(found),
        attempt=attempt,
    )


def rows_csv(
    ref: str = "@last",
    names: Sequence[str] = (),
    *,
    last: int | None = None,
    limit: int | None = None,
    around: float | str | None = None,
    runs_dir: RunsDir = None,
) -> str:
    """Returns the metric rows as CSV, at full precision: a column per key, an empty cell where a row lacks
    it. `names`, `last`, `limit` and `around` as in `rows`."""
    if last is not None and (limit is not None or around is not None):
        raise UsageError("`last` cannot be combined with `limit` or `around`")
    from gymnast.metrics.export import to_csv

    run, _ = store.resolve_readable(ref, store.runs_dir(runs_dir))
    with run.metrics() as metrics:
        head, *lines = csv.reader(io.StringIO(to_csv(metrics)))
    columns = (
        [head.index(name) for name in _columns(run, names, head)] if names else range(len(head))
    )
    text = io.StringIO()
    if around is not None:
        limit = AROUND if limit is None else limit
        steps = [float(line[head.index(CLOCK)]) for line in lines]
        at = bisect_left(steps, _env_steps(around))
        lines = lines[at - earlier_rows(at, len(lines) - at, limit) :]
    chosen = [head, *(lines[:limit] if last is None else lines[-last:])]
    csv.writer(text, lineterminator="\n").writerows([line[i] for i in columns] for line in chosen)
    return text.getvalue()


def _env_steps(around: float | str) -> float:
    """Returns the number of env steps that a text such as 120k means."""
    if not isinstance(around, str):
        return around
    from gymnast.config.numbers import parse_number

    try:
        return parse_number(around)
    except ValueError as error:
        raise UsageError(f"around: {error}") from None


def _selected(row: dict[str, float], columns: Sequence[str] | None) -> dict[str, float]:
    return row if columns is None else {key: row[key] for key in columns if key in row}


def _columns(run: Run, names: Sequence[str], known: Collection[str]) -> list[str]:
    """Returns the clocks and `names` as columns; raises UsageError for a name that is not in
    `known`, the keys of the rows. If `known` is empty, because there are no rows, so is the
    result."""
    from gymnast.text.suggestions import did_you_mean

    for name in names:
        if known and name not in known:
            problem = f"run {run.id} has no metric {name!r}{did_you_mean(name, known)}"
            raise UsageError(problem, fix=f"`gymnast rows {run.id} --last 1` has them all")
    return [key for key in (*(f"clock/{clock}" for clock in CLOCKS), *names) if key in known]
