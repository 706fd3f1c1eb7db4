"""Training in other processes: groups of seeds (`--seeds`) and background jobs (`--detach`)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gymnast.cli.confirmation import DECLINED, confirm_start, require_terminal
from gymnast.cli.options import echo_json
from gymnast.cli.training import overrides
from gymnast.config.sections.stop import BUDGETS
from gymnast.errors import UsageError
from gymnast.evaluation.rescore import find_checkpoint
from gymnast.jobs import queue
from gymnast.jobs.detach import start_job
from gymnast.jobs.groups import GroupResult, group_result
from gymnast.jobs.groups import train_group as launch_group
from gymnast.jobs.status import live_jobs
from gymnast.runs import store
from gymnast.runs.run import check_name
from gymnast.text.formatting import count_noun
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.lifecycle.summary import preflight_text


@dataclass(frozen=True)
class LaunchPlan:
    """The runs to be started: one per seed."""

    seeds: range
    names: tuple[str, ...]
    """Name of the run of each seed; empty for runs without a name."""
    group: str | None
    """Id of the group; None for a single job."""

    @classmethod
    def from_options(cls, options: Mapping[str, Any], first_seed: int) -> LaunchPlan:
        """Returns the plan for the options of `gymnast train`: with --seeds N, a group of the seeds
        `first_seed` to `first_seed + N - 1`, else one run without a group."""
        count, name = options["seeds"], options["name"]
        seeds = range(first_seed, first_seed + (count or 1))
        if count is None:
            return cls(seeds, (name,), None)
        # Names of runs are unique, so each seed gets its own; the plain name becomes that of the group.
        names = tuple(f"{name}-s{seed}" if name else "" for seed in seeds)
        return cls(seeds, names, name or f"g{secrets.token_hex(4)}")

    def check_names_free(self, name: str, directory: Path) -> None:
        """Raises an error if a run or a live job already has the name of the group (`name`, may be
        empty) or of one of its runs."""
        for new_name in dict.fromkeys(n for n in (name, *self.names) if n):
            check_name(new_name)
            store.ensure_name_free(new_name, directory)
            # A queued job has no run yet, so the store does not know its name.
            if jobs := [job for job in live_jobs(directory) if job["name"] == new_name]:
                raise UsageError(f"the name {new_name!r} is taken by job {jobs[0]['id']}")

    def to_dict(self, jobs: int) -> dict[str, Any]:
        names = [name for name in self.names if name]
        return {"seeds": list(self.seeds), "names": names, "jobs": jobs}


def detach(target: str, options: dict[str, Any], runs_dir: str | None, *, as_json: bool) -> int:
    """Starts one background job, or one per seed; every config error is raised before the first
    starts. Returns the exit code."""
    directory, limit = store.runs_dir(runs_dir), queue.max_jobs(options["max_jobs"])
    plan = _agreed_plan(target, options, runs_dir, jobs=limit, as_json=as_json, quiet=True)
    if isinstance(plan, int):
        return plan
    arguments = _arguments(options)
    arguments += ["--group", plan.group] if plan.group else []
    started = [
        start_job(
            target,
            arguments=[*arguments, *(["--name", name] if name else []), "--seed", str(seed)],
            runs_dir=directory,
            limit=limit,
            name=name,
            group=plan.group,
            seed=seed,
        )
        for seed, name in zip(plan.seeds, plan.names, strict=True)
    ]
    group = plan.group
    if as_json:
        echo_json({"group": group, "jobs": started} if group else started[0])
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
    """Trains a group of seeds (seed, seed + 1, ...) in child processes; returns the exit code."""
    jobs = options["jobs"]
    plan = _agreed_plan(target, options, runs_dir, jobs=jobs, as_json=as_json, quiet=quiet)
    if isinstance(plan, int):
        return plan
    group = launch_group(
        target,
        seeds=plan.seeds,
        jobs=jobs,
        arguments=_arguments(options),
        runs_dir=store.runs_dir(runs_dir),
        group=plan.group,
        names=plan.names,
        report=None if quiet or as_json else click.echo,
    )
    result = group_result(group.runs)
    for seed, text in group.errors.items():
        click.echo(f"seed {seed}: {text}", err=True)
    if as_json:
        echo_json({"group": group.id, **vars(result)})
    else:
        click.echo(_group_text(target, group.id, result))
    return 130 if group.interrupted else 0 if group.ok else 1


def _agreed_plan(
    target: str,
    options: Mapping[str, Any],
    runs_dir: str | None,
    *,
    jobs: int,
    as_json: bool,
    quiet: bool,
) -> LaunchPlan | int:
    """Returns the runs to start, after the config and the names have been checked; or an exit code if
    nothing is to be started: after a dry run, or if the answer to --ask is no."""
    dry_run, ask = options["dry_run"], options["ask"]
    if ask:
        require_terminal()
    if options["source"]:
        find_checkpoint(options["source"], runs_dir)  # raises now rather than in every child
    prepared = prepare(target, overrides(options), options["algo"])
    try:
        preflight = prepared.preflight()
    finally:
        prepared.collector.close()  # the children open their own environments
    plan = LaunchPlan.from_options(options, prepared.resolved.config.seed)
    plan.check_names_free(options["name"], store.runs_dir(runs_dir))
    if dry_run and as_json:
        echo_json({**vars(preflight), **plan.to_dict(jobs)})
    elif dry_run or ask or not quiet:
        click.echo(f"{preflight_text(preflight)}\n{_plan_text(plan, jobs)}", err=as_json)
    if dry_run:
        return 0
    return plan if not ask or confirm_start() else DECLINED


def _plan_text(plan: LaunchPlan, jobs: int) -> str:
    """Returns a line with the seeds and names of a group, and how many of its runs train at the
    same time (`jobs` at most); "" for a single run."""
    count = len(plan.seeds)
    if plan.group is None:
        return ""
    seeds = f"seed {plan.seeds[0]}" if count == 1 else f"seeds {plan.seeds[0]} to {plan.seeds[-1]}"
    at_once = f", {min(jobs, count)} at a time" if count > 1 else ""
    names = f", as {plan.names[0]}" if plan.names[0] else ""
    names += f" to {plan.names[-1]}" if names and count > 1 else ""
    return f"  group     {seeds}{at_once}{names}\n"


def _arguments(options: Mapping[str, Any]) -> list[str]:
    """Returns the options of `gymnast train` that every child process (one per seed) gets."""
    # Children get the command line, not the resolved config, so that they record `--set` as the origin
    # of a value.
    arguments = [word for text in options["assignments"] for word in ("--set", text)]
    for name in (*BUDGETS, "algo", "source"):
        if options[name] is not None:
            flag = "from" if name == "source" else name.replace("_", "-")
            arguments += [f"--{flag}", options[name]]
    arguments += [word for name in options["trackers"] for word in ("--track", name)]
    arguments += ["--debug"] if options["debug"] else []
    return arguments + [word for tag in options["tags"] for word in ("--tag", tag)]


def _group_text(target: str, group: str, result: GroupResult) -> str:
    """Returns the result of a group as text: a line per seed, the mean over seeds, and the command
    that lists its runs. `group`: its id."""
    lines = [f"{target}: {result.solved} of {count_noun(result.runs, 'seed')} solved"]
    for entry in result.scores:
        score = entry.score
        score_text = (
            "no score" if score is None else f"{score.mean:.5g} [{score.low:.5g}, {score.high:.5g}]"
        )
        lines.append(f"  seed {entry.seed:<4} {entry.id}  {entry.status:<9} {score_text}")
    if result.mean is not None:
        interval = "" if result.low is None else f" [{result.low:.5g}, {result.high:.5g}]"
        lines.append(f"  mean over seeds {result.mean:.5g}{interval}, IQM {result.iqm:.5g}")
    lines.append(f"  group {group}: gymnast runs group={group}")
    return "\n".join(lines)
