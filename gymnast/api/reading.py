"""The read API for runs, presets, metrics and configs; every function returns plain JSON-like values.

The command line and every other reader of runs use these functions only. Nothing in this file
trains, and nothing imports torch or gymnasium, except to
get the spaces of an environment, from which its default settings follow. `ref` is a reference to a
run as in `gymnast.runs.store.resolve`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gymnast.clock import CLOCKS
from gymnast.errors import CheckpointError, ConfigError, RunError, UsageError
from gymnast.runs import checkpoint, films, layout, reference, store
from gymnast.runs.run import Run, derived_status

if TYPE_CHECKING:
    from gymnast.config.config import Config

RunsDir = str | Path | None
"""A runs directory; None is GYMNAST_RUNS or ./runs."""


def runs(
    filter: str = "", *, sizes: bool = False, runs_dir: RunsDir = None
) -> list[dict[str, Any]]:
    """Returns every run that matches the filter, newest first: run.json with `path` and status.
    `filter`: words or FIELD=VALUE as in `gymnast runs`, all of which must match; empty means all
    runs. `sizes` adds `bytes`, the disk space of a run."""
    matching = store.list_runs(store.runs_dir(runs_dir), filter)
    if sizes:  # has to look at every file of every run
        from gymnast.runs.removal import run_size

        matching = [run | {"bytes": run_size(Path(run["path"]))} for run in matching]
    return matching


def show(ref: str = "@last", *, runs_dir: RunsDir = None) -> dict[str, Any]:
    """Returns everything known about one run: run.json, its clocks, config, events, evaluations,
    checkpoints and videos. `checkpoint` is the one that `ref` names, or None."""
    from gymnast.runs.removal import run_size

    run, checkpoint_name = store.resolve(ref, store.runs_dir(runs_dir))
    info, events = run.info, run.events()
    clocks = info.pop("clocks")
    return {
        **info,
        "status": derived_status(run.path, info),
        **{name: clocks.get(name, 0) for name in CLOCKS},
        "path": str(run.path),
        "bytes": run_size(run.path),
        "config": run.config_values(),
        "provenance": run.provenance(),
        "live": info.get("live", {}),
        "events": events,
        **_curve(run),
        "checkpoints": _checkpoints(run, info["checkpoints"]["best"]),
        "checkpoint": _describe_checkpoint(checkpoint.find(run.path, checkpoint_name))
        if checkpoint_name
        else None,
        "videos": films.list_films(run.path, info["checkpoints"]["best"]),
    }


def rows(
    ref: str = "@last",
    names: Sequence[str] = (),
    *,
    last: int | None = None,
    runs_dir: RunsDir = None,
) -> list[dict[str, float]]:
    """Returns the metric rows, each with the keys it has; with `names`, only these metrics and the
    clocks. `last`: the number of latest rows; None means all. Raises UsageError for a name that
    no row of the run has."""
    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    with run.metrics() as metric_store:
        latest = list(metric_store.rows(last))
        # A name is known if any row has it: the latest ones may hold only a late evaluation.
        known = metric_store.names() if names else ()
    if not names:
        return latest
    columns = _columns(run, names, known)
    return [{key: row[key] for key in columns if key in row} for row in latest]


def rows_csv(
    ref: str = "@last",
    names: Sequence[str] = (),
    *,
    last: int | None = None,
    runs_dir: RunsDir = None,
) -> str:
    """Returns `rows` as CSV: a column per key, an empty cell where a row lacks it. Takes the same
    arguments."""
    from gymnast.metrics.export import to_csv

    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    with run.metrics() as metric_store:
        head, *lines = csv.reader(io.StringIO(to_csv(metric_store)))
    columns = (
        [head.index(name) for name in _columns(run, names, head)] if names else range(len(head))
    )
    text = io.StringIO()
    chosen = [head, *(lines if last is None else lines[-last:])]
    csv.writer(text, lineterminator="\n").writerows([line[i] for i in columns] for line in chosen)
    return text.getvalue()


def export(
    ref: str, export_format: str, out: str | Path | None = None, *, runs_dir: RunsDir = None
) -> dict[str, Any]:
    """Writes the metrics as csv, parquet, tensorboard or wandb (`export_format`) to `out`, by
    default in the run. Returns `run`, `format`, `path` and the number of `rows`."""
    from gymnast.insight.export import export as write_export

    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    return write_export(run, export_format, Path(out) if out else None)


def compare(
    refs: Sequence[str], x: str = "vec_steps", *, runs_dir: RunsDir = None
) -> dict[str, Any]:
    """Returns scores, curves over the clock `x`, areas under them and config differences of several runs.

    If one of the references is a group of seeds, `groups` has the means over seeds of each side."""
    from gymnast.insight.compare import compare as compare_runs
    from gymnast.insight.groups import compare_groups, resolve_side

    directory = store.runs_dir(runs_dir)
    sides = [resolve_side(ref, directory) for ref in refs]
    if any(side.is_group for side in sides):
        return compare_groups(sides, x)
    return compare_runs([run for side in sides for run in side.runs], x)


def charts(
    ref: str = "@last", x: str = "vec_steps", *, runs_dir: RunsDir = None
) -> list[dict[str, Any]]:
    """Returns the charts of a run as data, over the clock `x`; `gymnast report` draws these."""
    from gymnast.insight.chart_data import charts as charts_of_rows
    from gymnast.runs.curve import read_rows

    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    actions = (run.config_values().get("facts") or {}).get("actions") or ()
    return charts_of_rows(read_rows(run), run.info, run.events(), x, actions)


def report(
    ref: str = "@last",
    formats: Collection[str] = (),
    out: str | Path | None = None,
    x: str = "vec_steps",
    *,
    runs_dir: RunsDir = None,
) -> dict[str, Any]:
    """Writes a report into the run, or to `out` (a directory, or a file that ends in .md or .html).

    `formats`: `md` and `html`; by default the suffix of `out`, else both. `x`: the clock of the
    charts. Returns the id of the `run` and all `files`, pictures included."""
    from gymnast.insight.report.content import report_blocks
    from gymnast.insight.report.files import write_report
    from gymnast.runs.curve import read_rows

    directory = store.runs_dir(runs_dir)
    run_info = show(ref, runs_dir=directory)
    run = Run(Path(run_info["path"]))
    run_charts, parent = charts(str(run.path), x, runs_dir=directory), _parent(run, x, directory)
    blocks = report_blocks(run_info, read_rows(run), run_charts, parent)
    path = None if out is None else Path(out)
    title = f"{run_info['id']} {run_info['preset']}"
    files = write_report(
        blocks, title, formats=formats, default_dir=layout.REPORT.path(run.path), out=path
    )
    return {"run": run_info["id"], "files": [str(file) for file in files]}


def doctor(ref: str = "@last", *, runs_dir: RunsDir = None) -> dict[str, Any]:
    """Diagnoses a run: returns causes with evidence, the likeliest first, and a config patch."""
    from gymnast.insight.doctor import diagnose

    return diagnose(store.resolve(ref, store.runs_dir(runs_dir))[0]).to_json()


def presets(search: str = "") -> list[dict[str, Any]]:
    """Returns the presets that `search_presets` finds for the text; all if it is empty.

    Each has its row in `gymnast presets`, and `results`: variant -> summary of the result that is shipped
    with gymnast, empty for the user's own presets. A file that cannot be read has only `name`, `path` and
    `problem`."""
    from gymnast.config import presets as files
    from gymnast.insight import results

    listed: list[dict[str, Any]] = []
    for preset in files.search_presets(search):
        try:
            stored = results.variant_summaries(preset.name) if preset.is_builtin else {}
            listed.append({**files.summarize(preset), "results": stored})
        except ConfigError as error:  # one broken file must not hide the others
            listed.append({"name": preset.name, "path": str(preset.path), "problem": str(error)})
    return listed


def metrics(name: str = "") -> list[dict[str, Any]]:
    """Returns the description of every metric, or of the one named."""
    from gymnast.metrics import explain

    every = [explain.find(name)] if name else explain.catalog().values()
    return [explain.metric_to_dict(metric) for metric in every]


def config_show(
    name: str, overrides: Mapping[str, Any] | None = None, *, runs_dir: RunsDir = None
) -> dict[str, Any]:
    """Returns the settings of a run, a preset or an environment, and where each value came from.
    `overrides`: dotted key -> value, applied to these settings."""
    from gymnast.config.serialize import flat_values, to_plain

    title, config, provenance = _settings(name, overrides or {}, store.runs_dir(runs_dir))
    return {
        "name": title,
        "config": to_plain(config),
        "values": flat_values(config),
        "provenance": provenance,
    }


def config_check(targets: Sequence[str] = ()) -> dict[str, Any]:
    """Returns the problems of these presets or config files; of all presets if none is given."""
    from gymnast.config.check import check

    by_target = check(targets)
    problems = [problem for of_target in by_target.values() for problem in of_target]
    return {
        "checked": list(by_target),
        "wrong": sum(bool(of_target) for of_target in by_target.values()),
        "problems": [{**vars(problem), "message": str(problem)} for problem in problems],
    }


def config_fmt(text: str, at: str = "") -> str:
    """Returns the text of a config file with its keys in canonical order and its comments kept.
    `at`: the name of the file, for error messages."""
    from gymnast.config.fmt import format_config

    return format_config(text, at)


def config_diff(a: str, b: str, *, runs_dir: RunsDir = None) -> list[dict[str, Any]]:
    """Returns the keys whose values differ between two runs or presets; None where one lacks the key."""
    from gymnast.config.serialize import diff

    left, right = (_settings(name, {}, store.runs_dir(runs_dir))[1] for name in (a, b))
    return [{"key": key, "a": before, "b": after} for key, before, after in diff(left, right)]


def _settings(
    name: str, overrides: Mapping[str, Any], directory: Path
) -> tuple[str, Config, dict[str, str]]:
    """Returns a title, the config, and config key -> origin of its value."""
    from gymnast.config.resolve import apply_overrides
    from gymnast.insight.settings import settings_in_use, settings_of_environment

    run = find_run(name, directory)
    if run is None:
        return settings_of_environment(name, overrides)
    config, origins = settings_in_use(run)
    if overrides:
        config, origins = apply_overrides(config, overrides, provenance=origins)
    return f"run {run.path}", config, origins


def find_run(name: str, directory: Path) -> Run | None:
    """Returns the run named `name`; None if it names a preset, or no run and so perhaps an
    environment. Raises RunError if `@...` or `NAME:CHECKPOINT` does not exist: these can only be
    runs."""
    from gymnast.config import presets as files

    # `@last` and `NAME:120k` can only be runs. Else a preset comes first: a run named like an environment
    # must not change what `gymnast config show CartPole-v1` prints.
    must_be_run = name.startswith("@") or reference.split_reference(name)[1] is not None
    env = files.split_target(name)[0] if not must_be_run else ""
    if env and (preset := files.find_preset(env)).path is not None and preset.name == env:
        return None
    try:
        return store.resolve(name, directory)[0]
    except CheckpointError:  # the run exists
        raise
    except RunError:
        if must_be_run:
            raise
        return None


def _parent(run: Run, x: str, directory: Path) -> dict[str, Any] | str | None:
    """Returns the comparison of a run with its parent, None without one, or why the parent is
    unreadable. `x`: the clock of the curves; replaced by the default if comparisons do not support
    it."""
    from gymnast.insight.compare import AXES
    from gymnast.insight.compare import compare as compare_runs

    parent = run.info["parent"]
    if not parent:
        return None
    try:
        before = store.resolve(str(parent), directory)[0]
    except RunError as error:
        return f"Its parent {parent} cannot be read: {error.message}."
    return compare_runs([before, run], x if x in AXES else AXES[0])


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


def _curve(run: Run) -> dict[str, Any]:
    """Returns the evaluation curve (`evaluations`) and its summary (`learning`, None without
    evaluations)."""
    from gymnast.runs.curve import curve_of, learning_so_far, read_rows

    try:
        metric_rows = read_rows(run)
    except RunError:  # damaged metrics.db: show the run anyway; `rows` reports the problem
        return {"evaluations": [], "learning": None}
    points = zip(*curve_of(metric_rows, "env_steps"), strict=True)
    return {
        "evaluations": [{"env_steps": steps, "return": value} for steps, value in points],
        "learning": learning_so_far(run, metric_rows),
    }


def _checkpoints(run: Run, best: int | None) -> dict[str, Any]:
    """Returns the best and the latest checkpoint that load, and messages about damaged ones."""
    available = checkpoint.list_checkpoints(run.path)
    result: dict[str, Any] = {"best": None, "latest": None, "steps": list(available), "damaged": []}
    for word in ("latest", "best"):
        if not available or (word == "best" and best is None):
            continue
        try:
            loaded = checkpoint.find(run.path, word)
        except CheckpointError as error:
            result["damaged"].append(str(error))
        else:
            result[word] = _describe_checkpoint(loaded)
            # `latest` falls back to the newest checkpoint that loads, and reports the ones it skipped.
            result["damaged"] += loaded.skipped_errors
    return result


def _describe_checkpoint(saved: checkpoint.Checkpoint) -> dict[str, Any]:
    sha256 = checkpoint.weights_sha256(saved.manifest)
    return {"step": saved.step, "path": str(saved.path), "sha256": sha256}
