"""Reads the parameters of a space file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gymnast.config.numbers import parse_number, parse_switch
from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import Key, Problem, dotted_key
from gymnast.config.source import Source
from gymnast.sweep.parameter import Choices, Parameter, Range
from gymnast.sweep.space import Template
from gymnast.text.suggestions import did_you_mean

RANGE_KEYS = ("low", "high", "log", "step", "type", "when")
CHOICE_KEYS = ("choices", "when")
TEMPLATE_KEYS = ("value", "parts", "when")
_EXAMPLE = "{low: 1e-4, high: 1e-2, log: true} or {choices: [tanh, relu]}"


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.parameters: list[Parameter] = []
        self.templates: dict[str, Template] = {}

    def fail(self, path: Key, text: str) -> None:
        key = dotted_key(path[1:])
        self.problems.append(Problem(self.source.location(path), key, text))

    def read(self, name: str, spec: PlainValue, path: Key) -> None:
        """Reads one parameter, or a template with its parts."""
        if not isinstance(spec, Mapping):
            self.fail(path, f"is not a range or a list of choices (expected {_EXAMPLE})")
            return
        fields = {str(key): value for key, value in spec.items()}
        if "value" in fields or "parts" in fields:
            self._template(name, fields, path)
            return
        known = CHOICE_KEYS if "choices" in fields else RANGE_KEYS
        if not self._known(fields, known, path):
            return
        when = self._condition(fields.get("when"), path)
        if "choices" in fields:
            self._choices(name, fields["choices"], when, path)
        else:
            self._range(name, fields, when, path)

    def _known(self, fields: Mapping[str, PlainValue], known: Sequence[str], path: Key) -> bool:
        unknown = [key for key in fields if key not in known]
        for key in unknown:
            guess = did_you_mean(key, known) or f" (known here: {', '.join(known)})"
            self.fail((*path, key), f"unknown key{guess}")
        return not unknown

    def _choices(
        self, name: str, choices: PlainValue, when: dict[str, Sequence[PlainValue]], path: Key
    ) -> None:
        if not isinstance(choices, list) or len(choices) < 2:
            self.fail(path, "needs two or more choices (expected a list such as [tanh, relu])")
        elif any(choices.count(one) > 1 for one in choices):
            self.fail(path, "has the same choice twice")
        else:
            self.parameters.append(Choices(name, choices, when))

    def _range(
        self,
        name: str,
        fields: Mapping[str, PlainValue],
        when: dict[str, Sequence[PlainValue]],
        path: Key,
    ) -> None:
        missing = [key for key in ("low", "high") if key not in fields]
        if missing:
            self.fail(path, f"{' and '.join(missing)} is missing (expected {_EXAMPLE})")
            return
        try:
            low, high = (parse_number(fields[key]) for key in ("low", "high"))
            step = parse_number(fields["step"]) if "step" in fields else None
            log = parse_switch(fields.get("log", False))
        except ValueError as error:
            self.fail(path, str(error))
            return
        kind = fields.get("type", "float")
        if kind not in ("float", "int"):
            self.fail((*path, "type"), f"{kind} is unknown (expected float or int)")
        elif not low < high:
            self.fail(path, f"low {low:g} is not below high {high:g}")
        elif log and low <= 0:
            self.fail(path, f"a logarithmic range starts above 0, not at {low:g}")
        elif log and step is not None:
            self.fail(path, "step is not used in a logarithmic range (leave it out)")
        elif step is not None and not 0 < step <= high - low:
            self.fail(path, f"step {step:g} does not fit between {low:g} and {high:g}")
        elif kind == "int" and (low % 1 or high % 1 or (step or 1) % 1):
            self.fail(path, "whole numbers need whole bounds and steps")
        else:
            self.parameters.append(Range(name, low, high, log, step, kind == "int", when))

    def _template(self, name: str, fields: Mapping[str, PlainValue], path: Key) -> None:
        if not self._known(fields, TEMPLATE_KEYS, path):
            return
        text, parts = fields.get("value"), fields.get("parts")
        if not isinstance(text, str) or not isinstance(parts, Mapping):
            self.fail(path, 'needs `value: "{start} -> {end}"` and `parts` with their ranges')
            return
        named = {str(part): spec for part, spec in parts.items()}
        used = set(re.findall(r"\{(\w+)\}", text))
        for part in sorted(used ^ named.keys()):
            side = "has no range in parts" if part in used else "is not used in value"
            self.fail((*path, "value"), f"{{{part}}} {side}")
        when = fields.get("when")
        for part, spec in named.items():
            inherited = {} if when is None else {"when": when}
            own: Any = spec
            if isinstance(spec, Mapping):
                own = {**inherited, **{str(key): value for key, value in spec.items()}}
            self.read(f"{name}.{part}", own, (*path, "parts", part))
        self.templates[name] = Template(text, {part: f"{name}.{part}" for part in named})

    def _condition(self, when: PlainValue, path: Key) -> dict[str, Sequence[PlainValue]]:
        if when is None:
            return {}
        if not isinstance(when, Mapping):
            self.fail((*path, "when"), "is not a condition (expected {other.key: value})")
            return {}
        known = {one.name: one for one in self.parameters}
        found: dict[str, Sequence[PlainValue]] = {}
        for key, value in when.items():
            other = known.get(str(key))
            values: list[Any] = value if isinstance(value, list) else [value]
            if other is None:
                guess = did_you_mean(str(key), [*known]) or " (conditions name earlier parameters)"
                self.fail((*path, "when", key), f"is not a parameter before this one{guess}")
            elif isinstance(other, Range):
                self.fail((*path, "when", key), "has no choices, so no value can be a condition")
            elif wrong := [one for one in values if not other.accepts(one)]:
                self.fail((*path, "when", key), f"{wrong[0]} is not one of its choices")
            else:
                found[str(key)] = values
        return found


def read_parameters(
    source: Source, written: Mapping[str, PlainValue]
) -> tuple[list[Parameter], dict[str, Template], list[Problem]]:
    """Returns the parameters in their order, the templates by config key, and a problem for everything that
    cannot be read."""
    reader = _Reader(source)
    for name, spec in written.items():
        reader.read(name, spec, ("parameters", name))
    return reader.parameters, reader.templates, reader.problems
