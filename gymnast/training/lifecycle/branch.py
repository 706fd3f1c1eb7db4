"""Branches: a new run that continues another exactly, from one of its earlier checkpoints.

The new run contains what the old one would contain if it had been killed right after that checkpoint:
its rows, events, policy snapshots and this checkpoint. Scores of the old run do not count for the new one.
The old run is only read. Traces and films from before the checkpoint stay with the old run.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gymnast.config.config import Config
from gymnast.config.resolve import save
from gymnast.config.serialize import to_plain
from gymnast.metrics.store import MetricStore
from gymnast.runs import checkpoint, document, durable, events, layout, store
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.info import BRANCH
from gymnast.runs.layout import RunFile
from gymnast.runs.run import Run, create_run_dir
from gymnast.runs.run_data import sign_data_dir
from gymnast.selfplay.snapshots import Snapshots
from gymnast.training.lifecycle.label import Label

_INHERITED = ("data", "threshold", "repeatable", "engine")
_COMPARED = ("versions", "cpu")
"""Software and CPU that computed the checkpoint. Resuming compares them with the current ones."""


def has_later_checkpoint(run: Run, saved: Checkpoint) -> bool:
    """True if the run has a later checkpoint than this one, damaged or not."""
    return saved.step < max(checkpoint.list_checkpoints(run.path))


def settings_at(run: Run, saved: Checkpoint) -> tuple[Config, dict[str, str]]:
    """Returns the config that the run had at this checkpoint, and dotted key -> origin of each setting: the
    stored config without the changes that later `resume` commands made."""
    cfg, origins = run.config(), run.provenance()
    rollouts = saved.document("state")["clock"]["rollouts"]
    resumed = [
        e for e in run.events() if e["kind"] == "resumed" and e.get("rollouts", 0) > rollouts
    ]
    changes = [change for event in reversed(resumed) for change in event.get("changes", ())]
    if not changes:
        return cfg, origins
    tree = to_plain(cfg)
    for change in changes:
        _revert(tree, change)
    origin = f"run {run.id} at {saved.step:,} env steps"
    origins |= {change["key"]: origin for change in changes if change["from"] is not None}
    return type(cfg).model_validate(tree), origins


def branch(
    run: Run,
    saved: Checkpoint,
    cfg: Config,
    provenance: Mapping[str, str],
    label: Label,
) -> Run:
    """Creates and returns the new run, ready to be resumed from its latest checkpoint. `saved`: the
    checkpoint of `run` to continue from; `cfg` and `provenance`: the config at that checkpoint and the origin
    of each setting; `label`: name and tags of the new run."""
    runs_dir, info = run.path.parent, run.info
    path = label.claimed_dir or create_run_dir(runs_dir)
    try:
        with durable.explain_os_errors(path), store.reserve_name(label.name, runs_dir):
            _copy_record(run, saved, path)
            created = Run.create(
                runs_dir,
                config_text=save(cfg),
                provenance=provenance,
                preset=info["preset"],
                env=info["env"],
                algo=info["algo"],
                seed=info["seed"],
                name=label.name,
                tags=label.tags,
                group=None,
                parent=run.id,
                parent_step=saved.step,
                parent_kind=BRANCH,
                reserved_dir=path,
                **{key: value for key, value in info.items() if key in (*_INHERITED, *_COMPARED)},
            )
            sign_data_dir(created, run)
            return created
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)  # no run, no directory
        raise


def _copy_record(run: Run, saved: Checkpoint, path: Path) -> None:
    """Copies checkpoints, events, rows and policy snapshots up to the checkpoint into the new run's directory
    `path`."""
    for file in layout.FILES:
        if file in _COPY:
            _COPY[file](run, saved, path)


def _copy_checkpoint(_run: Run, saved: Checkpoint, path: Path) -> None:
    checkpoint.copy(saved, layout.CHECKPOINTS.path(path))


def _copy_events(run: Run, saved: Checkpoint, path: Path) -> None:
    """Copies the events up to the checkpoint into the new run's directory `path`."""
    rollouts = saved.document("state")["clock"]["rollouts"]
    kept = events.events_up_to(run.events(), rollouts)
    lines = b"".join(document.dumps(event).encode() + b"\n" for event in kept)
    durable.write(layout.EVENTS.path(path), lines)


def _copy_metrics(run: Run, saved: Checkpoint, path: Path) -> None:
    """Copies the rows up to the checkpoint into the new run's directory `path`, without rows of an earlier
    attempt at the same rollouts."""
    state = saved.document("state")
    clock = state["clock"]
    with run.metrics() as old, MetricStore(layout.METRICS.path(path), "w") as new:
        for row in old.rows():
            if row["clock/rollouts"] <= clock["rollouts"]:
                new.append(row)
        new.supersede(clock["rollouts"], keep=state.get("late_rows", 0) + (clock["rollouts"] > 0))


_COPY: dict[RunFile, Callable[[Run, Checkpoint, Path], None]] = {
    layout.METRICS: _copy_metrics,
    layout.EVENTS: _copy_events,
    layout.CHECKPOINTS: _copy_checkpoint,
    layout.LEAGUE: lambda run, saved, path: Snapshots(run.path).copy(path, up_to=saved.step),
}
"""File that is `copied` -> the function that copies it up to the checkpoint into the branch's directory."""


def _revert(tree: dict[str, Any], change: Mapping[str, Any]) -> None:
    """Reverts one recorded change (`key`, `from`, `to`) in a nested config, in place."""
    *sections, field = change["key"].split(".")
    if change["from"] is None:  # the whole entry (a rule, a metric) was added
        tree[sections[0]].pop(sections[1] if len(sections) > 1 else field, None)
        return
    place = tree
    for section in sections:
        place = place[section]
    place[field] = change["from"]
