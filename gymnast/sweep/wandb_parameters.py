"""The parameters of a W&B sweep config: their config keys, and which values they may have.

W&B's own distributions are described in its documentation of sweep configs. Numbers may be texts such as
`1e-3`, which YAML 1.1 does not read as a number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from gymnast.config.numbers import parse_number
from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import InvalidConfig, Key, Problem, dotted_key
from gymnast.text.suggestions import did_you_mean

FIELDS = (
    *("value", "values", "probabilities", "distribution", "min", "max", "q", "mu", "sigma"),
    *("a", "b", "parameters"),
)
"""Keys that a parameter of a W&B sweep may have."""
_LOGARITHMIC = ("log_uniform_values", "log_uniform")
_UNIFORM = ("uniform", "int_uniform", "q_uniform", *_LOGARITHMIC)
DISTRIBUTIONS = ("constant", "categorical", "categorical_w_probabilities", *_UNIFORM)
"""Distributions that a search space of gymnast has too."""
OTHERS = (
    *("normal", "q_normal", "log_normal", "q_log_normal", "beta", "q_beta"),
    *("inv_log_uniform", "inv_log_uniform_values", "q_log_uniform", "q_log_uniform_values"),
)
"""Distributions that only the server of W&B can sample from."""

Locate = Callable[[Key], str]
"""Returns `file:line` of a key."""


@dataclass(frozen=True)
class WandbParameter:
    """One parameter of a W&B sweep."""

    key: str
    """Dotted config key; those of nested parameters are joined."""
    distribution: str
    values: Sequence[PlainValue] = ()
    """The choices; the single value of a constant; empty for a range."""
    low: float = 0.0
    high: float = 0.0
    step: float | None = None
    """Distance between two values of `q_uniform`."""
    probabilities: Sequence[float] = ()
    """The probability of each choice, if they are not the same."""

    @property
    def examples(self) -> Sequence[PlainValue]:
        """Values that the config must accept: all choices, or both ends of the range."""
        if self.distribution in OTHERS:
            return ()
        whole = self.distribution == "int_uniform"
        return self.values or tuple(int(x) if whole else x for x in (self.low, self.high))


def read_parameters(config: Mapping[str, Any], locate: Locate) -> list[WandbParameter]:
    """Returns the parameters of a sweep config. Raises InvalidConfig with all mistakes; `locate` returns the
    place of a key for messages."""
    reader = _Reader(locate)
    parameters = config.get("parameters")
    if not isinstance(parameters, Mapping) or not parameters:
        text = "has no parameters (expected `parameters:` with config keys)"
        raise InvalidConfig([Problem(locate(("parameters",)), "parameters", text)])
    found = [*reader.section(cast("Mapping[str, Any]", parameters), ("parameters",), "")]
    if reader.problems:
        raise InvalidConfig(reader.problems)
    return found


class _Reader:
    """Reads parameters and collects their mistakes."""

    def __init__(self, locate: Locate) -> None:
        self._locate = locate
        self.problems: list[Problem] = []

    def section(
        self, parameters: Mapping[str, Any], path: Key, above: str
    ) -> Iterator[WandbParameter]:
        """Yields the parameters of a mapping, and of the mappings nested in it. `above`: the key that it
        belongs to, with a dot at its end."""
        for name, spec in parameters.items():
            here, key = (*path, name), f"{above}{name}"
            if not isinstance(spec, Mapping):
                self._problem(
                    here, "is no parameter (expected `value:`, `values:` or `min:` and `max:`)"
                )
                continue
            spec = cast("Mapping[str, Any]", spec)
            unknown = [one for one in spec if one not in FIELDS]
            for one in unknown:
                hint = did_you_mean(str(one), FIELDS)
                self._problem((*here, one), f"unknown key of a W&B parameter{hint}")
            if isinstance(spec.get("parameters"), Mapping):
                yield from self.section(spec["parameters"], (*here, "parameters"), f"{key}.")
            elif not unknown and (found := self._parameter(key, spec, here)) is not None:
                yield found

    def _parameter(self, key: str, spec: Mapping[str, Any], path: Key) -> WandbParameter | None:
        """Returns one parameter; None after a mistake."""
        name: Any = spec.get("distribution") or _default_distribution(spec)
        if name in OTHERS:
            return WandbParameter(key, name)
        if name == "constant" and "value" in spec:
            return WandbParameter(key, name, (spec["value"],))
        if str(name).startswith("categorical") and isinstance(spec.get("values"), list):
            weights = tuple(map(parse_number, spec.get("probabilities") or ()))
            if spec["values"] and len(weights) in (0, len(spec["values"])):
                return WandbParameter(key, name, tuple(spec["values"]), probabilities=weights)
        if name in _UNIFORM and "min" in spec and "max" in spec:
            return self._range(key, name, spec, path)
        expected = "`value:`, `values: [...]`, or `min:` and `max:`"
        known = name is None or name in DISTRIBUTIONS
        hint = "" if known else did_you_mean(str(name), (*DISTRIBUTIONS, *OTHERS))
        what = "has no values" if known else f"unknown distribution {name!r}"
        self._problem(path, f"{what} (expected {expected}){hint}")
        return None

    def _range(
        self, key: str, name: str, spec: Mapping[str, Any], path: Key
    ) -> WandbParameter | None:
        try:
            low, high = parse_number(spec["min"]), parse_number(spec["max"])
            step = parse_number(spec.get("q", 1.0)) if name == "q_uniform" else None
        except ValueError as error:
            self._problem(path, str(error))
            return None
        if name == "log_uniform":  # its bounds are natural logarithms
            low, high = math.exp(low), math.exp(high)
        if low >= high or (name in _LOGARITHMIC and low <= 0):
            what = "0 < min < max" if name in _LOGARITHMIC else "min < max"
            self._problem(path, f"min {spec['min']} and max {spec['max']} are no range ({what})")
            return None
        return WandbParameter(key, name, low=low, high=high, step=step)

    def _problem(self, path: Key, text: str) -> None:
        # without the word `parameters` of the file, so that it is the key of the config
        key = dotted_key([part for part in path if part != "parameters"])
        self.problems.append(Problem(self._locate(path), key, text))


def _default_distribution(spec: Mapping[str, Any]) -> str | None:
    """Returns the distribution that W&B chooses if none is named; None if the values are missing."""
    if "value" in spec:
        return "constant"
    if "values" in spec:
        return "categorical_w_probabilities" if "probabilities" in spec else "categorical"
    if "min" not in spec or "max" not in spec:
        return None
    whole = all(isinstance(spec[end], int) for end in ("min", "max"))
    return "int_uniform" if whole else "uniform"
