"""Reads a search space from YAML, and checks it against the config schema before anything runs.

target: CartPole-v1:ppo            # what every trial trains
settings:                          # the same for all trials, like --set
  stop.env_steps: 100k
parameters:                        # any config key
  algo.lr: {low: 1e-4, high: 1e-2, log: true}
  algo.epochs: {low: 3, high: 20, type: int}
  algo.gae_lambda: {low: 0.9, high: 1, step: 0.01}
  policy.activation: {choices: [tanh, relu]}
  algo.clip:                       # a schedule whose parts vary
    value: "{start} -> {end}"
    parts:
      start: {low: 0.1, high: 0.4}
      end: {choices: [0.05, 0.1]}
  algo.target_kl:                  # only where it matters
    choices: [0.01, 0.03]
    when: {policy.activation: tanh}
objective: {kind: area}
search: {trials: 40, seeds: 3}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.numbers import parse_count, parse_number, parse_switch
from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import InvalidConfig, Key, Problem, dotted_key
from gymnast.config.resolve import resolve
from gymnast.config.serialize import flat_plain
from gymnast.config.source import Source
from gymnast.errors import ConfigError, UsageError
from gymnast.sweep.objective import Objective
from gymnast.sweep.options import PROCESS, SearchOptions
from gymnast.sweep.parameter import Assignment, Choices, Parameter, is_active
from gymnast.sweep.parameter_file import read_parameters
from gymnast.sweep.space import Space
from gymnast.text.suggestions import did_you_mean

SECTIONS = ("target", "settings", "parameters", "objective", "search")
KINDS = ("area", "score", "threshold", "cost")
SAMPLED = 32
"""Number of random assignments among which a value must be valid in one."""
SAME_FOR_ALL = {
    "seed": "all trials are trained with the same seeds (search.seed is the first of them)",
    "env.id": "all trials train the `target`",
    "facts": "returns are judged by them, and nothing is learned from them",
    "eval": "all trials must be scored in the same way",
    "stop": "all trials have the same budget and the same goals",
    "checkpoint": "nothing that is learned depends on it",
    "traces": "nothing that is learned depends on it",
    "track": "nothing that is learned depends on it",
    "metrics": "nothing that is learned depends on it",
}
"""Key or section that is no hyperparameter -> the reason why it cannot vary."""
NOT_SETTINGS = {
    "seed": SAME_FOR_ALL["seed"],
    "env.id": SAME_FOR_ALL["env.id"],
    "eval.wait": "trials wait for their scores, by which they are compared",
}
"""Key that a study sets by itself -> the reason why the settings of a space cannot."""


@dataclass(frozen=True)
class SpaceFile:
    """The content of a space file."""

    space: Space
    objective: Objective
    search: Mapping[str, Any]
    """Option of the search -> value, for all that the file sets."""

    def options(self, **overrides: object) -> SearchOptions:
        """Returns the options of the search; `overrides` that are not None win. Raises UsageError for values
        out of range."""
        given = {name: value for name, value in overrides.items() if value is not None}
        options = SearchOptions(**{**self.search, **given})
        if options.mode == "pbt" and "trials" in given:
            raise UsageError(
                "population-based training has no number of trials",
                fix="leave it out, and set `population` and `generations` in `search` of the space",
            )
        options.check()
        return options


def parse_space(text: str, name: str = "space", *, validate: bool = True) -> SpaceFile:
    """Returns the content of a space in YAML. `name`: file name for messages; `validate`: check its values
    against the config schema, which takes a moment and imports the class of a custom algorithm. Raises
    InvalidConfig with all problems at once."""
    source = Source.parse(text, name)
    data = source.data
    if not isinstance(data, Mapping):
        raise InvalidConfig([Problem(name, "", "is not a space (expected `key: value` lines)")])
    problems = [*source.duplicate_keys, *_unknown(source, data, SECTIONS, ())]
    target = data.get("target")
    if not isinstance(target, str):
        problems.append(Problem(name, "target", "is missing (expected ENV or ENV:variant)"))
    settings = _mapping(source, data, "settings", problems)
    written = _mapping(source, data, "parameters", problems)
    if not written and not problems:
        problems.append(Problem(name, "parameters", "is empty: there is nothing to search"))
    parameters, templates, unreadable = read_parameters(source, written)
    problems += unreadable
    problems += _not_hyperparameters(source, written, settings)
    objective = _objective(source, _mapping(source, data, "objective", problems), problems)
    search = _search(source, _mapping(source, data, "search", problems), problems)
    space = Space(str(target), tuple(parameters), settings, templates, text)
    if validate and isinstance(target, str):
        problems += [one for one in _invalid_values(source, space) if _is_new(one, problems)]
        if not problems:
            problems = contradictions(space, source)
    if problems:
        raise InvalidConfig(problems)
    return SpaceFile(space, objective, search)


def _not_hyperparameters(
    source: Source, written: Mapping[str, PlainValue], settings: Mapping[str, PlainValue]
) -> Iterator[Problem]:
    """Yields a problem for every key that trials would not be comparable with, or that varies nothing."""
    for key in written:
        reason = next(
            (SAME_FOR_ALL[one] for one in (key, key.split(".")[0]) if one in SAME_FOR_ALL), ""
        )
        if reason:
            path = ("parameters", key)
            yield Problem(source.location(path), key, f"cannot be a parameter: {reason}")
    for key in flat_plain(settings):
        if key in NOT_SETTINGS:
            path = ("settings", *_written_as(key, settings))
            yield Problem(source.location(path), key, f"cannot be set: {NOT_SETTINGS[key]}")


def _written_as(key: str, settings: Mapping[str, PlainValue]) -> Key:
    return (key,) if key in settings else tuple(key.split("."))


def _is_new(problem: Problem, known: Sequence[Problem]) -> bool:
    """True if no other problem is about the same key."""
    return not any(one.key == problem.key for one in known)


def _mapping(
    source: Source, data: Mapping[Any, PlainValue], key: str, problems: list[Problem]
) -> dict[str, PlainValue]:
    """Returns a section of the file; empty if it is missing or wrong, which becomes a problem."""
    section = data.get(key)
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        problems.append(Problem(source.location((key,)), key, "expected `key: value` lines"))
        return {}
    return {str(name): value for name, value in section.items()}


def _unknown(
    source: Source, data: Mapping[Any, PlainValue], known: tuple[str, ...], base: Key
) -> Iterator[Problem]:
    """Yields a problem for every key that means nothing."""
    for key in data:
        if key not in known:
            path = (*base, key)
            guess = did_you_mean(str(key), known) or f" (known here: {', '.join(known)})"
            yield Problem(source.location(path), dotted_key(path), f"unknown key{guess}")


def _objective(
    source: Source, section: Mapping[str, PlainValue], problems: list[Problem]
) -> Objective:
    names = tuple(field.name for field in fields(Objective))
    wrong = [*_unknown(source, section, names, ("objective",))]

    def problem(key: str, text: str) -> None:
        path = ("objective", key)
        wrong.append(Problem(source.location(path), dotted_key(path), text))

    values: dict[str, Any] = {}
    for key, value in section.items():
        if key == "kind" and value not in KINDS:
            problem(key, f"{value} is unknown (expected one of {', '.join(KINDS)})")
        elif key == "clock" and value not in ("env_steps", "seconds"):
            problem(key, f"{value} is unknown (expected env_steps or seconds)")
        elif key in ("kind", "clock"):
            values[key] = value
        elif key in names:
            try:
                values[key] = parse_number(value)
            except ValueError as error:
                problem(key, str(error))
    if not wrong and values.get("kind") == "threshold" and "threshold" not in values:
        problem("threshold", "is missing: the return that trials have to reach")
    if not wrong and ("low" in values) != ("high" in values):
        problem("low", "low and high belong together: the returns that count as 0 and 1")
    problems += wrong
    return Objective() if wrong else Objective(**values)


def _search(
    source: Source, section: Mapping[str, PlainValue], problems: list[Problem]
) -> dict[str, Any]:
    # A space file may come from anywhere, so it cannot name a program to start.
    own = [field.name for field in fields(SearchOptions)]
    names = tuple(name for name in own if name not in ("lookahead", "proposer"))
    problems += _unknown(source, section, names, ("search",))
    values: dict[str, Any] = {}
    for key, value in section.items():
        try:
            if key == "sampler" and value == PROCESS:
                raise ValueError("a program is named on the command line: --proposer NAME")
            if key in ("mode", "sampler"):
                values[key] = str(value)
            elif key == "baseline":
                values[key] = parse_switch(value)
            elif key in ("minutes", "run_minutes", "final_share"):
                values[key] = parse_number(value)
            elif key in names:
                values[key] = 0 if value == 0 else parse_count(value)
        except ValueError as error:
            path = ("search", key)
            problems.append(Problem(source.location(path), dotted_key(path), str(error)))
    if not problems:
        try:
            SearchOptions(**values).check()
        except UsageError as error:
            problems.append(Problem(source.location(("search",)), "", error.message))
    return values


def _invalid_values(source: Source, space: Space) -> Iterator[Problem]:
    """Yields the problems of the target, of the settings, and of every bound and choice on its own."""
    of_target: Sequence[Problem] = ()
    try:
        config = resolve(space.target, space.settings).config
    except InvalidConfig as error:
        of_target = error.details
        for one in of_target:
            at = source.location(("settings", one.key)) if one.key else source.location(("target",))
            yield Problem(at, one.key, one.text)
    except ConfigError as error:
        yield Problem(source.location(("target",)), "target", str(error))
        return
    else:
        if problem := _evaluated_too_rarely(config):
            path = ("settings", *_written_as("eval.every", space.settings))
            yield Problem(source.location(path), "eval.every", problem)
    both = [key for key in space.settings if key in _keys(space)]
    for key in both:
        yield Problem(source.location(("settings", key)), key, "is a parameter as well")
    middle = space.from_units([0.5] * len(space.parameters))
    in_templates = {name for one in space.templates.values() for name in one.parts.values()}
    for parameter in space.parameters:
        for value in parameter.extremes():
            name = parameter.name
            tried = {name: value}
            if name in in_templates:
                tried = {**middle, **tried}
            own = {k: v for k, v in space.overrides(tried).items() if name.startswith(k)}
            text = _problem_of(space, own, of_target)
            if text and not _fits_others(space, name, value):
                whole = " (or add `type: int`)" if "whole number" in text else ""
                yield Problem(source.location(_path(space, name)), name, f"{text}{whole}")
                break


def _evaluated_too_rarely(config: Config) -> str:
    """Returns why runs with a config cannot be compared by their evaluations; empty if they can."""
    every, budget = config.eval.every, config.stop.env_steps
    if every is None:
        return "is off, but trials are compared by their evaluations"
    if budget is None:  # an error of its own
        return ""
    clock, period = every.period(Clock(limits={"env_steps": budget}))
    period *= config.env.n_envs if clock == "vec_steps" else 1
    if clock not in ("env_steps", "vec_steps") or period <= budget:
        return ""
    run = f"a run of {budget:,} env steps, which would not be evaluated before its end"
    return f"{every} is longer than {run} (expected a share such as 10%)"


def _problem_of(
    space: Space, overrides: Mapping[str, PlainValue], of_target: Sequence[Problem] = ()
) -> str:
    """Returns why a value of one key is not accepted; conflicts with other settings are left to
    `contradictions`. `of_target`: the problems without this value."""
    try:
        resolve(space.target, {**space.settings, **overrides})
    except InvalidConfig as error:
        new = [one for one in error.details if one not in of_target]
        own = [one for one in new if one.key in overrides or one.is_unknown_key]
        return own[0].text if own else ""
    except ConfigError as error:
        return str(error)
    return ""


def _fits_others(space: Space, name: str, value: PlainValue) -> bool:
    """True if a value that contradicts the settings of the target is valid together with random values of
    the other parameters, such as a batch size with longer rollouts."""
    samples = (space.sample(0, "others", i) for i in range(SAMPLED))
    return any(not space.problem({**one, name: value}) for one in samples if name in one)


def _keys(space: Space) -> list[str]:
    return [*space.templates, *(one.name for one in space.parameters)]


def _path(space: Space, name: str) -> Key:
    for key, template in space.templates.items():
        for part, parameter in template.parts.items():
            if parameter == name:
                return ("parameters", key, "parts", part)
    return ("parameters", name)


def contradictions(space: Space, source: Source | None = None) -> list[Problem]:
    """Returns a problem for every key whose values contradict those of other parameters, with the values that
    do, at the corners of the space: a batch of 2048 from rollouts of 64 env steps."""
    source = source or Source.parse(space.text, "space")
    found: dict[str, Problem] = {}
    for assignment in _corners(space):
        for one in _problems_of(space, assignment):
            if one.key not in found:
                others = _needed(space, assignment, one)
                values = " and ".join(f"{name} {value}" for name, value in others.items())
                path = _path(space, one.key if one.key in _keys(space) else next(iter(others), ""))
                text = f"{one.text}, with {values}" if values else one.text
                found[one.key] = Problem(source.location(path), one.key, text)
    return [*found.values()]


def _corners(space: Space) -> Iterator[dict[str, PlainValue]]:
    """Yields assignments of extreme values: those of one parameter with the lowest and the highest values of
    the others, and a few random ones."""
    ends = {one.name: _ends(one) for one in space.parameters}
    for side in (0, -1):
        base = {name: values[side] for name, values in ends.items()}
        for name, values in ends.items():
            yield from (_active(space, {**base, name: value}) for value in values)
    yield from (space.sample(0, "check", i) for i in range(SAMPLED // 4))


def _ends(parameter: Parameter) -> Sequence[PlainValue]:
    """Returns the extreme values of a parameter, all of them for words, the lowest first."""
    values = parameter.extremes()[: None if isinstance(parameter, Choices) else 2]
    numbers = [one for one in values if isinstance(one, int | float)]
    return [min(numbers), max(numbers)] if len(numbers) == len(values) else values


def _active(space: Space, values: Assignment) -> dict[str, PlainValue]:
    """Returns the values of the parameters that are used with each other."""
    found: dict[str, PlainValue] = {}
    for one in space.parameters:
        if is_active(one, found):
            found[one.name] = values[one.name]
    return found


def _problems_of(space: Space, assignment: Assignment) -> Sequence[Problem]:
    try:
        space.config(assignment)
    except InvalidConfig as error:
        return error.details
    return ()


def _needed(space: Space, assignment: Assignment, problem: Problem) -> dict[str, PlainValue]:
    """Returns the other values of an assignment without which a problem would not exist."""
    return {
        one.name: assignment[one.name]
        for one in space.active(assignment)
        if one.name != problem.key
        and any(
            problem.key
            not in (other.key for other in _problems_of(space, {**assignment, one.name: end}))
            for end in _ends(one)
        )
    }
