"""A search space: which config keys vary, how, and what all trials have in common."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gymnast.config.config import Config
from gymnast.config.named_code import code_names
from gymnast.config.plain_value import PlainValue
from gymnast.config.presets import find_preset
from gymnast.config.problems import InvalidConfig, Problem
from gymnast.config.resolve import ResolvedConfig, resolve
from gymnast.config.source import Source
from gymnast.config.target import split_target
from gymnast.seeds import stream
from gymnast.sweep.parameter import UNBOUNDED, Assignment, Parameter, is_active

MAX_GRID = 100_000
"""Number of assignments up to which a space is enumerated."""


@dataclass(frozen=True)
class Template:
    """A config value that is put together from parameters, such as a schedule."""

    text: str
    """The value with the names of its parts in braces: `{peak} -> {end}`."""
    parts: Mapping[str, str]
    """Name of a part -> name of its parameter."""

    def value(self, assignment: Assignment) -> PlainValue:
        """Returns the value as a config accepts it; None if a part is not used."""
        if any(parameter not in assignment for parameter in self.parts.values()):
            return None
        text = self.text
        for part, parameter in self.parts.items():
            text = text.replace(f"{{{part}}}", _number_text(assignment[parameter]))
        return text


@dataclass(frozen=True)
class Space:
    """The parameters of a search, and how an assignment of values to them becomes settings of a run."""

    target: str
    """`ENV[:variant]` that all trials train."""
    parameters: tuple[Parameter, ...]
    """The parameters in the order in which they are sampled: a condition refers to earlier ones."""
    settings: Mapping[str, PlainValue] = field(default_factory=dict[str, PlainValue])
    """Config key -> value, the same for all trials."""
    templates: Mapping[str, Template] = field(default_factory=dict[str, Template])
    """Config key -> its value as a template; the other parameters are named after their config key."""
    text: str = ""
    """The YAML text that it was read from."""

    def __getitem__(self, name: str) -> Parameter:
        return next(one for one in self.parameters if one.name == name)

    def overrides(self, assignment: Assignment | None) -> dict[str, PlainValue]:
        """Returns config key -> value for the parameters of a trial; none for the baseline (None), which
        trains the target as it is."""
        if assignment is None:
            return {}
        in_templates = {name for one in self.templates.values() for name in one.parts.values()}
        found = {key: value for key, value in assignment.items() if key not in in_templates}
        for key, template in self.templates.items():
            if (value := template.value(assignment)) is not None:
                found[key] = value
        return found

    def trial_settings(self, assignment: Assignment | None) -> dict[str, PlainValue]:
        """Returns config key -> value of all overrides of a trial, as `--set` takes them."""
        return {**self.settings, **self.overrides(assignment)}

    def config(self, assignment: Assignment | None) -> ResolvedConfig:
        """Returns the config of a trial, without the defaults for the spaces of its environment. Raises
        InvalidConfig if the settings contradict each other."""
        return resolve(self.target, self.trial_settings(assignment), origin="trial")

    def problem(self, assignment: Assignment | None) -> str:
        """Returns why the config of a trial is not valid; empty if it is."""
        try:
            self.config(assignment)
        except InvalidConfig as error:
            return str(error)
        return ""

    def equals_baseline(self, assignment: Assignment) -> bool:
        """True if the config of a trial is that of the baseline."""
        return all(
            self._is_unchanged(key, value) for key, value in self.overrides(assignment).items()
        )

    def _is_unchanged(self, key: str, value: PlainValue) -> bool:
        tried = json.dumps([key, value])
        if tried not in self._unchanged:
            try:
                config = resolve(self.target, {**self.settings, key: value}).config
            except InvalidConfig:  # together with other values only
                config = None
            self._unchanged[tried] = config == self._baseline
        return self._unchanged[tried]

    @cached_property
    def _unchanged(self) -> dict[str, bool]:
        """Key and value as JSON -> whether the baseline has this value."""
        return {}

    @cached_property
    def _baseline(self) -> Config:
        return self.config(None).config

    @property
    def code(self) -> list[str]:
        """The names of the code that it or the preset of its target names."""
        env, variant = split_target(self.target)
        values = [find_preset(env).data, {"id": env, "variant": variant}]
        return [*code_names([values, self.settings, Source.parse(self.text).data])]

    def active(self, assignment: Assignment) -> Iterator[Parameter]:
        """Yields the parameters that are used with the values of an assignment."""
        return (one for one in self.parameters if is_active(one, assignment))

    def from_units(self, shares: Sequence[float]) -> dict[str, PlainValue]:
        """Returns the assignment at a point of the unit cube, one coordinate per parameter."""
        assignment: dict[str, PlainValue] = {}
        for parameter, share in zip(self.parameters, shares, strict=True):
            if is_active(parameter, assignment):
                assignment[parameter.name] = parameter.from_unit(share)
        return assignment

    def sample(self, seed: int, *path: str | int) -> dict[str, PlainValue]:
        """Returns a random assignment, a function of the seed and the path."""
        return self.from_units(stream(seed, "sweep", *path).random(len(self.parameters)).tolist())

    @cached_property
    def size(self) -> int | None:
        """The number of different assignments; None if there are more than MAX_GRID or infinitely many."""
        total = 1
        for parameter in self.parameters:
            total *= parameter.size
        if any(one.size == UNBOUNDED for one in self.parameters) or total > MAX_GRID:
            return None
        return sum(1 for _ in self.grid())

    def grid(self) -> Iterator[dict[str, PlainValue]]:
        """Yields every assignment once. The space must not have a range without steps."""
        yield from self._grid({}, 0)

    def _grid(self, assignment: dict[str, PlainValue], at: int) -> Iterator[dict[str, PlainValue]]:
        if at == len(self.parameters):
            yield dict(assignment)
            return
        parameter = self.parameters[at]
        if not is_active(parameter, assignment):
            yield from self._grid(assignment, at + 1)
            return
        for value in parameter.values() or ():
            yield from self._grid({**assignment, parameter.name: value}, at + 1)

    def checked(self, assignment: Mapping[str, PlainValue]) -> dict[str, PlainValue]:
        """Returns an assignment that somebody else proposed, in the order of the space. Raises InvalidConfig
        for unknown, missing and unused parameters, values outside of the space, and invalid configs."""
        known: dict[str, PlainValue] = {}
        problems: list[Problem] = []
        for parameter in self.parameters:
            name = parameter.name
            if not is_active(parameter, known):
                if name in assignment:
                    problems.append(Problem("", name, "is not used with the other values"))
            elif name not in assignment:
                problems.append(Problem("", name, "is missing"))
            elif not parameter.accepts(assignment[name]):
                problems.append(Problem("", name, f"{assignment[name]!r} is outside of the space"))
            else:
                known[name] = assignment[name]
        names = {parameter.name for parameter in self.parameters}
        unknown = [name for name in assignment if name not in names]
        problems += [Problem("", str(name), "is not a parameter of the space") for name in unknown]
        if not problems and (text := self.problem(known)):
            problems.append(Problem("", "", text))
        if problems:
            raise InvalidConfig(problems)
        return known


def assignment_key(assignment: Assignment | None) -> str:
    """Returns a text that is the same for equal assignments only."""
    return json.dumps(assignment, sort_keys=True)


def _number_text(value: PlainValue) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
