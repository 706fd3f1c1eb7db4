"""Rules that watch a metric, and change settings when it no longer improves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from gymnast.config.change import Change, Within
from gymnast.config.numbers import OFF, Count, Maybe, Number, Whole
from gymnast.config.problems import explain
from gymnast.config.section import AlgoSection, DottedKey, Section
from gymnast.config.sections.shaping import TermConfig
from gymnast.text.closest import closest


def _rule_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise ValueError(f"{name!r} cannot name a rule (expected a word)")
    return name


RuleName = Annotated[str, AfterValidator(_rule_name)]


class RuleConfig(Section):
    watch: str
    """A row's key, `[scope:]metric`, of a metric that has a better direction."""
    wait: Count = 10
    """Rows that have it, without a value better than the best so far, before something is done."""
    gain: Annotated[Number, Field(ge=0)] = 0.0
    """By more than this a value must be better to count."""
    change: dict[DottedKey, Change]
    """Setting -> what is done to it: `x0.5`, `by -0.01` or `to 1e-4`."""
    within: dict[DottedKey, Within] = {}
    """Setting -> its bounds, `1e-5..1e-2`; of a schedule, those of its highest value."""
    revert: Maybe[Count] = OFF
    """After so many further rows the change is taken back, unless they came up to the best before."""
    times: Maybe[Whole] = OFF
    """How often it may act, at most; off: no limit."""


def rule_conflicts(
    rules: Mapping[str, RuleConfig], algo: AlgoSection, terms: Mapping[str, TermConfig]
) -> list[tuple[str, str]]:
    """What is wrong with these rules, whatever the settings stand at: (dotted key, what)."""
    sections: dict[str, tuple[Section, str]] = {
        **{f"algo.{field}": (algo, field) for field in type(algo).live_fields()},
        **{f"shaping.{name}.weight": (term, "weight") for name, term in terms.items()},
    }
    found: list[tuple[str, str]] = []
    for name, rule in rules.items():
        at = f"rules.{name}"
        if not rule.change:
            found.append((f"{at}.change", "is empty (expected such as {algo.lr: x0.5})"))
        for key, change in rule.change.items():
            if key not in sections:
                problem = f"{key} is nothing that a rule can change (expected one of "
                problem += f"{', '.join(sections)}){closest(key, sections)}"
                found.append((f"{at}.change", problem))
            elif change.is_relative and key not in rule.within:
                problem = f"{key} has no bounds (expected such as within: {{{key}: 1e-5..1e-2}})"
                found.append((f"{at}.change", problem))
            elif refusal := _refusal(*sections[key], _reaches(change, rule.within.get(key))):
                where = "within" if change.is_relative else "change"
                found.append((f"{at}.{where}", f"{key}: {refusal}"))
        for key in rule.within:
            if key not in rule.change:
                found.append((f"{at}.within", f"{key} is not among what this rule changes"))
            elif not rule.change[key].is_relative:
                found.append((f"{at}.within", f"{key} is set outright, which needs no bounds"))
    return found


def _reaches(change: Change, within: Within | None) -> list[Any]:
    return [change.value] if within is None else [within.low, within.high]


def _refusal(section: Section, field: str, values: Iterable[Any]) -> str | None:
    """Why the field cannot have one of these values."""
    whole = section.model_dump(mode="json")
    for value in values:
        try:
            type(section).model_validate(whole | {field: value})
        except ValidationError as error:
            (problem, *_) = explain(error, type(section), lambda _: "")
            return problem.text
    return None
