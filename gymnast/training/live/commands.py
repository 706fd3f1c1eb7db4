"""Commands to a running training: which ones wait, and which must be repeated on resume.

On resume, the live changes that an earlier attempt applied after the restored checkpoint are applied
again first, each at the same rollout as before, so that resuming is exact. Then come new commands
from the inbox. The loop applies them, at rollout boundaries.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gymnast.clock import Clock
from gymnast.config.sections.stop import limits_after
from gymnast.config.serialize import SettingChange
from gymnast.errors import ConfigError
from gymnast.runs import inbox
from gymnast.runs.events import CHANGED, EVALUATED, is_reapplied
from gymnast.runs.inbox import Command, InvalidCommand
from gymnast.runs.run import Run
from gymnast.training.live.settings import Settings

POLL_SECONDS = 0.1
"""Interval at which a paused run polls its inbox."""


class Commands:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.paused = False
        self._to_reapply: list[Mapping[str, Any]] = []
        """Events of live changes to apply again, each at the rollout it names."""
        # Commands with an event were applied or refused, even if the process died before it could
        # delete their file.
        self._answered = {event["id"] for event in run.recorded_events() if "id" in event}
        resumed = run.info["attempts"] > 0
        # a "stop" or "pause" sent to an attempt that has ended must not stop the next one
        self._stale = {
            command.id
            for command in inbox.read_commands(run.inbox)
            if isinstance(command, Command) and resumed and command.kind != "set"
        }

    def schedule_reapply(
        self, events: Iterable[Mapping[str, Any]], rollouts: int, applied: Collection[str]
    ) -> list[Mapping[str, Any]]:
        """Schedules the live changes among these events that lie at or after the rollout number `rollouts`,
        and returns them. `applied`: ids of the commands that the restored state contains already."""
        ahead = [e for e in events if is_reapplied(e) and e["rollouts"] >= rollouts]
        self._to_reapply = [event for event in ahead if event["id"] not in applied]
        return self._to_reapply

    def due_again(self, rollouts: int) -> list[Mapping[str, Any]]:
        """Returns the recorded changes to apply again at this rollout; each is returned once."""
        due = [event for event in self._to_reapply if event["rollouts"] == rollouts]
        self._to_reapply = [event for event in self._to_reapply if event["rollouts"] > rollouts]
        return due

    def unanswered(self) -> Iterator[Command | InvalidCommand]:
        """Yields the files in the inbox that have not been answered, oldest first, each once. The caller
        must answer each with an event, then `discard` it."""
        for command in inbox.read_commands(self.run.inbox):
            name = command.id if isinstance(command, Command) else command.file.name
            if name not in self._answered:
                self._answered.add(name)
                yield command
            elif isinstance(command, Command):  # the process died before it could delete the file
                self.discard(command)

    def discard(self, command: Command | InvalidCommand) -> None:
        """Deletes the file of a command that has been answered; moves a file that is no command out of the
        inbox."""
        if isinstance(command, Command):
            inbox.delete_command(self.run.inbox, command.id)
            return
        try:
            inbox.reject_file(command)
        except OSError as problem:  # it stays, and is not reported again
            logger = logging.getLogger("gymnast")
            logger.warning("inbox: cannot move %s: %s", command.file.name, problem)

    def answer(self, command: Command | InvalidCommand, settings: Settings, clock: Clock) -> Answer:
        """Decides what the run does about a command. A `set` is refused as a whole if one of its assignments
        is not allowed."""
        if isinstance(command, InvalidCommand) or command.id in self._stale:
            return refuse(command, "it was for an earlier attempt")
        sender: dict[str, object] = {"id": command.id, "by": command.by}
        match command.kind:
            case "set":
                try:
                    changes = settings.check_changes(command.assignments)
                    check_budget_left(changes, clock)
                except ConfigError as problem:
                    return refuse(command, one_line(problem))
                return Answer(CHANGED, sender, "set", changes)
            case "pause" | "unpause" if self.paused == (command.kind == "pause"):
                state = "is paused already" if self.paused else "is not paused"
                return refuse(command, f"it {state}")
            case "checkpoint" | "evaluate" | "stop" | "pause" | "unpause":
                return Answer(_EVENTS[command.kind], sender, command.kind)
            case _:  # the inbox rejects unknown kinds
                raise AssertionError(command.kind)


Effect = Literal["none", "set", "checkpoint", "evaluate", "stop", "pause", "unpause"]


@dataclass(frozen=True)
class Answer:
    """The answer of a run to a command: it writes an event, then does what was asked."""

    event: str
    """Kind of the event."""
    detail: dict[str, object]
    """Further fields of the event."""
    effect: Effect = "none"
    changes: Collection[SettingChange] = ()
    """The changes of settings (`key`, `from`, `to`), for `set`."""


REFUSED = "command refused"
_EVENTS = {
    "checkpoint": "checkpoint asked",
    "evaluate": EVALUATED,
    "stop": "stop asked",
    "pause": "paused",
    "unpause": "unpaused",
}
"""Kind of command -> kind of the event that answers it."""


def refuse(command: Command | InvalidCommand, why: str) -> Answer:
    """Returns the answer that the command is refused, and the reason: a file that is no command has its own,
    instead of `why`."""
    if isinstance(command, InvalidCommand):
        return Answer(REFUSED, {"file": command.file.name, "why": command.reason})
    detail = {"id": command.id, "by": command.by, "command": command.kind, "why": why}
    assignments = {"assignments": command.assignments} if command.assignments else {}
    return Answer(REFUSED, {**detail, **assignments})


def check_budget_left(changes: Collection[SettingChange], clock: Clock) -> None:
    """Raises ConfigError for a budget that is used up already: the run would end with a reason that
    was never true ("budget of 1,000 env_steps spent" after 5,000)."""
    for name, total in limits_after(changes, clock.limits).items():
        used = clock.read(name)
        if used >= total and total != clock.limits.get(name):
            raise ConfigError(
                f"a budget of {total:,.0f} {name} is used up already: the run has used {used:,.0f}",
                fix="gymnast stop ends the run now",
            )


def one_line(problem: Exception) -> str:
    """Returns the message of an error on one line, for an event."""
    return " ".join(str(problem).split())
