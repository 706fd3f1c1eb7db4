"""The autotuner: a search around a preset that fits into a number of minutes.

The parameters are those of the algorithm's shipped space, in the order of their importance; a short budget
searches only the first ones. Ranges are narrowed around the values of the preset, which is the baseline.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gymnast.config.config import Config
from gymnast.config.numbers import Share
from gymnast.config.plain_value import PlainValue
from gymnast.config.resolve import resolve
from gymnast.config.schedule import Schedule
from gymnast.config.serialize import flat_values
from gymnast.errors import UsageError
from gymnast.sweep.launch import PreparedStudy, measure, prepare_measured
from gymnast.sweep.objective import TuningGoal
from gymnast.sweep.options import SearchOptions
from gymnast.sweep.parameter import Choices, Parameter
from gymnast.sweep.probe import Probe
from gymnast.sweep.shipped import space_text
from gymnast.sweep.space import Space, Template
from gymnast.sweep.space_file import SpaceFile, parse_space
from gymnast.sweep.space_writer import write_space
from gymnast.sweep.time_limit import START_SECONDS

CONFIRM_SEEDS = 5
WHOLE_RUNS = 30
"""The time allows about this many whole runs: ten to confirm the winner against the baseline, and twenty for
the search, in which most trials stop after a ninth of a run."""
TRIALS_PER_PARAMETER = 4
"""Number of trials that a further parameter needs."""
MIN_PARAMETERS = 2
FACTOR = 5.0
"""How far a logarithmic range extends from the value of the preset, in both directions."""
HEIGHTS = ("peak", "start")
"""First parts of shipped templates that are the highest value of a schedule."""
WHOLE_RUN: dict[str, PlainValue] = {
    f"stop.{name}": "off" for name in ("solved", "train_return", "eval_return", "plateau")
}
"""Settings with which a run trains to the end of its budget: one that stops at a return has that score."""
SPEED_SHARE = 0.6
"""Share of the measured speed that is left after evaluations and checkpoints."""


@dataclass(frozen=True)
class TuningPlan:
    """A search that fits into the time."""

    prepared: PreparedStudy
    shortened: bool
    """Whether runs are shorter than those of the preset, because the time does not allow more."""


def plan_tuning(
    target: str,
    minutes: float,
    *,
    settings: Mapping[str, PlainValue] | None = None,
    jobs: int = 1,
    seed: int = 0,
    objective: TuningGoal = "area",
    runs_dir: Path,
) -> TuningPlan:
    """Returns the search around the preset `target` that takes at most this many minutes, this planning and
    the confirmation included. `settings`: config key -> value that all trials have in common. Raises
    UsageError if the time is too short for a single comparison."""
    started = time.monotonic()
    fixed = {**WHOLE_RUN, **(settings or {})} if objective == "score" else dict(settings or {})
    file = parse_space(space_text(target))
    judged_by = replace(file.objective, kind=objective)
    file = replace(file, space=replace(file.space, settings=fixed, text=""), objective=judged_by)
    measured = measure(file)
    minutes -= (time.monotonic() - started) / 60
    whole = measured.budget
    budget, total = _budgets(measured, minutes, jobs)
    if budget < 10 * measured.n_envs:
        problem = f"{max(minutes, 0.0):.3g} minutes are too short to tune {target}"
        raise UsageError(
            f"{problem}: {measured.steps_per_second:,.0f} env steps/s", fix="--minutes 30"
        )
    trials = _trials(budget, total, minutes, jobs)
    n_parameters = max(MIN_PARAMETERS, trials // TRIALS_PER_PARAMETER)
    if budget < whole:
        # Evaluations in proportion, or a shorter run would have none.
        fixed = {"eval.every": "10%", **fixed, "stop.env_steps": budget}
    resolved = resolve(target, fixed)
    space = shortened(file.space, n_parameters)
    if resolved.has_preset:  # without one, the values are defaults that nobody has chosen for it
        space = narrowed(space, resolved.config)
    space = replace(space, settings=fixed)
    space = replace(space, text=write_space(space, file.objective))
    options = SearchOptions(
        trials=trials,
        rungs=3,  # only about twenty whole runs fit
        total_env_steps=total,
        minutes=minutes,
        seed=seed,
        lookahead=jobs,
        confirm_seeds=CONFIRM_SEEDS,
    )
    tuned = SpaceFile(space, file.objective, {})
    measured = replace(measured, budget=budget)
    prepared = prepare_measured(tuned, options, measured, runs_dir=runs_dir, jobs=jobs)
    return TuningPlan(prepared, budget < whole)


def _budgets(measured: Probe, minutes: float, jobs: int) -> tuple[int, int]:
    """Returns the env steps of a run and of the whole search, that fit into the time."""
    steps = measured.steps_per_second * SPEED_SHARE * 60 * minutes * jobs
    budget = min(measured.budget, int(steps / WHOLE_RUNS))
    budget -= budget % measured.n_envs
    return budget, max(int(steps) - 2 * CONFIRM_SEEDS * budget, 2 * budget)


def _trials(budget: int, total: int, minutes: float, jobs: int) -> int:
    """Returns the number of trials for a number of env steps: a ninth of a run each to the first rung, and
    about as much again for the next rungs. Every unit takes a moment to start."""
    by_steps = 0.65 * total / (budget / 3)
    by_time = 0.75 * 60 * minutes * jobs / (2 * START_SECONDS)
    return max(4, min(int(by_steps), int(by_time), 200))


def shortened(space: Space, n_keys: int) -> Space:
    """Returns a space with the first config keys only, without parameters whose condition is about others."""
    keys = [*dict.fromkeys(_key(space, one) for one in space.parameters)][:n_keys]
    chosen = [one for one in space.parameters if _key(space, one) in keys]
    names = {one.name for one in chosen}
    kept = [one for one in chosen if all(other in names for other in one.when)]
    templates = {key: template for key, template in space.templates.items() if key in keys}
    return replace(space, parameters=tuple(kept), templates=templates)


def narrowed(space: Space, config: Config) -> Space:
    """Returns a space with ranges around the values of a config."""
    values = flat_values(config)
    chosen: list[Parameter] = []
    templates: dict[str, Template] = {}
    for key in dict.fromkeys(_key(space, one) for one in space.parameters):
        own = [one for one in space.parameters if _key(space, one) == key]
        template = space.templates.get(key)
        if template is None:
            chosen += [_around(one, values.get(key)) for one in own]
        elif next(iter(template.parts)) in HEIGHTS:
            simple, parameter = _around_schedule(key, values.get(key), own[0])
            templates |= simple
            chosen.append(parameter)
        else:
            templates[key] = template
            chosen += own
    return replace(space, parameters=tuple(chosen), templates=templates)


def _key(space: Space, parameter: Parameter) -> str:
    for key, template in space.templates.items():
        if parameter.name in template.parts.values():
            return key
    return parameter.name


def _around_schedule(
    key: str, value: object, first: Parameter
) -> tuple[dict[str, Template], Parameter]:
    """Returns a parameter for the highest value of a schedule, whose shape stays as it is."""
    schedule = value if isinstance(value, Schedule) else Schedule.parse(value)
    peak = schedule.highest
    if len(schedule.frames) != 2 or schedule.frames[0][1] != peak:
        return {}, _around(replace(first, name=key), peak)
    rest = str(schedule).partition(" -> ")[2]
    parameter = _around(replace(first, name=f"{key}.peak"), peak)
    return {key: Template(f"{{peak}} -> {rest}", {"peak": f"{key}.peak"})}, parameter


def _around(parameter: Parameter, value: object) -> Parameter:
    """Returns a parameter with a range around a value. Choices get the value as one more choice."""
    if isinstance(value, Schedule):
        value = value.highest
    if isinstance(parameter, Choices):
        return _with_choice(parameter, value)
    if isinstance(value, bool) or not isinstance(value, int | float) or isinstance(value, Share):
        return parameter
    number = float(value)
    if parameter.log:
        if number <= 0:
            return parameter  # such as an entropy bonus of 0
        low, high = number / FACTOR, number * FACTOR
        if parameter.whole:
            low, high = max(1.0, math.floor(low)), math.ceil(high)
        return replace(parameter, low=_rounded(low), high=_rounded(high))
    width = (parameter.high - parameter.low) / 3
    low, high = max(parameter.low, number - width), min(parameter.high, number + width)
    step = parameter.step or (1.0 if parameter.whole else 0.0)
    if step:
        low = parameter.low + round((low - parameter.low) / step) * step
        high = parameter.low + round((high - parameter.low) / step) * step
    if low >= high:  # the value is far outside of the shipped range
        return parameter
    return replace(parameter, low=_rounded(low), high=_rounded(high))


def _with_choice(parameter: Choices, value: object) -> Choices:
    plain = value.to_plain() if isinstance(value, Share) else value
    plain = list(plain) if isinstance(plain, tuple) else plain
    if plain is None or isinstance(plain, bool):
        plain = "on" if plain else "off"
    if plain in parameter.choices or not isinstance(plain, str | int | float | list):
        return parameter
    choices: list[PlainValue] = [*parameter.choices, plain]
    if parameter.is_ordered and isinstance(plain, int | float):
        choices.sort(key=lambda one: float(one) if isinstance(one, int | float) else 0.0)
    return replace(parameter, choices=choices)


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")
