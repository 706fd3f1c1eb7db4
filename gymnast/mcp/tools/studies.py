"""Hyperparameter searches through the tools for runs: `train` starts and resumes a study, `runs` and `wait`
show it by its name, `control` stops it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, cast

from gymnast import api
from gymnast.config.source import Source
from gymnast.errors import ConfigError
from gymnast.jobs.queue import max_jobs
from gymnast.jobs.status import RunStatus
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import POLL_SECONDS, ToolContext
from gymnast.mcp.limits import MINUTES, flat, refuse_long_queue
from gymnast.mcp.problem import Problem, ToolError
from gymnast.mcp.shape import call_text, fields, rounded
from gymnast.sweep.record import StartedSweep, SweepSummary, TrialRecord

DEFAULT = "default"
"""The space that ships with gymnast for the algorithm of a target."""
CONFIRM_SEEDS = 3
RUN_SHARE = 0.5 / (2 * CONFIRM_SEEDS)
"""Share of the allowed minutes that one run may take: the confirmation trains the winner and the baseline on
each seed, and half of the time is for the search."""
START_SECONDS = 15.0
"""How long a call waits for the process of a study to start."""


def find(context: ToolContext, ref: str) -> SweepSummary | None:
    """Returns the study with this name; None if there is none."""
    return next((one for one in context.ask(api.sweep_list) if one.name == ref), None)


def start(
    context: ToolContext,
    target: str,
    space: str,
    overrides: Mapping[str, object],
    *,
    trials: int | None,
    source: str,
    name: str,
) -> Answer:
    """Starts a search. `space`: a search space in YAML, or `default`; `overrides`: settings of all trials."""
    refuse_long_queue(context, 1)
    text = context.ask(api.sweep_init, target).text if space == DEFAULT else space
    minutes = context.options.max_minutes
    run_minutes = float(f"{RUN_SHARE * minutes:.4g}")
    started = context.ask(
        api.sweep_start,
        _limited_space(text, target, overrides, run_minutes),
        name=name,
        source=source,
        trials=trials,
        minutes=minutes,
        run_minutes=run_minutes,
        jobs=max_jobs(context.options.max_jobs),
    )
    plan = started.plan
    assert plan is not None  # it is new
    content: dict[str, object] = {
        **_started(started),
        "trials": plan.trials,
        "parameters": plan.parameters,
        "env_steps": plan.env_steps + plan.confirm_env_steps,
        "minutes": plan.minutes,
        "minutes_limit": minutes,
    }
    _wait_for_process(context, started.name)
    about = f"{plan.trials} trials of {plan.target}, about {rounded(plan.minutes)} minutes"
    follow = call_text("wait", runs=[started.name])
    return Answer(f"started study {started.name}: {about}", content, next=follow)


def resume(context: ToolContext, study: SweepSummary) -> Answer:
    """Continues a study that was stopped; its time is limited like that of a new one."""
    if study.status == "finished":
        problem = f"the study {study.name} is over: {study.reason}"
        fix = call_text("runs", run=study.name)
        raise ToolError(Problem("run", problem, at="train.resume", fix=fix))
    refuse_long_queue(context, 1)
    minutes = study.seconds / 60 + context.options.max_minutes
    started = context.ask(api.sweep_resume, study.name, minutes=minutes)
    _wait_for_process(context, study.name)
    summary = f"resumed study {study.name} ({study.trials} trials so far)"
    return Answer(summary, _started(started), next=call_text("wait", runs=[study.name]))


def stop(context: ToolContext, study: SweepSummary) -> Answer:
    """Stops a study and its runs; all of them can be resumed."""
    stopped = context.ask(api.sweep_stop, study.name)
    content = {"done": stopped.status != "running", "study": _brief(stopped)}
    resume_call = call_text("train", resume=study.name)
    return Answer(f"stopped study {study.name}: {stopped.status}", content, next=resume_call)


def show(context: ToolContext, study: SweepSummary) -> Answer:
    """Returns how far a study is, its best trials, and its winner on fresh seeds."""
    found = context.ask(api.sweep_status, study.name)
    ranked = sorted((one for one in found.trials if one.value is not None), key=lambda o: o.rank)
    content: dict[str, object] = {
        "total": len(found.trials),
        "study": _brief(study),
        "objective": found.objective,
    }
    if ranked:
        best = context.ask(api.sweep_best, study.name)
        confirmed = best.confirmation
        content["verdict"] = best.unconfirmed if confirmed is None else confirmed.verdict
        content["best"] = {"trial": best.trial.number, "settings": best.trial.overrides}
        content["command"] = best.command
    content["trials"] = [_trial(one) for one in ranked]
    follow = call_text("wait", runs=[study.name]) if study.status == "running" else ""
    listing = Listing("trials", total=len(ranked))
    return Answer(status_text(study), content, listing=listing, next=follow)


def statuses(context: ToolContext, refs: Sequence[str]) -> list[RunStatus]:
    """Returns the status of every study among these names, in the words of runs."""
    return [_status(one) for one in context.ask(api.sweep_list) if one.name in refs]


def _status(study: SweepSummary) -> RunStatus:
    words = {"running": "running", "interrupted": "stopped", "finished": "finished"}
    reason = study.reason or f"{study.trials} of {study.planned_trials} trials"
    return RunStatus(study.name, words[study.status], reason, study.path)


def status_text(study: SweepSummary) -> str:
    """Returns status and best value of a study in one line."""
    values = [
        f"{name} {rounded(value)}"
        for name, value in (("best", study.best_value), ("baseline", study.baseline_value))
        if value is not None
    ]
    trials = f"{study.trials} of {study.planned_trials} trials"
    return f"study {study.name} {study.target}: {', '.join([study.status, trials, *values])}"


def _wait_for_process(context: ToolContext, name: str) -> None:
    """Waits until the process of a study works on it, so that the next call does not take it for stopped."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and not context.cancelled.is_set():
        study = find(context, name)
        if study is None or study.status != "interrupted":
            return
        time.sleep(POLL_SECONDS)


def _limited_space(
    text: str, target: str, overrides: Mapping[str, object], run_minutes: float
) -> str:
    """Returns a space whose target and settings are those of the call, and which gives no run more than the
    allowed minutes."""
    try:
        data: Any = Source.parse(text).data
    except ConfigError as error:
        raise ToolError(Problem("config", str(error), at="train.search")) from None
    if not isinstance(data, dict):
        fix = f"write {DEFAULT!r}, or `target`, `settings` and `parameters` in YAML"
        raise ToolError(Problem("config", "search is no space", at="train.search", fix=fix))
    space = cast("dict[str, Any]", data)
    chosen: dict[str, object] = {**(space.get("settings") or {}), **flat(overrides)}
    asked = chosen.get(MINUTES)
    if not isinstance(asked, int | float) or not 0 < asked <= run_minutes:
        chosen.pop(MINUTES, None)  # the limit of the server is not a setting of the winner
    search = {**(space.get("search") or {}), "confirm": 1, "confirm_seeds": CONFIRM_SEEDS}
    space |= {"target": space.get("target") or target, "settings": chosen, "search": search}
    return json.dumps(space, indent=1)


def _started(started: StartedSweep) -> dict[str, object]:
    return {"started": 1, "runs": [{"id": started.name, "kind": "study"}], "study": started.name}


def _brief(study: SweepSummary) -> dict[str, object]:
    names = ("name", "status", "reason", "target", "trials", "planned_trials", "env_steps")
    more = ("seconds", "best", "best_value", "baseline_value", "confirmed", "problem")
    return fields(study, (*names, *more))


def _trial(trial: TrialRecord) -> dict[str, object]:
    runs: Sequence[str] = [one.run for one in trial.seeds if one.run]
    brief = fields(trial, ("number", "state", "value", "env_steps", "problem"))
    settings = "baseline" if trial.is_baseline else dict(trial.overrides)
    return {**brief, "settings": settings, "seeds": len(trial.seeds), "runs": runs}
