"""What the training verbs do: prepare, show, train, tell how it ended."""

from __future__ import annotations

import secrets
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import click

from gymnast.cli.options import echo_json
from gymnast.config.resolve import parse_assignment
from gymnast.config.sections.stop import BUDGETS
from gymnast.errors import EnvError, UsageError
from gymnast.jobs import queue
from gymnast.jobs.detach import start
from gymnast.jobs.standing import living_jobs
from gymnast.launch import group_result, keep_on_leash
from gymnast.launch import train_group as launch_group
from gymnast.metrics.sinks.console import Console
from gymnast.runs import store
from gymnast.runs.run import check_name
from gymnast.training.debug import watched
from gymnast.training.prepare import prepare
from gymnast.training.rescore import find
from gymnast.training.resume import resume
from gymnast.training.session import open_collector
from gymnast.training.start import Label, begin
from gymnast.training.summary import end_text, preflight_text

Show = Literal["everything", "ending", "nothing"]
"""What a training prints: the live table and its ending, one line at the end, or nothing."""


def overrides(options: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the command line says about the config, under dotted keys."""
    found = dict(parse_assignment(text) for text in options["assignments"])
    found |= {f"stop.{name}": options[name] for name in BUDGETS if options[name] is not None}
    return found if options.get("seed") is None else found | {"seed": options["seed"]}


def train_as_asked(
    target: str,
    options: Mapping[str, Any],
    runs_dir: str | None,
    *,
    show: Show,
    claimed: Path | None = None,
) -> dict[str, Any]:
    """One training by the options of `gymnast train`; `claimed`: the directory it is to have."""
    with debugging(options["debug"]):
        return train_one(
            target,
            overrides(options),
            algo=options["algo"],
            source=options["source"],
            label=(options["name"], options["group"], options["tags"]),
            runs_dir=runs_dir,
            dry_run=options["dry_run"],
            debug=options["debug"],
            show=show,
            claimed=claimed,
        )


def train_one(
    target: str,
    settings: dict[str, Any],
    *,
    algo: str | None,
    source: str | None,
    label: tuple[str, str | None, tuple[str, ...]],
    runs_dir: str | None,
    dry_run: bool,
    debug: bool,
    show: Show,
    claimed: Path | None = None,
) -> dict[str, Any]:
    """How it ended; after a dry run, what would have happened."""
    keep_on_leash()
    store.refuse_taken(label[0], store.runs_dir(runs_dir))
    parent = find(source, runs_dir) if source else None
    prepared = prepare(target, settings, algo, debug=debug)
    if show == "everything" or dry_run:
        before = prepared.preflight()
        if show != "nothing":
            click.echo(f"{preflight_text(before)}\n")
        if dry_run:
            prepared.collector.close()
            return dict(before)
    name, group, tags = label
    _, summary = begin(
        prepared.resolved,
        prepared.collector,
        store.runs_dir(runs_dir),
        label=Label(name, group, tags, claimed),
        source=parent,
        console=_console(prepared.resolved.preset, show, live=not debug),
        keyboard=show == "everything" and not debug,
        debug=debug,
    )
    return dict(summary)


def resume_one(
    ref: str,
    settings: dict[str, Any],
    *,
    at: str,
    optimizer: bool,
    runs_dir: str | None,
    debug: bool,
    show: Show,
) -> dict[str, Any]:
    run, which = store.resolve(ref, store.runs_dir(runs_dir))
    if which is not None and at != "latest" and which != at:
        raise UsageError(f"{ref} names checkpoint {which}, --at says {at}", fix="give one of them")
    if show == "everything":
        click.echo(f"resuming {run.id} ({run.info['preset']})")
    _, summary = resume(
        run,
        open_collector,
        at=which or at,
        overrides=settings,
        optimizer=optimizer,
        console=_console(run.info["preset"], show, live=not debug),
        keyboard=show == "everything" and not debug,
        debug=debug,
    )
    return dict(summary)


@contextmanager
def debugging(wanted: bool) -> Iterator[None]:
    """With --debug: watched while inside; what goes wrong in an environment is told in full."""
    if not wanted:
        yield
        return
    with watched():
        try:
            yield
        except EnvError as problem:
            click.echo(problem.traceback or traceback.format_exc(), err=True)
            raise


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


def exit_code(result: Mapping[str, Any]) -> int:
    return 130 if result.get("interrupted") else 0


def _console(title: str, show: Show, *, live: bool) -> Any:
    def make(metrics: Any, cfg: Any) -> Console:
        return Console(
            metrics,
            title=title,
            budget=cfg.stop.limits(),
            ending=None if show == "nothing" else end_text,
            quiet=show != "everything",
            live=live,
        )

    return make


def _arguments(options: Mapping[str, Any]) -> list[str]:
    """The options of this call that every child gets too."""
    arguments = [word for text in options["assignments"] for word in ("--set", text)]
    for name in (*BUDGETS, "algo", "source"):
        if options[name] is not None:
            flag = "from" if name == "source" else name.replace("_", "-")
            arguments += [f"--{flag}", options[name]]
    arguments += ["--debug"] if options["debug"] else []
    return arguments + [word for tag in options["tags"] for word in ("--tag", tag)]


def _group_text(target: str, result: Mapping[str, Any]) -> str:
    lines = [f"{target}: {result['solved']} of {result['runs']} seeds solved"]
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
