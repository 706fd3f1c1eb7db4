"""Describes a study as records: what it has decided, measured and found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

from gymnast.config.form import setting_text
from gymnast.config.target import split_target
from gymnast.errors import RunError
from gymnast.records import from_json
from gymnast.runs import files
from gymnast.sweep.confirm import is_baseline
from gymnast.sweep.decide import BASELINE, Plan, env_steps_spent
from gymnast.sweep.executor import run_name
from gymnast.sweep.history import SeedResult, Trial, seed_results, value_at
from gymnast.sweep.parameter import Choices, Parameter
from gymnast.sweep.record import (
    BestTrial,
    Confirmation,
    ParameterRecord,
    SeedRecord,
    StudyStatus,
    SweepStatus,
    SweepSummary,
    TrialRecord,
    TrialState,
)
from gymnast.sweep.standings import Standing, standings
from gymnast.sweep.state import StudyState
from gymnast.sweep.study import LOG, Study
from gymnast.text.formatting import count_noun
from gymnast.text.train_command import train_command

MAX_LOG = 4_000
"""Bytes at the end of a log that are searched for an error."""


def summarize(study: Study, state: StudyState | None = None) -> SweepSummary:
    """Returns a study as an entry of a list."""
    state = state or study.state()
    plan, search = study.plan, state.search
    table = [one for one in standings(search, plan.objective, plan.rungs) if one.rung]
    usable = [one for one in table if any(value is not None for value in one.values)]
    may_compare = plan.options.mode != "pbt"
    base = next((one for one in usable if may_compare and is_baseline(plan, one.trial)), None)
    best = usable[0] if usable else None
    return SweepSummary(
        name=study.name,
        path=str(study.path),
        status=_status(study, state),
        reason=state.ended or _last_error(study),
        target=study.space.target,
        mode=plan.options.mode,
        sampler=plan.options.sampler,
        created=study.created,
        trials=len(search.trials),
        planned_trials=planned_trials(plan),
        units=len(search.results),
        running_units=len(search.units) - len(search.results),
        env_steps=env_steps_spent(search),
        planned_env_steps=max(planned_env_steps(plan), env_steps_spent(search)),
        seconds=state.seconds,
        best=best.trial if best else None,
        best_value=best.shrunk if best else None,
        baseline_value=base.shrunk if base else None,
        confirmed=state.confirmed and study.result() is not None,
        problem=_failed_trials(plan, state),
    )


def describe(study: Study, *, curves: bool = False) -> SweepStatus:
    """Returns a study with all of its trials; with their evaluation curves if `curves`."""
    state = study.state()
    return SweepStatus(
        summary=summarize(study, state),
        objective=study.plan.objective.kind,
        rungs=study.plan.rungs,
        parameters=tuple(map(_parameter, study.space.parameters)),
        trials=tuple(trial_records(study, state, curves=curves)),
    )


def trial_records(study: Study, state: StudyState, *, curves: bool = False) -> list[TrialRecord]:
    """Returns all trials of a study, by number."""
    plan, search = study.plan, state.search
    table = standings(search, plan.objective, plan.rungs)
    by_trial = {one.trial: one for one in table}
    ranks = {one.trial: rank for rank, one in enumerate(table, 1)}
    results = seed_results(search, plan.budget)
    return [
        replace(
            _trial(study, state, trial, by_trial[trial.number], results[trial.number], curves),
            rank=ranks[trial.number],
        )
        for trial in search.trials
    ]


def best_trial(study: Study) -> BestTrial:
    """Returns the best trial of a study: the winner of its confirmation, if there was one. Raises RunError
    if no trial has a result."""
    state = study.state()
    trials = {one.number: one for one in trial_records(study, state)}
    stored = study.result()
    try:
        confirmed = from_json(Confirmation, stored["confirmation"]) if stored else None
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"the result of the study is damaged: {error}", at=str(study.path)) from None
    ranked = sorted(
        (one for one in trials.values() if one.value is not None), key=lambda one: one.rank
    )
    if not ranked:
        problem = _failed_trials(study.plan, state) or "no trial has a result yet"
        raise RunError(f"{study.name}: {problem}", fix=f"gymnast sweep status {study.name}")
    chosen = trials[confirmed.winner] if confirmed else ranked[0]
    overrides = [f"{key}={setting_text(value)}" for key, value in chosen.overrides.items()]
    fixed = [f"{key}={setting_text(value)}" for key, value in study.space.settings.items()]
    return BestTrial(
        study=study.name,
        trial=chosen,
        command=train_command(study.space.target, [*fixed, *overrides]),
        patch=variant_yaml(study, chosen, confirmed),
        confirmation=confirmed,
        unconfirmed="" if confirmed else _why_unconfirmed(study.plan, state),
        env_steps=env_steps_spent(state.search),
        seconds=state.seconds,
    )


def variant_yaml(study: Study, trial: TrialRecord, confirmed: Confirmation | None) -> str:
    """Returns the settings of a trial as a variant for a preset file, with its evidence as comments."""
    from ruamel.yaml import YAML

    env, variant = split_target(study.space.target)
    parent = variant or _default_variant(env)
    lines = [f"# found by the study {study.name}: {len(study.state().search.trials)} trials"]
    if confirmed is not None:
        lines.append(f"# {confirmed.verdict}")
        lines += [f"# {confirmed.shortened}"] if confirmed.shortened else []
    nested: dict[str, object] = {"extends": parent}
    for key, value in {**study.space.settings, **trial.overrides}.items():
        if key in study.settings:
            continue
        at: dict[str, object] = nested
        *sections, name = key.split(".")
        for section in sections:
            at = at.setdefault(section, {})  # pyright: ignore[reportAssignmentType]
        at[name] = value
    from io import StringIO

    out = StringIO()
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 110
    yaml.dump({"variants": {"tuned": nested}}, out)
    return "\n".join([*lines, out.getvalue()])


def planned_trials(plan: Plan) -> int:
    """Returns the number of trials of a study when it is over, the baseline included."""
    if plan.options.mode == "pbt":
        return plan.options.population * plan.options.generations
    return plan.n_trials


def planned_env_steps(plan: Plan) -> int:
    """Returns an estimate of the env steps of a whole search: every trial trains to the first rung, one of
    `eta` to the next, and a few of the complete ones get all seeds."""
    options = plan.options
    if options.mode == "pbt":
        return planned_trials(plan) * plan.budget
    steps, reaching, before = 0.0, float(plan.n_trials), 0
    for rung in plan.rungs:
        steps += max(reaching, 1.0) * (rung - before)
        before, reaching = rung, reaching / options.eta
    steps += (plan.budget - plan.rungs[0]) * options.baseline  # which is not pruned
    contenders = max(1.0, min(4.0, plan.n_trials / options.eta ** (len(plan.rungs) - 1)))
    steps += contenders * (options.seeds - 1) * plan.budget
    total = options.total_env_steps
    return int(steps if total is None else min(steps, total))


def _failed_trials(plan: Plan, state: StudyState) -> str:
    """Returns that most trials with a result have failed, and why; empty if most have a value."""
    ended = [one for one in standings(state.search, plan.objective, plan.rungs) if one.values]
    failed = sorted(one.trial for one in ended if all(value is None for value in one.values))
    if not failed or len(failed) <= len(ended) / 2:
        return ""
    problems = {number: state.search.trials[number].problem for number in failed}
    for unit in state.search.units:
        if unit.number in state.search.results and not problems.get(unit.trial, "none"):
            problems[unit.trial] = state.search.results[unit.number].problem
    first = problems[failed[0]].splitlines()[0] if problems[failed[0]] else "without a message"
    return f"{len(failed)} of {count_noun(len(ended), 'trial')} failed, such as trial {failed[0]}: {first}"


def _why_unconfirmed(plan: Plan, state: StudyState) -> str:
    options = plan.options
    if options.mode == "pbt":
        return "not confirmed on fresh seeds: population-based training has no confirmation"
    if not options.confirm or not options.confirm_seeds:
        return "not confirmed on fresh seeds, as the study was asked to"
    if not state.confirmed:
        return "not confirmed yet on fresh seeds"
    return "not confirmed on fresh seeds: no trial but the baseline has trained to the end"


def _last_error(study: Study) -> str:
    """Returns the error that ended the last process of a study in the background; empty if none did."""
    try:
        with files.open_file(study.path / LOG) as log:
            log.seek(max(log.seek(0, os.SEEK_END) - MAX_LOG, 0))
            text = log.read(MAX_LOG).decode(errors="replace")
    except (OSError, RunError):
        return ""
    _, _, error = text.rpartition("\nerror: ") if "\nerror: " in text else text.partition("error: ")
    ended = [line for line in error.splitlines()[1:] if not line.startswith("  ")]
    return "" if ended or study.is_running else " ".join(error.split())


def _status(study: Study, state: StudyState) -> StudyStatus:
    if study.is_running:
        return "running"
    return "finished" if state.ended and state.confirmed else "interrupted"


def _trial(
    study: Study,
    state: StudyState,
    trial: Trial,
    standing: Standing,
    results: Mapping[int, SeedResult],
    curves: bool,
) -> TrialRecord:
    plan = study.plan
    seeds = tuple(_seeds(study, state, trial, standing, results, curves))
    problems = [trial.problem, *(one.problem for one in seeds)]
    status = _trial_state(plan, standing, seeds)
    has_value = status != "failed"  # what failures count as is no value of theirs
    return TrialRecord(
        number=trial.number,
        is_baseline=trial.assignment is None and trial.number == BASELINE,
        assignment=trial.assignment or {},
        overrides=study.space.overrides(trial.assignment),
        state=status,
        rung=standing.rung,
        rank=0,
        value=standing.shrunk if has_value else None,
        mean=standing.mean if has_value else None,
        spread=standing.spread,
        seeds=seeds,
        env_steps=sum(one.env_steps for one in seeds),
        problem=next((text for text in problems if text), ""),
        source=trial.source,
    )


def _trial_state(plan: Plan, standing: Standing, seeds: tuple[SeedRecord, ...]) -> TrialState:
    if any(one.state == "training" for one in seeds):
        return "training"
    if standing.failed and not any(value is not None for value in standing.values):
        return "failed"
    return "complete" if standing.rung == len(plan.rungs) else "waiting"


def _seeds(
    study: Study,
    state: StudyState,
    trial: Trial,
    standing: Standing,
    results: Mapping[int, SeedResult],
    curves: bool,
) -> list[SeedRecord]:
    plan, search = study.plan, state.search
    at = plan.rungs[max(standing.rung - 1, 0)]
    under_way = {u.seed for u in search.units if u.trial == trial.number} - results.keys()
    under_way |= {
        u.seed for u in search.units if u.trial == trial.number and u.number not in search.results
    }
    found: list[SeedRecord] = []
    for index in sorted({*results, *under_way}):
        result = results.get(index)
        measured = result.measured if result else None
        known = result if result is not None and result.reached >= at else None
        found.append(
            SeedRecord(
                seed=plan.options.seed + index,
                run=measured.run if measured else "",
                name=run_name(study.name, "search", trial.number, index),
                state="training" if index in under_way else measured.ended if measured else "",
                env_steps=measured.env_steps if measured else 0,
                value=value_at(known, plan.objective, at, plan.budget) if known else None,
                problem=measured.problem if measured else "",
                points=tuple(measured.points) if measured and curves else (),
            )
        )
    return found


def _parameter(parameter: Parameter) -> ParameterRecord:
    if isinstance(parameter, Choices):
        ordered = parameter.is_ordered
        choices = tuple(parameter.choices)
        return ParameterRecord(parameter.name, "choice", None, None, False, choices, ordered)
    kind = "int" if parameter.whole else "float"
    low, high = parameter.low, parameter.high
    return ParameterRecord(parameter.name, kind, low, high, parameter.log, (), True)


def _default_variant(env: str) -> str:
    from gymnast.config.presets import find_preset

    return find_preset(env).default_variant
