"""Filters of a list of runs: `FIELD=VALUE`, `FIELD>NUMBER`, or text to search for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt

from gymnast.errors import UsageError
from gymnast.runs.summary import RunSummary
from gymnast.text.suggestions import did_you_mean

FILTER_FIELDS = (
    *("id", "name", "preset", "env", "variant", "algo", "status", "seed", "group", "tag", "solved"),
)
"""Fields that a filter may name as FIELD=VALUE; plain words are searched for in the text fields."""
NUMBERS: Mapping[str, Callable[[RunSummary], float | None]] = {
    "score": lambda run: None if run.score is None else run.score.mean,
    "best_score": lambda run: run.best_score,
    "area": lambda run: None if run.learning is None else run.learning.area,
    "progress": lambda run: run.progress,
    "env_steps": lambda run: run.clocks.get("env_steps"),
    "seconds": lambda run: run.clocks.get("seconds"),
    "alerts": lambda run: run.n_alerts if run.is_readable else None,
    "seed": lambda run: run.seed,
}
"""Fields that a filter may compare with a number: field -> its value in a run; None if it has none."""
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {">=": ge, "<=": le, ">": gt, "<": lt}
_COMPARISON = re.compile(r"(\w+)(>=|<=|>|<)(.*)")
Condition = Callable[[RunSummary], bool]


def condition(word: str) -> Condition:
    """Returns the condition that one word of a filter states: FIELD=VALUE, equal except for letter case;
    FIELD>NUMBER, also with >=, < and <=; or a text that the id, name, preset, status, group or a tag of a run
    contains. A run without a threshold meets solved=false, and one without a number no comparison. Raises
    UsageError for an unknown field, and for a comparison without a number."""
    comparison = _COMPARISON.fullmatch(word)
    if comparison is not None:
        return _comparison(*comparison.groups())
    field, equals, wanted = word.partition("=")
    if not equals:
        return lambda run: any(word.casefold() in text.casefold() for text in _texts(run))
    if field not in FILTER_FIELDS:
        fix = f"use one of {', '.join(FILTER_FIELDS)}, or plain text"
        problem = f"runs cannot be filtered by {field!r}{did_you_mean(field, FILTER_FIELDS)}"
        raise UsageError(problem, fix=fix)
    if field == "tag":
        return lambda run: wanted in run.tags
    if field == "solved":
        solved = wanted.casefold() in ("true", "yes", "on", "1")
        return lambda run: bool(run.solved) == solved
    return lambda run: _text(getattr(run, field)).casefold() == wanted.casefold()


def _texts(run: RunSummary) -> tuple[str, ...]:
    """Returns the texts of a run that a plain word is searched for in."""
    return (run.id, run.name, run.preset, run.status, run.group or "", *run.tags)


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _comparison(field: str, operator: str, wanted: str) -> Condition:
    """Returns the condition that a number of a run compares like this with the one that `wanted` is the text
    of."""
    if field not in NUMBERS:
        fix = f"use one of {', '.join(NUMBERS)}"
        problem = (
            f"{field!r} of a run cannot be compared with a number{did_you_mean(field, NUMBERS)}"
        )
        raise UsageError(problem, fix=fix)
    bound, compare = _number(wanted), _OPERATORS[operator]

    def compares(run: RunSummary) -> bool:
        value = NUMBERS[field](run)
        return value is not None and compare(value, bound)

    return compares


def _number(text: str) -> float:
    """Returns the number that a text such as `0.5`, `50%` or `2M` is."""
    from gymnast.config.numbers import parse_number, parse_percent  # imports pydantic

    try:
        return parse_percent(text) / 100 if text.endswith("%") else parse_number(text)
    except ValueError as error:
        raise UsageError(f"{error}", fix="compare with a number, as in score>200") from None
