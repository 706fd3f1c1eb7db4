"""Everything that may be asked about runs, presets, metrics and configs, as plain values.

The command line, and whatever else reads runs, asks here and nowhere else. Nothing in this file
trains, and nothing imports torch or gymnasium. `ref` names a run as `gymnast.runs.store` reads it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from gymnast.clock import CLOCKS
from gymnast.errors import CheckpointError, UsageError
from gymnast.runs import checkpoint, store
from gymnast.runs.run import Run, derived_status

Where = str | Path | None
"""A runs directory; None is GYMNAST_RUNS or ./runs."""


def runs(filter: str = "", *, runs_dir: Where = None) -> list[dict[str, Any]]:
    """Every run that matches all words of the filter, newest first."""
    return store.list_runs(store.runs_dir(runs_dir), filter)


def show(ref: str = "@last", *, runs_dir: Where = None) -> dict[str, Any]:
    """All that is known about one run; `checkpoint` is the one the reference names, if any."""
    run, which = store.resolve(ref, store.runs_dir(runs_dir))
    info = run.info
    clocks = info.pop("clocks")
    return {
        **info,
        "status": derived_status(run.path, info),
        **{name: clocks.get(name, 0) for name in CLOCKS},
        "path": str(run.path),
        "config": _parsed(run),
        "provenance": run.provenance(),
        "events": run.events(),
        "evaluations": _evaluations(run),
        "checkpoints": _checkpoints(run, info["checkpoints"]["best"]),
        "checkpoint": _described(checkpoint.find(run.path, which)) if which else None,
    }


def rows(
    ref: str = "@last",
    names: Sequence[str] = (),
    *,
    last: int | None = None,
    runs_dir: Where = None,
) -> list[dict[str, float]]:
    """The metric record, each row with the keys it has; with `names`, those and the clocks."""
    from gymnast.metrics.store import MetricStore

    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    with MetricStore(run.path / "metrics.db") as record:
        found = list(record.rows(last))
    if not names:
        return found
    wanted = _columns(run, names, dict.fromkeys(key for row in found for key in row))
    return [{key: row[key] for key in wanted if key in row} for row in found]


def rows_csv(
    ref: str = "@last",
    names: Sequence[str] = (),
    *,
    last: int | None = None,
    runs_dir: Where = None,
) -> str:
    """The same as CSV: a column per key, an empty cell where a row has no such key."""
    from gymnast.metrics.export import to_csv
    from gymnast.metrics.store import MetricStore

    run, _ = store.resolve(ref, store.runs_dir(runs_dir))
    with MetricStore(run.path / "metrics.db") as record:
        head, *lines = csv.reader(io.StringIO(to_csv(record)))
    places = (
        [head.index(name) for name in _columns(run, names, head)] if names else range(len(head))
    )
    text = io.StringIO()
    chosen = [head, *(lines if last is None else lines[-last:])]
    csv.writer(text, lineterminator="\n").writerows([line[i] for i in places] for line in chosen)
    return text.getvalue()


def compare(refs: Sequence[str], x: str = "vec_steps", *, runs_dir: Where = None) -> dict[str, Any]:
    """Scores, curves over the clock `x`, areas under them and differences of the configs."""
    from gymnast.insight.compare import compare as side_by_side

    directory = store.runs_dir(runs_dir)
    return side_by_side([store.resolve(ref, directory)[0] for ref in refs], x)


def _columns(run: Run, names: Sequence[str], known: Collection[str]) -> list[str]:
    """The clocks and the names asked for, each of which must occur in a record that has rows."""
    from gymnast.metrics.specs import closest

    for name in names:
        if known and name not in known:
            problem = f"run {run.id} has no metric {name!r}{closest(name, known)}"
            raise UsageError(problem, fix=f"`gymnast rows {run.id} --last 1` has them all")
    return [key for key in (*(f"clock/{clock}" for clock in CLOCKS), *names) if key in known]


def _evaluations(run: Run) -> list[dict[str, float]]:
    from gymnast.insight.compare import evaluation_curve

    steps, returns = evaluation_curve(run, "env_steps")
    return [{"env_steps": s, "return": r} for s, r in zip(steps, returns, strict=True)]


def _checkpoints(run: Run, best: int | None) -> dict[str, Any]:
    """The best and the latest that load; what is damaged is said, not hidden."""
    available = checkpoint.steps(run.path)
    found: dict[str, Any] = {"best": None, "latest": None, "steps": list(available), "damaged": []}
    for word in ("latest", "best"):
        if not available or (word == "best" and best is None):
            continue
        try:
            loaded = checkpoint.find(run.path, word)
        except CheckpointError as error:
            found["damaged"].append(str(error))
        else:
            found[word] = _described(loaded)
            found["damaged"] += loaded.skipped
    return found


def _described(found: checkpoint.Checkpoint) -> dict[str, Any]:
    sha256 = checkpoint.weights_sha256(found.manifest)
    return {"step": found.step, "path": str(found.path), "sha256": sha256}


def _parsed(run: Run) -> dict[str, Any]:
    """The config as plain values, whatever version of gymnast wrote it."""
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).load(run.config()) or {}
