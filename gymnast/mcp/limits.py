"""Limits of a call: the wall time of the training that it starts or allows, and the jobs that wait.

The time of a run is limited by its own setting `stop.minutes`, so that the limit holds whether or not the
server still runs. It counts the wall time of all attempts of a run: whoever resumes a run adds to what it has
used.
"""

from __future__ import annotations

from collections.abc import Mapping

from gymnast import api
from gymnast.config.form import SettingsForm, setting_text
from gymnast.jobs.queue import max_jobs
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import Problem, ToolError
from gymnast.mcp.shape import rounded
from gymnast.runs.details import RunDetails

MINUTES = "stop.minutes"
WAITING_PER_JOB = 8
"""Jobs that may wait in the queue, per job that may train at once."""


def assignments(overrides: Mapping[str, object]) -> list[str]:
    """Returns overrides as KEY=VALUE texts."""
    return [f"{key}={setting_text(value)}" for key, value in flat(overrides).items()]


def flat(overrides: Mapping[str, object]) -> dict[str, object]:
    """Returns overrides with dotted keys: {"stop": {"minutes": 5}} -> {"stop.minutes": 5}."""
    found: dict[str, object] = {}
    for key, value in overrides.items():
        if isinstance(value, Mapping) and value and key != "kwargs" and not key.endswith(".kwargs"):
            found |= {f"{key}.{name}": inner for name, inner in flat(value).items()}  # pyright: ignore[reportUnknownArgumentType]
        else:
            found[key] = value
    return found


def limited_start(
    context: ToolContext, target: str, overrides: Mapping[str, object], algo: str | None
) -> dict[str, object]:
    """Returns the overrides of a new run, with its time limited. Raises ToolError if they ask for more."""
    chosen = flat(overrides)
    form = context.ask(api.settings_form, target, algo=algo, overrides=assignments(chosen))
    return _limited(context, chosen, _minutes(form), 0.0, "a training")


def limited_resume(
    context: ToolContext, run: RunDetails, seconds_used: float, overrides: Mapping[str, object]
) -> dict[str, object]:
    """Returns the overrides of a run that is resumed, with its time limited. `seconds_used`: wall time up to
    the checkpoint. Raises ToolError if they ask for more."""
    chosen = flat(overrides)
    return _limited(context, chosen, _asked(context, run, chosen), seconds_used / 60, run.id)


def limited_change(
    context: ToolContext, run: RunDetails, settings: Mapping[str, object]
) -> dict[str, object]:
    """Returns live changes of settings; one that concerns the budget also limits the time. Raises ToolError
    if it asks for more."""
    chosen = flat(settings)
    if not any(key.startswith("stop.") for key in chosen):
        return chosen
    used = run.clocks.get("seconds", 0.0) / 60
    return _limited(context, chosen, _asked(context, run, chosen), used, run.id)


def refuse_long_queue(context: ToolContext, n_new: int) -> None:
    """Raises ToolError if `n_new` more jobs would make too many wait."""
    waiting = sum(job.status == "queued" for job in context.ask(api.jobs))
    at_once = max_jobs(context.options.max_jobs)
    allowed = WAITING_PER_JOB * at_once
    if waiting + n_new > allowed:
        problem = (
            f"{waiting} jobs wait already, and {n_new} more would exceed the limit of {allowed}"
        )
        fix = "wait for them, stop some, or train fewer seeds"
        raise ToolError(Problem("limit", problem, at="train.seeds", fix=fix))


def _asked(context: ToolContext, run: RunDetails, chosen: Mapping[str, object]) -> float | None:
    """Returns the minutes of a run with these changes: those asked for, else its own; None if unlimited."""
    if MINUTES in chosen:
        text = f"{MINUTES}={setting_text(chosen[MINUTES])}"
        form = context.ask(api.settings_form, run.preset, overrides=[text])
        return _minutes(form)
    value = context.ask(api.config_show, run.id).values.get(MINUTES)
    return float(value) if isinstance(value, int | float) else None


def _minutes(form: SettingsForm) -> float | None:
    """Returns the time limit of a form; None if there is none. Raises ToolError if it is not valid."""
    for problem in form.problems:
        if problem.key == MINUTES:
            raise ToolError(Problem("config", problem.message, at=MINUTES))
    fields = (field for section in form.sections for field in section.fields)
    value = next((field.value for field in fields if field.key == MINUTES), None)
    return float(value) if isinstance(value, int | float) and value is not False else None


def _limited(
    context: ToolContext,
    chosen: dict[str, object],
    asked: float | None,
    used: float,
    what: str,
) -> dict[str, object]:
    """Returns the settings with a time limit that this server allows. `asked`: minutes of the whole run;
    `used`: the minutes that it has used already."""
    allowed = used + context.options.max_minutes
    if asked is not None and asked <= allowed:
        return chosen
    if MINUTES in chosen or (asked is not None and used):
        got = "no limit" if asked is None else f"{rounded(asked)} minutes"
        problem = f"{what} would get {got}, and this server allows {rounded(allowed)}"
        fix = f"set {MINUTES} to at most {rounded(allowed)}; the user may raise --max-minutes"
        raise ToolError(Problem("limit", problem, at=MINUTES, fix=fix))
    return chosen | {MINUTES: float(f"{allowed:.6g}")}
