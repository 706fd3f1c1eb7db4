"""Rules that watch a metric and change settings of a running training when it stops improving."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationError

from gymnast.config.change import Bounds, Change
from gymnast.config.numbers import OFF, Count, Maybe, Number, Whole
from gymnast.config.problems import explain_errors
from gymnast.config.section import AlgoSection, DottedKey, Section
from gymnast.config.sections.shaping import TermConfig
from gymnast.text.suggestions import did_you_mean


def _rule_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name):
        raise ValueError(f"{name!r} cannot name a rule (expected a word)")
    return name


RuleName = Annotated[str, AfterValidator(_rule_name)]


class RuleConfig(Section):
    watch: str
    """Metric to watch, `[scope:]metric`; it must declare whether higher or lower is better."""
    wait: Count = 10
    """Number of rows with this metric, without a new best value, before the rule acts."""
    gain: Annotated[Number, Field(ge=0)] = 0.0
    """Minimum improvement over the best value that counts as a new best."""
    change: dict[DottedKey, Change]
    """Setting -> change: multiply (`x0.5`), shift (`by -0.01`) or set (`to 1e-4`)."""
    within: dict[DottedKey, Bounds] = {}
    """Setting -> bounds, such as `1e-5..1e-2`; for a schedule, the bounds of its highest value."""
    revert: Maybe[Count] = OFF
    """Revert the change after this many further rows, unless the metric has reached its previous best. off:
    never revert."""
    times: Maybe[Whole] = OFF
    """Maximum number of times the rule acts. off: no limit."""


def rule_conflicts(
    rules: Mapping[str, RuleConfig], algo: AlgoSection, terms: Mapping[str, TermConfig]
) -> list[tuple[str, str]]:
    """Returns what is wrong with these rules, as (dotted key, message), whatever the current values are.
    `algo` and `terms` (the config's `shaping`) hold the settings that rules may change."""
    sections: dict[str, tuple[Section, str]] = {
        **{f"algo.{field}": (algo, field) for field in type(algo).live_fields()},
        **{f"shaping.{name}.weight": (term, "weight") for name, term in terms.items()},
    }
    conflicts: list[tuple[str, str]] = []
    for name, rule in rules.items():
        at = f"rules.{name}"
        if not rule.change:
            conflicts.append(
                (f"{at}.change", "is empty (expected an entry such as {algo.lr: x0.5})")
            )
        for key, change in rule.change.items():
            if key not in sections:
                problem = f"{key} cannot be changed by a rule (expected one of "
                problem += f"{', '.join(sections)}){did_you_mean(key, sections)}"
                conflicts.append((f"{at}.change", problem))
            elif change.is_relative and key not in rule.within:
                problem = f"{key} has no bounds (add for example within: {{{key}: 1e-5..1e-2}})"
                conflicts.append((f"{at}.change", problem))
            elif error := _validation_error(
                *sections[key], _extremes(change, rule.within.get(key))
            ):
                field = "within" if change.is_relative else "change"
                conflicts.append((f"{at}.{field}", f"{key}: {error}"))
        for key in rule.within:
            if key not in rule.change:
                conflicts.append((f"{at}.within", f"{key} is not changed by this rule (remove it)"))
            elif not rule.change[key].is_relative:
                problem = f"{key} is set to a fixed value, which needs no bounds (remove it)"
                conflicts.append((f"{at}.within", problem))
    return conflicts


def _extremes(change: Change, within: Bounds | None) -> list[float | str | None]:
    """Returns the values that must be valid for every value the rule can produce to be valid."""
    return [change.value] if within is None else [within.low, within.high]


def _validation_error(
    section: Section, field: str, values: Iterable[float | str | None]
) -> str | None:
    """Returns why the field cannot take one of these values, or None if it can take all of them."""
    current = section.model_dump(mode="json")
    for value in values:
        try:
            type(section).model_validate(current | {field: value})
        except ValidationError as error:
            # The first problem is enough; the key is reported by the caller, so no location is needed.
            (problem, *_) = explain_errors(error, type(section), lambda _: "")
            return problem.text
    return None
