"""Facts about prepared runs, read from their files and not by what the tools and commands use."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.metrics.store import MetricStore
from gymnast.runs.trace import Trace, read_traces


def fact(name: str, run: str, runs: Path, metric: str = "") -> Any:
    """Returns a fact about the run with this name, or about one of its metrics. Of several runs with this
    name, or with names that start with it, the newest counts."""
    folder = _folder(run, runs)
    if not metric:
        return FACTS[name](folder)
    steps, values = _columns(folder, "clock/env_steps", metric)
    known = ~np.isnan(values)
    return METRIC_FACTS[name](steps[known], values[known])


def _folder(name: str, runs: Path) -> Path:
    """Returns the newest run of this name or, if there is none, the newest one whose name starts with it."""
    named = {file.parent: json.loads(file.read_text()) for file in runs.glob("*/run.json")}
    for matches in (lambda n: n == name, lambda n: n.startswith(name)):
        found = [folder for folder, info in named.items() if matches(info.get("name") or "")]
        if found:
            return max(found, key=lambda folder: named[folder]["created"])
    raise SystemExit(f"there is no run {name!r} in {runs}")


def _info(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text())


def _columns(folder: Path, *names: str) -> list[np.ndarray]:
    with MetricStore(folder / "metrics.db", "r") as store:
        columns = store.read(list(names))
    return [columns[name] for name in names]


def _evaluations(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns the env steps of the evaluated policies, and their mean returns."""
    steps, returns = _columns(folder, "eval:clock/env_steps", "eval:episode/return")
    known = ~np.isnan(returns)
    return steps[known], returns[known]


def _best_evaluation_step(folder: Path) -> int:
    steps, returns = _evaluations(folder)
    return int(steps[int(np.argmax(returns))])


def _episodes(folder: Path) -> list[Trace]:
    """Returns the stored episodes of the last evaluation."""
    return read_traces(max(folder.glob("traces/confirm-*.safetensors")))


def _lowest_return(folder: Path) -> float:
    return float(min(np.sum(trace.reward) for trace in _episodes(folder)))


def _worst_step(folder: Path) -> int:
    """Returns the step with the lowest reward of the episode with the lowest return."""
    worst = min(_episodes(folder), key=lambda trace: float(np.sum(trace.reward)))
    return int(np.argmin(worst.reward))


def _worst_seed(folder: Path) -> int:
    """Returns the seed with the lowest score of the group that a run belongs to."""
    group = _info(folder)["group"]
    infos = [json.loads(file.read_text()) for file in folder.parent.glob("*/run.json")]
    return min((i for i in infos if i["group"] == group), key=lambda i: i["score"]["mean"])["seed"]


FACTS: dict[str, Callable[[Path], Any]] = {
    "id": lambda folder: folder.name,
    "env_steps": lambda folder: _info(folder)["clocks"]["env_steps"],
    "status": lambda folder: _info(folder)["status"],
    "score": lambda folder: _info(folder)["score"]["mean"],
    "seed": lambda folder: _info(folder)["seed"],
    "parent": lambda folder: _info(folder)["parent"],
    "tags": lambda folder: _info(folder)["tags"],
    "note": lambda folder: _info(folder)["note"],
    "best_evaluation_step": _best_evaluation_step,
    "best_evaluation": lambda folder: float(_evaluations(folder)[1].max()),
    "n_evaluations": lambda folder: len(_evaluations(folder)[0]),
    "lowest_return": _lowest_return,
    "worst_step": _worst_step,
    "worst_seed": _worst_seed,
}
"""Facts about a run."""
METRIC_FACTS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "first": lambda _, values: float(values[0]),
    "last": lambda _, values: float(values[-1]),
    "lowest": lambda _, values: float(values.min()),
    "highest": lambda _, values: float(values.max()),
    "lowest_step": lambda steps, values: int(steps[values.argmin()]),
    "highest_step": lambda steps, values: int(steps[values.argmax()]),
}
"""Facts about a metric of a run, from its rows: env steps and values."""
