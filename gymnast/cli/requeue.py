"""`gymnast train ... --name NAME --requeue`: starts the run with this name, or continues it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from gymnast.cli.training import Show, overrides, resume_one
from gymnast.config.serialize import diff
from gymnast.errors import ConfigError, UsageError
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.prepare import prepare


def resume_by_name(
    target: str, options: Mapping[str, Any], runs_dir: str | None, show: Show
) -> dict[str, Any] | None:
    """Resumes the run with this name unless it is finished; returns its summary, None if there is none."""
    name = options["name"]
    if not name:
        raise UsageError("--requeue needs the name of a run", fix="add --name NAME")
    with_name = [run for run in store.list_runs(store.runs_dir(runs_dir)) if run.name == name]
    if not with_name:
        return None
    run = Run(store.runs_dir(runs_dir) / with_name[0].id)
    _refuse_other_settings(run, target, options)
    info = run.info
    if (
        info["status"] == "finished"
    ):  # a scheduler may start the job once more after its last segment
        if show != "nothing":
            click.echo(f"{name} ({run.id}) is finished: {info['reason']}")
        return {key: info[key] for key in ("id", "name", "preset", "solved", "reason", "score")}
    return resume_one(
        run.id,
        {},
        at="latest",
        optimizer=True,
        label=Label(),
        runs_dir=runs_dir,
        debug=options["debug"],
        show=show,
        pinned=options["pinned"],
    )


def _refuse_other_settings(run: Run, target: str, options: Mapping[str, Any]) -> None:
    """Raises ConfigError if this command line means other settings than the stored ones, which would be
    ignored silently."""
    prepared = prepare(target, overrides(options), options["algo"])
    prepared.collector.close()
    stored = run.config()
    differences = [
        f"{key}: {before} in the run, {now} here"
        for key, before, now in diff(stored, prepared.resolved.config)
    ]
    if differences:
        problem = f"run {run.id} has the name {options['name']!r} and other settings"
        fix = f"choose another name, or use: gymnast resume {run.id}"
        raise ConfigError([problem, *differences], fix=fix)
