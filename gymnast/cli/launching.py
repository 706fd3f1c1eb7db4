"""Training in other processes: a group of seeds, or in the background."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import click

from gymnast.cli.options import echo_json
from gymnast.cli.training import overrides
from gymnast.config.sections.stop import BUDGETS
from gymnast.errors import UsageError
from gymnast.jobs import queue
from gymnast.jobs.detach import start
from gymnast.jobs.standing import living_jobs
from gymnast.launch import group_result
from gymnast.launch import train_group as launch_group
from gymnast.runs import store
from gymnast.runs.run import check_name
from gymnast.text.wording import counted
from gymnast.training.prepare import prepare
from gymnast.training.rescore import find


def detach(target: str, options: dict[str, Any], runs_dir: str | None, *, as_json: bool) -> int:
    """Whatever is wrong is said now; then one job, or one per seed."""
    if options["dry_run"] or (options["name"] and options["seeds"]):
        raise UsageError("--detach goes without --dry-run, and --seeds without --name")
    directory, limit = store.runs_dir(runs_dir), queue.limit(options["max_jobs"])
    check_name(options["name"])
    store.refuse_taken(options["name"], directory)
    taken = [
        job for job in living_jobs(directory) if options["name"] and job["name"] == options["name"]
    ]
    if taken:
        raise UsageError(f"{options['name']!r} is job {taken[0]['id']} already")
    if options["source"]:
        find(options["source"], runs_dir)
    prepared = prepare(target, overrides(options), options["algo"])
    prepared.preflight()
    prepared.collector.close()
    first, several = prepared.resolved.config.seed, options["seeds"]
    group = f"g{secrets.token_hex(4)}" if several else None
    arguments = _arguments(options)
    for option in ("name", "group"):
        value = options["name"] if option == "name" else group
        arguments += [f"--{option}", value] if value else []
    started = [
        start(
            target,
            arguments=[*arguments, "--seed", str(seed)],
            runs_dir=directory,
            limit=limit,
            name=options["name"],
            group=group,
            seed=seed,
        )
        for seed in range(first, first + (several or 1))
    ]
    if as_json:
        echo_json({"group": group, "jobs": started} if several else started[0])
        return 0
    for job in started:
        id = job["id"]
        click.echo(f"job {id} {job['status']}: gymnast logs -f {id} · gymnast stop {id}")
    if group:
        click.echo(f"group {group}: gymnast wait {group} · gymnast stop {group}")
    return 0


def train_group(
    target: str, options: dict[str, Any], runs_dir: str | None, *, as_json: bool, quiet: bool
) -> int:
    """A group of seeds in child processes: seed, seed + 1, ..."""
    if options["dry_run"] or options["name"]:
        raise UsageError("--seeds goes with neither --dry-run nor --name")
    if options["source"]:
        find(options["source"], runs_dir)
    prepared = prepare(target, overrides(options), options["algo"])
    prepared.collector.close()
    first = prepared.resolved.config.seed
    group = launch_group(
        target,
        seeds=range(first, first + options["seeds"]),
        jobs=options["jobs"],
        arguments=_arguments(options),
        runs_dir=store.runs_dir(runs_dir),
        report=None if quiet or as_json else click.echo,
    )
    result = {"group": group.id, **group_result(group.runs)}
    for seed, text in group.errors.items():
        click.echo(f"seed {seed}: {text}", err=True)
    if as_json:
        echo_json(result)
    else:
        click.echo(_group_text(target, result))
    return 130 if group.interrupted else 0 if group.ok else 1


def _arguments(options: Mapping[str, Any]) -> list[str]:
    """The options of this call that every child gets too."""
    arguments = [word for text in options["assignments"] for word in ("--set", text)]
    for name in (*BUDGETS, "algo", "source"):
        if options[name] is not None:
            flag = "from" if name == "source" else name.replace("_", "-")
            arguments += [f"--{flag}", options[name]]
    arguments += [word for name in options["trackers"] for word in ("--track", name)]
    arguments += ["--debug"] if options["debug"] else []
    return arguments + [word for tag in options["tags"] for word in ("--tag", tag)]


def _group_text(target: str, result: Mapping[str, Any]) -> str:
    lines = [f"{target}: {result['solved']} of {counted(result['runs'], 'seed')} solved"]
    for entry in result["scores"]:
        score = entry["score"]
        told = (
            "no score"
            if score is None
            else f"{score['mean']:.5g} [{score['low']:.5g}, {score['high']:.5g}]"
        )
        lines.append(f"  seed {entry['seed']:<4} {entry['id']}  {entry['status']:<9} {told}")
    if result["mean"] is not None:
        interval = "" if result["low"] is None else f" [{result['low']:.5g}, {result['high']:.5g}]"
        lines.append(f"  mean over seeds {result['mean']:.5g}{interval}, IQM {result['iqm']:.5g}")
    lines.append(f"  group {result['group']}: gymnast runs group={result['group']}")
    return "\n".join(lines)
