"""What a run is told while it trains, carried out at rollout boundaries.

First come the live changes that an earlier attempt obeyed after the checkpoint this one goes on
from: at the same rollout as then, which is why resuming is exact. Then whatever is in the inbox.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gymnast.clock import Clock
from gymnast.config.sections.stop import limits_after
from gymnast.errors import ConfigError
from gymnast.metrics.specs import declared
from gymnast.runs import inbox
from gymnast.runs.events import CHANGED, EVALUATED, effective_events
from gymnast.runs.inbox import Command, Unreadable
from gymnast.runs.run import Run
from gymnast.training.evaluation_points import evaluate_now
from gymnast.training.lifecycle.effects import note_settings_without_effect
from gymnast.training.lifecycle.stop import Reason
from gymnast.training.session import alert_settings, task_limits

if TYPE_CHECKING:
    from gymnast.training.loop import Loop

LOOK_SECONDS = 0.1
"""How often a paused run looks whether it may go on."""


class Commands:
    def __init__(self, run: Run) -> None:
        self.run = run
        self.paused = False
        self._ahead: list[Mapping[str, Any]] = []
        self._answered = {event["id"] for event in run.recorded_events() if "id" in event}
        resumed = run.info["attempts"] > 0
        self._stale = {c.id for c in self._waiting() if resumed and c.kind != "set"}

    def reapply(self, events: Iterable[Mapping[str, Any]], loop: Loop) -> list[Mapping[str, Any]]:
        """Do again what stands among these events, from where the run is now; returns what that is."""
        s = loop.session
        ahead = [e for e in events if effective_events(e) and e["rollouts"] >= s.clock.rollouts]
        self._ahead = [event for event in ahead if event["id"] not in s.applied_commands]
        return self._ahead

    def apply_pending(self, loop: Loop) -> Reason | None:
        """All that is due at this boundary; while paused, until told to go on or asked to stop."""
        reason = self._again(loop)
        while reason is None:
            reason = self._from_inbox(loop)
            if reason is not None or not self.paused:
                break
            if loop.interrupts.asked():
                reason = loop.stop_reason()
                break
            began = time.perf_counter()
            time.sleep(LOOK_SECONDS)
            loop.watch.skip(time.perf_counter() - began)
        return reason

    def reject_pending(self, loop: Loop, why: str) -> None:
        """Say of everything still in the inbox that it was not carried out."""
        for command in self._waiting():
            if command.id not in self._answered:
                self._refuse(command, why, loop)
            inbox.forget(self.run.inbox, command.id)

    def _waiting(self) -> list[Command]:
        return [found for found in inbox.take(self.run.inbox) if isinstance(found, Command)]

    def _again(self, loop: Loop) -> Reason | None:
        """What stands at this rollout. Its event does too: none is written."""
        now = loop.session.clock.rollouts
        due = [event for event in self._ahead if event["rollouts"] == now]
        self._ahead = [event for event in self._ahead if event["rollouts"] > now]
        reason: Reason | None = None
        for event in due:
            if event["kind"] == EVALUATED:
                reason = reason or evaluate_now(loop)
                continue
            try:
                reason = apply_changes(loop, event["changes"]) or reason
                loop.session.applied_commands.append(event["id"])
            except (ConfigError, ValueError) as problem:  # the config it belonged to is another now
                loop.event("live change not reapplied", of=event["id"], why=_line(problem))
        return reason

    def _from_inbox(self, loop: Loop) -> Reason | None:
        for found in inbox.take(self.run.inbox):
            if isinstance(found, Unreadable):
                self._set_aside(found, loop)
                continue
            reason = None
            if found.id not in self._answered:
                self._answered.add(found.id)
                reason = self._carry_out(found, loop)
            inbox.forget(self.run.inbox, found.id)
            if reason is not None:
                return reason
        return None

    def _carry_out(self, command: Command, loop: Loop) -> Reason | None:
        """The event first, then the deed: a crash in between repeats nothing by mistake."""
        if command.id in self._stale:
            self._refuse(command, "it was for an earlier attempt", loop)
            return None
        who = {"id": command.id, "by": command.by}
        match command.kind:
            case "set":
                return self._set(command, loop)
            case "checkpoint":
                loop.event("checkpoint asked", **who)
                loop.save("asked")
            case "evaluate":
                loop.event(EVALUATED, **who)
                return evaluate_now(loop)
            case "stop":
                loop.event("stop asked", **who)
                return Reason("command", "stopped by command")
            case "pause" | "unpause" if self.paused == (command.kind == "pause"):
                state = "is paused already" if self.paused else "is not paused"
                self._refuse(command, f"it {state}", loop)
            case "pause":
                self._pause(loop, who)
            case "unpause":
                self._unpause(loop, who)
            case _:  # the inbox knows no other
                raise AssertionError(command.kind)
        return None

    def _set(self, command: Command, loop: Loop) -> Reason | None:
        try:
            changes = loop.session.settings.check_changes(command.assignments)
            refuse_spent_budget(changes, loop.session.clock)
        except ConfigError as problem:
            self._refuse(command, _line(problem), loop)
            return None
        reason = apply_changes(loop, changes, CHANGED, id=command.id, by=command.by)
        loop.session.applied_commands.append(command.id)
        note_settings_without_effect(loop, [change["key"] for change in changes])
        return reason

    def _pause(self, loop: Loop, who: Mapping[str, str]) -> None:
        self.paused = True
        self.run.update(status="paused", clocks=loop.session.clock.counters())
        loop.event("paused", **who)

    def _unpause(self, loop: Loop, who: Mapping[str, str]) -> None:
        self.paused = False
        self.run.update(status="running")
        loop.event("unpaused", **who)

    def _refuse(self, command: Command, why: str, loop: Loop) -> None:
        detail = {"assignments": command.assignments} if command.assignments else {}
        loop.event(
            "command refused", id=command.id, by=command.by, command=command.kind, why=why, **detail
        )

    def _set_aside(self, found: Unreadable, loop: Loop) -> None:
        name = found.file.name
        if name in self._answered:  # it could not be moved away, and was told of before
            return
        self._answered.add(name)
        loop.event("command refused", file=name, why=found.why)
        try:
            inbox.reject_file(found)
        except OSError as problem:
            logging.getLogger("gymnast").warning("inbox: %s stays: %s", name, problem)


def refuse_spent_budget(changes: Collection[Mapping[str, Any]], clock: Clock) -> None:
    """A budget that is used up already would end the run with a reason that never held."""
    for name, total in limits_after(changes, clock.limits).items():
        used = clock.read(name)
        if used >= total and total != clock.limits.get(name):
            raise ConfigError(
                f"a budget of {total:,.0f} {name} is used up already: the run has used {used:,.0f}",
                fix="gymnast stop ends the run now",
            )


def apply_changes(
    loop: Loop, changes: Collection[Mapping[str, Any]], event: str = "", **told: Any
) -> Reason | None:
    """Take over a change of settings, by which the budget may be spent, and tell of it by an event
    unless there is one already."""
    s = loop.session
    # before the event: who reads that finds in run.json what is live now
    loop.run.update(clocks=s.clock.counters(), live=s.settings.live_after(changes))
    if event:
        loop.event(event, **told, changes=changes)
    s.settings.change(changes)
    s.adopt_settings()
    loop.recorder.redeclare(
        declared(s.cfg, task_limits(s.collector, s.cfg)), alert_settings(s.cfg, loop.run)
    )
    return loop.budget_spent_reason()


def _line(problem: Exception) -> str:
    return " ".join(str(problem).split())
