"""`gymnast monitor`: writes an overview and charts of runs by approach."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.cli.progress import progress

if TYPE_CHECKING:
    from gymnast.monitor.records import OverviewRow, SkippedRun, WrittenMonitor


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE...]")
@click.option(
    "--approach",
    "approaches",
    multiple=True,
    metavar="TAG|VARIANT",
    help="Runs with this tag or variant. Repeatable.",
)
@click.option(
    "--run", "refs", multiple=True, metavar="RUN|GROUP", help="This run or group too. Repeatable."
)
@click.option("--all-runs", is_flag=True, help="Every run of the runs directory.")
@click.option("--env", default="", metavar="ENV", help="Only runs of this environment.")
@click.option(
    "--map",
    "column_map",
    metavar="MAP",
    help="Column map (YAML) of the FILEs: CSV or JSON lines of other programs.",
)
@click.option(
    "--smooth",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Draw moving averages over this number of rows; 1 draws the rows as they are.",
)
@click.option(
    "--skip-broken",
    is_flag=True,
    help="Leave out runs whose columns are broken, instead of stopping with an error.",
)
@click.option("--out", metavar="DIR", help="Default: monitor/ in the data directory.")
@click.option(
    "--data",
    metavar="DIR",
    help="Data directory. Default: $GYMNAST_DATA, or data/ next to the runs directory.",
)
@runs_option
@json_option
def monitor(
    files: tuple[str, ...],
    approaches: tuple[str, ...],
    refs: tuple[str, ...],
    all_runs: bool,
    env: str,
    column_map: str | None,
    smooth: int,
    skip_broken: bool,
    out: str | None,
    data: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Write an overview, charts and a manifest of runs, by approach.

    An approach is the tag of a run, else the variant of its preset. Without a selection, all runs of the
    newest run's environment are monitored. The columns of every run are checked first: a column that
    is missing, renamed or without values is an error. Pictures need matplotlib (pip install
    'gymnast[report]').

    \b
    gymnast monitor                                       the newest run's environment
    gymnast monitor --env CartPole-v1
    gymnast monitor --approach selfplay --approach curriculum
    gymnast monitor --run k3jx --run 7fqa --smooth 1
    gymnast monitor --all-runs --skip-broken --out overview
    gymnast monitor --map arena.yaml arena-1.csv arena-2.csv
    """
    from gymnast.api.monitor import write_files

    report = api.monitor(
        approaches,
        refs,
        all_runs=all_runs,
        env=env,
        smooth=smooth,
        skip_broken=skip_broken,
        files=files,
        column_map=column_map,
        runs_dir=runs_dir,
    )
    with progress("" if as_json else "drawing") as update:
        written = write_files(
            report, out, data, runs_dir, lambda done, total, _="": update(done, total)
        )
    if as_json:
        echo_json(written)
    else:
        click.echo(monitor_page(written))


def monitor_page(written: WrittenMonitor) -> str:
    """Formats the overview with a line per run and role, the runs that were left out, and the files."""
    parts = [_overview(written.overview), *map(_skipped, written.skipped)]
    n_pictures = sum(file.endswith(".png") for file in written.files)
    tables = [file for file in written.files if not file.endswith(".png")]
    return "\n".join([*parts, "", f"{written.out}: {', '.join(tables)} and {n_pictures} pictures"])


def _overview(rows: Sequence[OverviewRow]) -> str:
    from gymnast.text.formatting import table

    has_roles = any(role.role for row in rows for role in row.roles)
    outcomes = list(dict.fromkeys(outcome for row in rows for outcome in row.outcomes))
    columns: list[str] = list(_RUN_COLUMNS)
    columns += ["role", "final", "best", "wins", "eval-wins"] if has_roles else ["final", "best"]
    columns += [*outcomes, "length", "alerts", "verdict"]
    lines = [[line.get(column, "") for column in columns] for row in rows for line in _lines(row)]
    right = (column for column in columns if column not in ("approach", "run", "role", "verdict"))
    return table(columns, lines, right=" ".join(right))


_RUN_COLUMNS = ("approach", "run", "seed", "steps", "episodes")


def _lines(row: OverviewRow) -> Iterator[dict[str, str]]:
    """Yields column -> cell for each role of a run. What all roles share is only in the first line."""
    from gymnast.text.formatting import count

    of_run = (row.approach, row.run, count(row.seed), count(row.env_steps), count(row.episodes))
    shared = dict(zip(_RUN_COLUMNS, of_run, strict=True))
    shared |= {outcome: _percent(share) for outcome, share in row.outcomes.items()}
    shared |= {"length": _number(row.mean_length), "alerts": str(row.alerts)}
    shared |= {"verdict": row.verdict}
    for role in row.roles:
        yield shared | {
            "role": role.role,
            "final": _number(role.final_return),
            "best": _number(role.best_return),
            "wins": _percent(role.rolling_win_rate),
            "eval-wins": _percent(role.eval_win_rate),
        }
        shared = {}


def _skipped(run: SkippedRun) -> str:
    return f"left out: {run.run} ({run.at}): {run.problem}"


def _number(value: float | None) -> str:
    from gymnast.text.formatting import number

    return "-" if value is None else number(value)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
