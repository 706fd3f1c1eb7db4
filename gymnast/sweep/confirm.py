"""Trains the best trials again on fresh seeds, together with the baseline, and says whether they are better.

The best of many noisy results is partly luck. Its value on the seeds that selected it is too high on
average; only seeds that no decision has seen give an honest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gymnast.insight.improvement import (
    Improvement,
    MeanInterval,
    SideScores,
    improvement,
    over_seeds,
)
from gymnast.runs.run import read_info
from gymnast.sweep.decide import BASELINE, Plan
from gymnast.sweep.history import History, Unit, seed_results, value_at
from gymnast.sweep.record import Confirmation, ConfirmedTrial
from gymnast.sweep.standings import standings
from gymnast.sweep.state import StudyState
from gymnast.text.formatting import count_noun


def confirmation_units(plan: Plan, search: History) -> list[Unit]:
    """Returns the units of the confirmation: the baseline and the best trials, on every fresh seed; none if
    there is nothing to compare, or if the study does not confirm."""
    options = plan.options
    if options.mode == "pbt" or not options.confirm or not options.confirm_seeds:
        return []
    chosen = confirmed_trials(plan, search)
    # Seed by seed, so that an interrupted confirmation has compared all of them on some seeds.
    return [
        Unit(0, trial, seed, plan.budget)
        for seed in range(options.confirm_seeds)
        for trial in chosen
    ]


def confirmed_trials(plan: Plan, search: History) -> list[int]:
    """Returns the baseline and the best trials that have trained to the end; none if only the baseline
    has."""
    complete = [
        one.trial
        for one in standings(search, plan.objective, plan.rungs)
        if one.rung == len(plan.rungs) and any(value is not None for value in one.values)
    ]
    best = [trial for trial in complete if not is_baseline(plan, trial)][: plan.options.confirm]
    if not best:
        return []
    return [BASELINE, *best] if plan.options.baseline else best


def is_baseline(plan: Plan, trial: int) -> bool:
    """True if a trial is the target without any change."""
    return plan.options.baseline and trial == BASELINE


def confirmation(plan: Plan, state: StudyState, runs_dir: Path) -> Confirmation | None:
    """Returns the result of the confirmation; None if it has no result yet."""
    history = state.confirm
    stopped = _stopped_seeds(history)
    results = {
        trial: kept
        for trial, seeds in seed_results(history, plan.budget).items()
        if (kept := {seed: one for seed, one in seeds.items() if seed not in stopped})
    }
    if not results:
        return None
    values = {
        trial: [value_at(one, plan.objective, plan.budget, plan.budget) for one in seeds.values()]
        for trial, seeds in results.items()
    }
    worst = min((v for own in values.values() for v in own if v is not None), default=0.0)
    sides: list[ConfirmedTrial] = []
    for trial, seeds in results.items():
        own = [worst if value is None else value for value in values[trial]]
        runs = tuple(one.measured.run for one in seeds.values())
        scores = [score for run in runs if (score := _score(runs_dir / run)) is not None]
        mean = over_seeds(own)
        assert mean is not None  # there is at least one seed
        sides.append(
            ConfirmedTrial(
                trial,
                is_baseline(plan, trial),
                tuple(own),
                mean,
                tuple(scores),
                over_seeds(scores),
                runs,
            )
        )
    sides.sort(key=lambda one: (-one.value.mean, not one.is_baseline))
    return replace(_judged(sides, history), shortened=_shortened(plan, state))


def _stopped_seeds(history: History) -> set[int]:
    """Returns the fresh seeds on which not all trials were trained to the end: those say nothing about the
    others."""
    newest = {(unit.trial, unit.seed): unit.number for unit in history.units}
    results = {key: history.results.get(number) for key, number in newest.items()}
    return {seed for (_, seed), one in results.items() if one is None or one.ended == "stopped"}


def _shortened(plan: Plan, state: StudyState) -> str:
    """Returns why there are fewer fresh seeds than planned; empty if there are as many."""
    seeds, planned = state.confirm_seeds, plan.options.confirm_seeds
    if seeds is None or seeds >= planned:
        return ""
    return f"{seeds} of {planned} fresh seeds: the time did not allow more"


def _judged(sides: Sequence[ConfirmedTrial], history: History) -> Confirmation:
    """Returns the confirmation with its verdict."""
    winner = sides[0]
    baseline = next((one for one in sides if one.is_baseline), None)
    found: Improvement | None = None
    if baseline is not None and winner is not baseline:
        found = improvement(_side(winner), _side(baseline))
    measured = history.results.values()
    return Confirmation(
        tuple(sides),
        winner.trial,
        found.difference if found else None,
        found.exceeds_noise if found else None,
        _verdict(winner, baseline, found),
        sum(one.env_steps for one in measured),
        sum(one.seconds for one in measured),
    )


def _side(confirmed: ConfirmedTrial) -> SideScores:
    name = "baseline" if confirmed.is_baseline else f"trial {confirmed.trial}"
    return SideScores(name, {"": confirmed.values})


def _verdict(
    winner: ConfirmedTrial, baseline: ConfirmedTrial | None, found: Improvement | None
) -> str:
    seeds = count_noun(len(winner.values), "fresh seed")
    if baseline is None:
        return f"trial {winner.trial} scores {_text(winner.value)} on {seeds}; there is no baseline"
    if found is None or found.difference is None:
        return f"no trial is better than the baseline on {seeds}: keep the settings as they are"
    difference = f"better than the baseline by {_text(found.difference)} on {seeds}"
    if found.exceeds_noise is None:
        return f"trial {winner.trial} is {difference}; {found.problem}"
    if not found.exceeds_noise:
        return (
            f"trial {winner.trial} is {difference}, which does not exceed the noise between seeds"
        )
    caution = f" ({found.caution})" if found.caution else ""
    return f"trial {winner.trial} is {difference}, which exceeds the noise between seeds{caution}"


def _text(value: MeanInterval) -> str:
    interval = "" if value.low is None else f" [{value.low:.4g}, {value.high:.4g}]"
    return f"{value.mean:.4g}{interval}"


def _score(path: Path) -> float | None:
    """Returns the mean return of a run on held-out episodes; None if it has none."""
    if not path.name or not (path / "run.json").exists():
        return None
    score = read_info(path)["score"]
    return None if score is None else score["mean"]
