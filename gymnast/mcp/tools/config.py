"""The tool `config`: checks and explains settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated

from gymnast import api
from gymnast.api.config import Settings
from gymnast.api.training import TrainingPlan
from gymnast.config.form import FormField, SettingsForm
from gymnast.mcp.answer import Answer, Listing
from gymnast.mcp.context import ToolContext
from gymnast.mcp.limits import assignments, flat
from gymnast.mcp.problem import ToolError, unknown
from gymnast.mcp.shape import call_text

SHOWN_FACTS = ("facts.threshold", "facts.optimum")
"""Facts about the environment that are shown with its settings."""


def config(
    context: ToolContext,
    target: Annotated[str, "ENV[:variant] or a run"],
    overrides: Mapping[str, object] | None = None,
    algo: str = "",
    keys: Annotated[Sequence[str], "explain these settings: algo.lr, stop.*"] = (),
    against: Annotated[str, "a preset or run to diff with"] = "",
    dry_run: Annotated[bool, "also create the environment and the network"] = False,
) -> Answer:
    """Validates settings and shows what differs from the defaults, and why. Starts nothing."""
    chosen = flat(overrides or {})
    if against:
        return _difference(context, target, against)
    run = "" if dry_run else _run_preset(context, target)
    form = None
    if not dry_run:
        form = context.ask(
            api.settings_form, run or target, algo=algo or None, overrides=assignments(chosen)
        )
    # Without a preset, only creating the environment shows whether it exists.
    if form is None or (form.space_defaults and not run and not keys and not form.problems):
        plan = context.ask(api.dry_run, target, overrides=chosen, algo=algo or None)
        return _planned(target, chosen, plan)
    settings = context.ask(api.config_show, target, chosen) if run else None
    if keys:
        return _explained(form, keys, settings)
    return _checked(target, form, settings.values if settings else {}, chosen)


def _run_preset(context: ToolContext, target: str) -> str:
    """Returns the preset of a run; empty if the target is not a run."""
    try:
        return context.ask(api.show, target).preset
    except ToolError:
        return ""


def _fields(form: SettingsForm) -> list[FormField]:
    return [field for section in form.sections for field in section.fields]


def _checked(
    target: str,
    form: SettingsForm,
    values: Mapping[str, object],
    overrides: Mapping[str, object],
) -> Answer:
    """Returns whether the overrides are valid, and every setting that is not a default."""
    problems = [problem.message for problem in form.problems]
    fields = [
        field
        for field in _fields(form)
        if not field.key.startswith("facts.") or field.key in SHOWN_FACTS
    ]
    ineffective = [
        f"{field.key} applies only {field.condition}"
        for field in fields
        if field.key in overrides and not field.applies and field.condition
    ]
    changed = {
        field.key: field.text
        for field in fields
        if field.layer not in ("default", "space") and field.applies
    }
    if values:
        differing = {field.key: values.get(field.key) for field in fields if field.key in values}
        changed = {
            field.key: differing[field.key]
            for field in fields
            if field.key in differing and differing[field.key] != field.default and field.applies
        }
    content = {
        "valid": not problems,
        "problems": problems,
        "ineffective": ineffective,
        "target": form.target,
        "changed": len(changed),
        "settings": changed,
    }
    state = "valid" if not problems else f"{len(problems)} problems: {problems[0]}"
    summary = f"{target}: {state}; {len(changed)} of {len(fields)} settings are not defaults"
    arguments = {"target": form.target} | ({"overrides": dict(overrides)} if overrides else {})
    follow = call_text("train", **arguments) if not problems and not values else ""
    return Answer(
        summary, content, next=follow or call_text("config", target=target, keys=["algo.*"])
    )


def _explained(form: SettingsForm, keys: Sequence[str], of_run: Settings | None) -> Answer:
    """Returns the meaning, the value and the origin of settings. `of_run`: those of a run, whose values may
    differ from its preset."""
    fields = _fields(form)
    known = [field.key for field in fields]
    for pattern in keys:
        if not any(fnmatchcase(key, pattern) for key in known):
            fix = call_text("find", query=pattern, kind="setting")
            problem = f"no setting matches {pattern!r}"
            raise unknown(pattern, known, problem, at="config.keys", fix=fix, code="config")
    matching = [f for f in fields if any(fnmatchcase(f.key, pattern) for pattern in keys)]
    listed = [
        {
            "key": field.key,
            "value": of_run.values.get(field.key) if of_run else field.text,
            "default": field.default,
            "origin": of_run.provenance.get(field.key, "default") if of_run else field.origin,
            "doc": field.doc,
            "choices": field.choices,
            "low": field.low,
            "high": field.high,
            "live": field.live or None,
            "schedulable": field.schedulable or None,
            "applies": None if field.applies else f"only {field.condition}",
        }
        for field in matching
    ]
    return Answer(
        f"{len(listed)} settings of {form.target}: {', '.join(known for known in _names(listed))}",
        {"valid": not form.problems, "total": len(listed), "settings": listed},
        listing=Listing("settings", total=len(listed)),
    )


def _names(listed: Sequence[Mapping[str, object]]) -> list[str]:
    return [f"{one['key']}={one['value']}" for one in listed[:4]]


def _difference(context: ToolContext, target: str, other: str) -> Answer:
    found = context.ask(api.config_diff, target, other)
    rows = {one.key: [one.a, one.b] for one in found}
    return Answer(
        f"{len(rows)} settings differ between {target} and {other}",
        {"valid": True, "differences": len(rows), "sides": [target, other], "settings": rows},
        next=call_text("compare", runs=[target, other]),
    )


def _planned(target: str, overrides: Mapping[str, object], plan: TrainingPlan) -> Answer:
    """Returns what a training would do."""
    found = plan.preflight
    content = {
        "valid": True,
        "preset": found.preset,
        "seeds": plan.seeds,
        "observation": found.observation,
        "action": found.action,
        "network": found.network,
        "parameters": found.parameters,
        "engine": found.engine,
        "n_envs": found.n_envs,
        "budget": found.budget,
        "threshold": found.threshold,
        "stops": found.stops,
        "warnings": found.warnings,
        "settings": {one.key: one.value for one in found.settings},
    }
    summary = f"{found.preset} would train {found.network} for {dict(found.budget)}"
    arguments = {"target": target} | ({"overrides": dict(overrides)} if overrides else {})
    return Answer(summary, content, next=call_text("train", **arguments))
