"""Fills a prompt: instructions with the ids of runs, and the data of these runs as quoted lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.insight.sides import ComparisonSide
from gymnast.privacy.sanitize import Sanitizer
from gymnast.prompts.prompt_file import PLACEHOLDER, PromptFile, find_prompt, shared_part
from gymnast.prompts.record import Prompt
from gymnast.review.bundle import Bundle, check_budget, make_bundle
from gymnast.review.part import MAX_BUDGET, MIN_BUDGET, Part
from gymnast.review.prepare import sanitizer_for
from gymnast.review.run_parts import run_parts
from gymnast.review.several import choose_runs, newest_first
from gymnast.review.several_parts import several_parts
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.text.plain import plain_text
from gymnast.text.suggestions import did_you_mean

DEFAULT_BUDGET = 24_000
"""Characters of a prompt: about 6,000 tokens."""
MAX_ARGUMENT = 1_000
"""Characters of an argument."""
_NAME = re.compile(r"[A-Za-z0-9@][A-Za-z0-9_./:@+-]{0,399}")
"""Ids and names of runs, environments and presets that may be repeated in the instructions."""


@dataclass(frozen=True)
class _Subject:
    """The runs that a prompt is about."""

    runs: Sequence[Run]
    """Newest first."""
    sides: Sequence[ComparisonSide]
    parts: Sequence[Part]
    sanitizer: Sanitizer


def fill(
    name: str,
    refs: Sequence[str],
    last: int,
    arguments: Mapping[str, str],
    budget: int,
    directory: Path,
) -> Prompt:
    """Returns a prompt about some runs, see `api.prompt`. `last`: how many of the last runs, if `refs` is
    empty and the prompt may be about several."""
    file = find_prompt(name)
    given = _arguments(file, arguments)
    check_budget(budget)
    subject = _subject(file, refs, last, directory)
    values = given | _values(subject)
    without_data = _filled(file.body, values | {"data_section": _section(values, "")})
    room = budget - len(without_data) - 1
    if room < MIN_BUDGET:
        problem = f"a budget of {budget:,} characters is too small for the prompt {name!r}"
        smallest = len(without_data) + 1 + MIN_BUDGET
        raise UsageError(problem, fix=f"choose one from {smallest:,} to {MAX_BUDGET:,}")
    bundle, data = _quoted_bundle(subject, room)
    text = _filled(file.body, values | {"data_section": _section(values, data)}) + "\n"
    ids = tuple(run.id for run in subject.runs)
    return Prompt(name, file.info.title, ids, bundle.parts, len(text), text)


def _arguments(file: PromptFile, given: Mapping[str, str]) -> dict[str, str]:
    """Returns the text of every argument that a prompt declares, in one line each. Raises UsageError for one
    that it does not declare, and for one that is too long."""
    known = {argument.name: argument.default for argument in file.info.arguments}
    for name, text in given.items():
        if name not in known:
            problem = f"the prompt {file.info.name!r} has no argument {name!r}"
            fix = f"it has {', '.join(known) or 'none'}{did_you_mean(name, known)}"
            raise UsageError(problem, fix=fix)
        if len(text) > MAX_ARGUMENT:
            problem = f"the argument {name!r} has {len(text):,} characters"
            raise UsageError(problem, fix=f"use at most {MAX_ARGUMENT:,}")
    texts = {name: given.get(name) or default for name, default in known.items()}
    return {name: " ".join(plain_text(text).split()).rstrip(".") for name, text in texts.items()}


def _subject(file: PromptFile, refs: Sequence[str], last: int, directory: Path) -> _Subject:
    """Returns the runs that a prompt is about, and the parts of their data."""
    if file.info.max_runs == 1:
        if len(refs) > 1:
            problem = f"the prompt {file.info.name!r} is about one run, not {len(refs)}"
            raise UsageError(problem, fix="name one of them")
        run, checkpoint = store.resolve_readable(refs[0] if refs else "@last", directory)
        sanitizer = sanitizer_for([run])
        sides = [ComparisonSide(run.id, (run,), is_group=False)]
        return _Subject([run], sides, run_parts(run, checkpoint, sanitizer)[1:], sanitizer)
    sides = choose_runs(refs, None if refs else last, directory)
    runs = newest_first([run for side in sides for run in side.runs])
    sanitizer = sanitizer_for(runs)
    return _Subject(runs, sides, several_parts(runs, sides, sanitizer)[1:], sanitizer)


def _values(subject: _Subject) -> dict[str, str]:
    """Returns what the instructions say about the runs: ids, and names of presets, but no text that someone
    may have written into a run."""
    ids = [_name(run.id, "RUN") for run in subject.runs]
    presets = dict.fromkeys(_name(str(run.info["preset"]), "ENV") for run in subject.runs)
    compared = [_name(side.name, "RUN") for side in subject.sides]
    if len(compared) == 1:
        compared.append(f"@best:{_name(str(subject.runs[0].info['env']), 'ENV')}")
    return {
        "run": ids[0],
        "runs": ", ".join(ids),
        "preset": next(iter(presets)),
        "presets": " and ".join(presets),
        "compared": " ".join(compared),
        "subject": f"the run {ids[0]}" if len(ids) == 1 else f"the runs {', '.join(ids)}",
        "rules": shared_part("rules"),
    }


def _name(text: str, otherwise: str) -> str:
    """Returns an id or a name; `otherwise`, if someone has put a sentence there."""
    return text if _NAME.fullmatch(text) else otherwise


def _quoted_bundle(subject: _Subject, room: int) -> tuple[Bundle, str]:
    """Returns the data of the runs, and the same as quoted lines with at most `room` characters."""
    size = room
    while True:
        bundle = make_bundle(subject.parts, budget=size, sanitizer=subject.sanitizer)
        quoted = quote(bundle.text)
        if len(quoted) <= room:
            return bundle, quoted
        size -= len(quoted) - room  # the marks of the lines need room, too


def quote(text: str) -> str:
    """Returns a text with a mark before every line, which no line of it can leave."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _section(values: Mapping[str, str], data: str) -> str:
    return _filled(shared_part("data"), {**values, "data": data})


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Returns a text with its placeholders filled, in one pass: what is filled in is not looked at again."""
    return PLACEHOLDER.sub(lambda found: values[found[1]], text)
