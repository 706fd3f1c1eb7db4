"""A program of the user that proposes trials: past trials in, a config patch out (docs/sweep-proposers.md).

The program is started anew for every trial, with one JSON line on its standard input. Its answer is checked
like a trial that nobody trusts: it must be within the space and a valid config that was not tried before. A
wrong answer is returned to the program once, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, cast

from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import InvalidConfig
from gymnast.errors import CommandFailed
from gymnast.settings import UserCommand
from gymnast.sweep.decide import BASELINE, Plan
from gymnast.sweep.history import History
from gymnast.sweep.parameter import is_active
from gymnast.sweep.proposal_request import best_trial, request_line
from gymnast.sweep.space import Space, assignment_key
from gymnast.text.formatting import count_noun
from gymnast.user_command import run_command

ATTEMPTS = 2
"""Number of answers before the program is given up."""
MAX_ANSWER = 65_536
"""Characters of the longest answer."""
REQUEST = "proposal.json"
"""File with the last line that the program got, to run it by hand."""
FIELDS = ("config", "base", "note")
"""Keys of an answer."""


class Refused(Exception):
    """An answer that cannot be used; the text is passed to the program."""


@dataclass(frozen=True)
class CommandProposer:
    """Asks a program for every trial. What it proposed is in the journal of the study, so that a resumed
    study does not ask again."""

    name: str
    """Its name in the settings file, or the program, for messages."""
    command: UserCommand
    folder: Path
    """The directory in which it runs."""
    place: str = "in the settings file"
    """The place where it is named, for messages."""

    def propose(
        self, space: Space, plan: Plan, view: History, number: int
    ) -> dict[str, PlainValue]:
        """Returns the values of trial `number`. Raises CommandFailed if the program fails or its second
        answer is wrong too; the study can be resumed then."""
        answer, problem = "", ""
        for _ in range(ATTEMPTS):
            line = request_line(space, plan, view, number, answer=answer, problem=problem)
            (self.folder / REQUEST).write_text(line, encoding="utf-8")
            try:
                answer = ""
                answer = self._ask(line)
                return read_answer(answer, space, plan, view)
            except CommandFailed as failed:
                problem = failed.message
            except Refused as refused:
                problem = str(refused)
        raise CommandFailed(
            f"the propose command {self.name!r} failed {count_noun(ATTEMPTS, 'time')} to propose "
            f"trial {number}: {problem}",
            fix=f"run it by hand with {self.folder / REQUEST} as its input, then resume the study",
        )

    def _ask(self, line: str) -> str:
        answer = run_command(
            self.name, self.command, line, self.folder, kind="propose", place=self.place
        )
        return answer.text


def read_answer(answer: str, space: Space, plan: Plan, view: History) -> dict[str, PlainValue]:
    """Returns the assignment in the last line of an answer. Parameters that its `config` does not name have
    the values of the trial `base`, by default the best one. Raises Refused with the reason."""
    if len(answer) > MAX_ANSWER:
        raise Refused(
            f"the answer has {len(answer):,} characters (expected at most {MAX_ANSWER:,})"
        )
    fields = _object(answer.splitlines()[-1] if answer else "")
    if unknown := [key for key in fields if key not in FIELDS]:
        raise Refused(
            f"the answer has the unknown key {unknown[0]!r} (expected {', '.join(FIELDS)})"
        )
    patch = fields.get("config")
    if not isinstance(patch, Mapping) or not patch:
        raise Refused('the answer has no "config" (expected parameter -> value)')
    below = _base(fields.get("base"), plan, view)
    assignment: dict[str, PlainValue] = dict(cast("Mapping[str, PlainValue]", patch))
    known: dict[str, PlainValue] = {}
    for parameter in space.parameters:
        name = parameter.name
        if is_active(parameter, known) and (name in assignment or name in below):
            known[name] = assignment.setdefault(name, below.get(name))
    try:
        checked = space.checked(assignment)
    except InvalidConfig as error:
        raise Refused(str(error)) from None
    for trial in view.trials:
        if trial.assignment is not None and assignment_key(trial.assignment) == assignment_key(
            checked
        ):
            raise Refused(
                f"these are the settings of trial {trial.number}, which was tried already"
            )
    if plan.options.baseline and space.equals_baseline(checked):
        raise Refused(f"these are the settings of the baseline, which is trial {BASELINE}")
    return checked


def _object(line: str) -> Mapping[str, Any]:
    """Returns the JSON object in a line; raises Refused for anything else."""
    try:
        found: object = json.loads(line, parse_constant=_refuse_constant)
    except ValueError as error:
        raise Refused(f"the last line of the answer is not JSON: {error}") from None
    if not isinstance(found, Mapping):
        raise Refused("the last line of the answer is not a JSON object")
    return cast("Mapping[str, Any]", found)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def _base(number: object, plan: Plan, view: History) -> Mapping[str, PlainValue]:
    """Returns the values that an answer does not name: those of a trial, empty if there is none."""
    if number is None:
        found = best_trial(plan, view)
        return (found.assignment if found is not None else None) or {}
    for trial in view.trials:
        if trial.number == number and type(number) is int:
            if trial.assignment is None:
                raise Refused(f'"base" is {number}, the baseline, which has no values of its own')
            return trial.assignment
    raise Refused(f'"base" is {number!r}, which is no trial (expected the number of a trial)')
