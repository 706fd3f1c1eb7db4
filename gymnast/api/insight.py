"""Comparisons, charts, reports and diagnoses of runs, and exports for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import RunError, UsageError
from gymnast.insight.chart import ChartData
from gymnast.insight.compare import Comparison
from gymnast.insight.doctor import Diagnosis
from gymnast.insight.export import Export
from gymnast.insight.seed_curves import SeedCurves
from gymnast.runs import layout, store
from gymnast.runs.run import Run
from gymnast.runs.store import RunsDir
from gymnast.settings import view_clock


@dataclass(frozen=True)
class Report:
    run: str
    """Id of the run."""
    files: list[str]
    """All files that were written, pictures included."""


def compare(
    refs: Sequence[str], x: str = "", *, env: str = "", runs_dir: RunsDir = None
) -> Comparison:
    """Compares two or more sides, each a run, a group of seeds, or runs joined to a group (`a+b+c`): scores,
    evaluation curves over the clock `x`, areas under them, which side is better and whether by more than
    noise, and config differences. Without `x`, the clock is that of the settings file, as in every view.

    If one of the sides is a group, `groups` has the statistics over the seeds of each side. A side may also
    be a foreign run, as in `doctor`: then env steps are the default clock, training returns are compared if
    it has no evaluations, and `notes` says what cannot be compared. `env`: the environment of foreign runs
    whose files do not name it."""
    from gymnast.insight.groups import compare_sides
    from gymnast.insight.sides import has_foreign, resolve_mixed_sides, resolve_sides

    if len(refs) < 2:
        problem = "a comparison needs at least two runs or groups"
        raise UsageError(problem, fix="gymnast compare RUN RUN")
    if has_foreign(refs):
        from gymnast.insight.foreign_compare import compare_mixed

        return compare_mixed(resolve_mixed_sides(refs, store.runs_dir(runs_dir), env), x)
    return compare_sides(resolve_sides(refs, store.runs_dir(runs_dir)), view_clock(x))


def seed_curves(
    refs: Sequence[str],
    names: Sequence[str],
    *,
    x: str = "",
    points: int = 200,
    runs_dir: RunsDir = None,
) -> SeedCurves:
    """Returns metrics over the clock `x` as means over the seeds of each group, with a 95 % band.

    `refs`: groups, runs, or runs joined to a group (`a+b+c`); `names`: the metrics; `points`: at most that
    many per series. A series covers the range that all seeds of the group cover. Raises UsageError for a
    metric that no run has."""
    from gymnast.insight.seed_curves import seed_curves as curves_of_sides
    from gymnast.insight.sides import resolve_sides

    sides = resolve_sides(refs, store.runs_dir(runs_dir))
    return curves_of_sides(sides, names, view_clock(x), points)


def charts(ref: str = "@last", x: str = "", *, runs_dir: RunsDir = None) -> list[ChartData]:
    """Returns the charts of a run as data, over the clock `x`; `report` draws these."""
    return _charts(store.resolve_readable(ref, store.runs_dir(runs_dir))[0], view_clock(x))


def report(
    ref: str = "@last",
    formats: Sequence[str] = (),
    out: str | Path | None = None,
    x: str = "",
    *,
    runs_dir: RunsDir = None,
) -> Report:
    """Writes a report into the run, or to `out` (a directory, or a file that ends in .md or .html). That of a
    bundle is written into a folder next to it. A self-play run also has its roles over time, and the
    cross-play matrix if it was played.

    `formats`: `md` and `html`; by default the suffix of `out`, else both. `x`: the clock of the
    charts."""
    from gymnast.config.families import is_multi_agent
    from gymnast.insight.report.content import report_blocks
    from gymnast.insight.report.files import write_report
    from gymnast.insight.self_play import describe_self_play
    from gymnast.runs.curve import read_rows
    from gymnast.runs.details import describe_run

    x, directory = view_clock(x), store.runs_dir(runs_dir)
    run, _ = store.resolve_readable(ref, directory)
    details = describe_run(run, sizes=True)
    self_play = describe_self_play(run, x) if is_multi_agent(details.env) else None
    parent = _parent(run, x, directory)
    blocks = report_blocks(details, read_rows(run), _charts(run, x), parent, self_play)
    files = write_report(
        blocks,
        f"{details.id} {details.preset}",
        formats=formats,
        default_dir=_report_dir(run),
        out=None if out is None else Path(out),
    )
    return Report(details.id, [str(file) for file in files])


def doctor(
    ref: str = "@last",
    *,
    env: str = "",
    threshold: float | None = None,
    column_map: str | None = None,
    runs_dir: RunsDir = None,
) -> Diagnosis:
    """Diagnoses a run: its outcome, causes with evidence, the likeliest first, and settings to change.

    `ref` may also be a foreign run, which another program made: the path of a TensorBoard directory or event
    file, of `progress.csv` or `monitor.csv` of Stable-Baselines3, of a W&B offline run, or
    `wandb:ENTITY/PROJECT/RUN`. Then `foreign` says which checks its missing metrics rule out, and changes are
    hyperparameters of its library. `env` and `threshold` are what its files do not say; `column_map`: a file
    that maps metrics to the names in its files."""
    from gymnast.foreign.reference import ForeignOptions, names_foreign_run
    from gymnast.insight.doctor import diagnose

    options = ForeignOptions(env, threshold, column_map)
    if names_foreign_run(ref):
        from gymnast.foreign.open import open_foreign
        from gymnast.insight.foreign_doctor import diagnose_foreign

        return diagnose_foreign(open_foreign(ref, options))
    if options.are_given:
        problem = f"{ref} is a run of gymnast, whose environment, threshold and metrics are known"
        raise UsageError(problem, fix="use --env, --threshold and --map only for foreign runs")
    return diagnose(store.resolve_readable(ref, store.runs_dir(runs_dir))[0])


def export(
    ref: str, export_format: str, out: str | Path | None = None, *, runs_dir: RunsDir = None
) -> Export:
    """Writes the metrics as csv, parquet, tensorboard or wandb (`export_format`) to `out`, by
    default in the run."""
    from gymnast.insight.export import export as write_export

    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    return write_export(run, export_format, Path(out) if out else None)


def _charts(run: Run, x: str) -> list[ChartData]:
    from gymnast.insight.chart_data import charts_of_run

    return charts_of_run(run, x)


def _report_dir(run: Run) -> Path:
    """Returns the folder for the report of a run; of a bundle, one next to the file."""
    if run.bundle is not None:
        return run.bundle.with_name(f"{run.bundle.stem}-report")
    return layout.REPORT.path(run.path)


def _parent(run: Run, x: str, directory: Path) -> Comparison | str | None:
    """Returns the comparison of a run with its parent, None without one, or why the parent is
    unreadable. `x`: the clock of the curves."""
    from gymnast.insight.compare import compare as compare_runs

    parent = run.info["parent"]
    if not parent:
        return None
    try:
        before = store.resolve(parent, directory)[0]
    except RunError as error:
        return f"Its parent {parent} cannot be read: {error.message}."
    return compare_runs([before, run], x)
