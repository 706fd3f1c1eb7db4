"""Helpers that train, resume and read small real runs within a test."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.config.families import is_multi_agent
from gymnast.metrics.sinks.console import Console
from gymnast.metrics.specs import METRICS, metric_for_key
from gymnast.metrics.store import MetricStore
from gymnast.runs import checkpoint, inbox, store
from gymnast.runs.match_trace import MatchTrace, read_matches
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, read_traces
from gymnast.training.collectors import open_collector
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.resume import resume
from gymnast.training.lifecycle.start import start_run
from gymnast.training.python_api import train

Row = dict[str, float]

SMALL = {
    "eval.mode": "inline",
    "eval.episodes": 4,
    "eval.confirm_episodes": 4,
    "eval.n_envs": 4,
    "policy.hidden": [16],
    "algo.epochs": 2,
    "algo.batch_size": "50%",
    "stop.solved": "off",
}
"""Settings with which a run takes about a second."""


def train_small(target: str, overrides: dict[str, Any], **more: Any) -> Run:
    """Trains a small run. `target` is a preset, a multi-agent environment, or the name of a scripted one."""
    if "-v" not in target and not is_multi_agent(target.partition(":")[0]):
        target = f"py:tests.scripted:{target}"
    small = SMALL
    if more.get("algo", "ppo") != "ppo":
        small = {key: value for key, value in SMALL.items() if not key.startswith("algo.")}
    return train(target, overrides=small | overrides, quiet=True, **more)


Plan = Mapping[int, Sequence[tuple[str, dict[str, Any]]]]
"""Rollout -> the commands sent at its end: kind and assignments."""


class CommandSender:
    """A console that sends the run the commands of a plan, each at its rollout."""

    def __init__(self, runs_dir: Path, plan: Plan) -> None:
        self.runs_dir, self.plan = runs_dir, dict(plan)

    def write(self, row: Mapping[str, float], alerts: Any) -> None:
        for kind, assignments in self.plan.pop(int(row["clock/rollouts"]), ()):
            run, _ = store.resolve("@last", self.runs_dir)
            inbox.send(run, kind, by="test", assignments=assignments)

    def event(self, event: Mapping[str, Any]) -> None: ...

    def close(self, summary: Any) -> None: ...


def train_with_commands(target: str, overrides: dict[str, Any], plan: Plan) -> Run:
    """Trains a small run that receives the commands of a plan."""
    prepared = prepare(target, SMALL | overrides)
    runs_dir = store.runs_dir()
    with pytest.MonkeyPatch.context() as patch:
        # Rows reach the console at once: otherwise the wall clock would decide when commands are sent.
        patch.setattr("gymnast.metrics.recorder.BATCH_SECONDS", 0.0)
        return start_run(
            prepared.resolved,
            prepared.collector,
            runs_dir,
            console=lambda *_: CommandSender(runs_dir, plan),
        )[0]


def resume_run(
    run: Run,
    overrides: dict[str, Any] | None = None,
    *,
    at: str = "latest",
    optimizer: bool = True,
    label: Label = Label(),  # noqa: B008
) -> Run:
    """Resumes a run and returns it, or the branch if `at` names a checkpoint that is not the newest."""
    return resume(
        run,
        open_collector,
        at=at,
        overrides=overrides or {},
        optimizer=optimizer,
        label=label,
        console=lambda metrics, cfg: Console(
            metrics, title="", budget=cfg.stop.limits(), format_summary=lambda _: "", quiet=True
        ),
    )[0]


def copy_killed_at(run: Run, step: int) -> Run:
    """Returns a copy of a run as if it had been killed right after the checkpoint at `step`."""
    taken = len(list(run.path.parent.glob(f"{run.id}*")))
    copy = Run(run.path.with_name(f"{run.id}{taken}"))
    shutil.copytree(run.path, copy.path)
    for later, path in checkpoint.list_checkpoints(copy.path).items():
        if later > step:
            shutil.rmtree(path)
    for file in (*copy.traces.iterdir(), *copy.matches.glob("*")):
        if step_of(file) > step or file.name.startswith("confirm"):
            file.unlink()
    copy.update(status="running", id=copy.id)
    return copy


def rows(run: Run) -> list[Row]:
    with MetricStore(run.path / "metrics.db") as store:
        return list(store.rows())


def exact_metrics(row: Row) -> Row:
    """Returns the metrics of a row that a repetition must reproduce to the last bit."""
    return {key: value for key, value in row.items() if _is_exact(key)}


def _is_exact(key: str) -> bool:
    name = key.rpartition(":")[2]
    return name not in METRICS or metric_for_key(key).exact


def checkpoint_arrays(
    run: Run, stem: str = "policy", which: str | int = "latest"
) -> dict[str, np.ndarray]:
    return checkpoint.find(run.path, which).tensors(stem)


def same_arrays(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def traces(run: Run, kind: str) -> dict[int, list[Trace]]:
    """Returns step in the file name -> stored episodes of one kind (train, eval, confirm)."""
    files = sorted(run.traces.glob(f"{kind}-*.safetensors"))
    return {step_of(file): read_traces(file) for file in files}


def matches(run: Run, kind: str) -> dict[int, list[MatchTrace]]:
    """Returns step in the file name -> stored matches of one kind."""
    files = sorted(run.matches.glob(f"{kind}-*.safetensors"))
    return {step_of(file): read_matches(file) for file in files}


def step_of(file: Path) -> int:
    return int(file.stem.partition("-")[2])


def same_traces(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(
        _equal(vars(one), vars(other)) for one, other in zip(a, b, strict=True)
    )


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    return np.array_equal(a, b)


def evaluations(run: Run) -> list[tuple[int, int]]:
    """Returns (env steps when the result was recorded, env steps of the evaluated policy), in order."""
    return [
        (int(row["clock/env_steps"]), int(row["eval:clock/env_steps"]))
        for row in rows(run)
        if "eval:clock/env_steps" in row
    ]


def assert_same_run(a: Run, b: Run, *, same_files: bool = True) -> None:
    """Asserts that two runs have the same weights, optimizer, metrics, episodes and scores, bit for bit.

    An extra checkpoint distributes training episodes differently over files: then use `same_files=False`."""
    last, other = (checkpoint.latest(run.path) for run in (a, b))
    assert last.step == other.step
    assert last.stems == other.stems
    for stem in last.stems:
        assert same_arrays(last.tensors(stem), other.tensors(stem)), stem
    for stem in ("metrics", "state"):
        one, two = (_exact_document(c.document(stem)) for c in (last, other))
        assert one == two, stem
    tables = [name for name in last.files if name.endswith(".csv")]
    assert tables
    assert all(last.text(name) == other.text(name) for name in tables)
    assert [exact_metrics(row) for row in rows(a)] == [exact_metrics(row) for row in rows(b)]
    stored = matches if is_multi_agent(a.info["env"]) else traces
    for kind in ("train", "eval", "confirm"):
        here, there = stored(a, kind), stored(b, kind)
        if not same_files:
            here, there = ({0: [t for part in f.values() for t in part]} for f in (here, there))
        assert here.keys() == there.keys() != set(), kind
        assert all(same_traces(here[step], there[step]) for step in here), kind
    past, other_past = (sorted((run.path / "league").glob("*")) for run in (a, b))
    assert [file.name for file in past] == [file.name for file in other_past]
    assert all(x.read_bytes() == y.read_bytes() for x, y in zip(past, other_past, strict=True))
    for field in ("score", "start_score", "checkpoints", "solved", "doubts", "reason", "status"):
        assert a.info[field] == b.info[field], field


def _exact_document(document: dict[str, Any]) -> dict[str, Any]:
    if "clock/seconds" in document:
        return exact_metrics(document)
    document["clock"].pop("seconds")
    for alerts in (document["alerts"], *document["alerts"].get("roles", {}).values()):
        _forget_clocks(alerts)
    return document


def _forget_clocks(alerts: dict[str, Any]) -> None:
    for by_key, name in ((alerts, "ranges"), (alerts["seen"], "tracks")):
        by_key[name] = {
            key: kept for key, kept in by_key[name].items() if exact_metrics({key: 0.0})
        }
    alerts["bad"] = {id: n for id, n in alerts["bad"].items() if _reads_no_clock(id)}
    alerts["alerts"] = [alert for alert in alerts["alerts"] if _reads_no_clock(alert["id"])]


def _reads_no_clock(alert: str) -> bool:
    return _is_exact(alert.rpartition(":")[0])
