"""Commands to a running training, applied at rollout boundaries.

On resume, the live changes that an earlier attempt applied after the restored checkpoint are applied
again first, each at the same rollout as before, so that resuming is exact. Then come new commands
from the inbox.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from gymnast.clock import Clock
from gymnast.config.sections.stop import limits_after
from gymnast.errors import ConfigError
from gymnast.measure.limits import metric_limits
from gymnast.metrics.specs import run_metrics
from gymnast.runs import inbox
from gymnast.runs.events import CHANGED, EVALUATED, is_reapplied
from gymnast.runs.inbox import Command, InvalidCommand
from gymnast.runs.run import Run
from gymnast.training.evaluation_points import evaluate_now
from gymnast.training.lifecycle.stop import StopReason
from gymnast.training.lifecycle.unused_settings import record_unused_settings
from gymnast.training.live.settings import alert_settings

if TYPE_CHECKING:
    from gymnast.training.loop import Loop

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
        self._stale = {c.id for c in self._in_inbox() if resumed and c.kind != "set"}

    def schedule_reapply(
        self, events: Iterable[Mapping[str, Any]], loop: Loop
    ) -> list[Mapping[str, Any]]:
        """Schedules the live changes among these events that lie at or after the current rollout, and
        returns them."""
        s = loop.session
        ahead = [e for e in events if is_reapplied(e) and e["rollouts"] >= s.clock.rollouts]
        self._to_reapply = [event for event in ahead if event["id"] not in s.applied_commands]
        return self._to_reapply

    def apply_pending(self, loop: Loop) -> StopReason | None:
        """Applies every command due at this rollout boundary and returns a reason to stop, if any.
        While the run is paused, this blocks until a command or a signal ends the pause."""
        reason = self._reapply_due(loop)
        while reason is None:
            reason = self._apply_inbox(loop)
            if reason is not None or not self.paused:
                break
            if loop.interrupts.stop_requested():
                reason = loop.stop_reason()
                break
            began = time.perf_counter()
            time.sleep(POLL_SECONDS)
            loop.stopwatch.skip(time.perf_counter() - began)  # a pause is no training time
        return reason

    def reject_pending(self, loop: Loop, why: str) -> None:
        """Answers every command left in the inbox with a "command refused" event."""
        for command in self._in_inbox():
            if command.id not in self._answered:
                self._refuse(command, why, loop)
            inbox.delete_command(self.run.inbox, command.id)

    def _in_inbox(self) -> list[Command]:
        commands = inbox.read_commands(self.run.inbox)
        return [command for command in commands if isinstance(command, Command)]

    def _reapply_due(self, loop: Loop) -> StopReason | None:
        """Applies the recorded changes of this rollout again. Their events are in events.jsonl
        already, so none is written."""
        now = loop.session.clock.rollouts
        due = [event for event in self._to_reapply if event["rollouts"] == now]
        self._to_reapply = [event for event in self._to_reapply if event["rollouts"] > now]
        reason: StopReason | None = None
        for event in due:
            if event["kind"] == EVALUATED:
                reason = reason or evaluate_now(loop)
                continue
            try:
                reason = apply_changes(loop, event["changes"]) or reason
                loop.session.applied_commands.append(event["id"])
            except (ConfigError, ValueError) as problem:  # resume --set changed the config under it
                loop.event("live change not reapplied", of=event["id"], why=_one_line(problem))
        return reason

    def _apply_inbox(self, loop: Loop) -> StopReason | None:
        """Applies the commands in the inbox, oldest first, and returns the first reason to stop."""
        for command in inbox.read_commands(self.run.inbox):
            if isinstance(command, InvalidCommand):
                self._reject_file(command, loop)
                continue
            reason = None
            if command.id not in self._answered:
                self._answered.add(command.id)
                reason = self._apply(command, loop)
            inbox.delete_command(self.run.inbox, command.id)
            if reason is not None:
                return reason  # `reject_pending` answers the rest
        return None

    def _apply(self, command: Command, loop: Loop) -> StopReason | None:
        """Applies one command, or refuses it, and writes its event. Returns a reason to stop, or None."""
        # The event is written before the command is applied: after a crash in between, the command
        # counts as answered and is not applied a second time.
        if command.id in self._stale:
            self._refuse(command, "it was for an earlier attempt", loop)
            return None
        sender = {"id": command.id, "by": command.by}
        match command.kind:
            case "set":
                return self._set(command, loop)
            case "checkpoint":
                loop.event("checkpoint asked", **sender)
                loop.save("asked")
            case "evaluate":
                loop.event(EVALUATED, **sender)
                return evaluate_now(loop)
            case "stop":
                loop.event("stop asked", **sender)
                return StopReason("command", "stopped by command")
            case "pause" | "unpause" if self.paused == (command.kind == "pause"):
                state = "is paused already" if self.paused else "is not paused"
                self._refuse(command, f"it {state}", loop)
            case "pause":
                self._pause(loop, sender)
            case "unpause":
                self._unpause(loop, sender)
            case _:  # the inbox rejects unknown kinds
                raise AssertionError(command.kind)
        return None

    def _set(self, command: Command, loop: Loop) -> StopReason | None:
        """Changes settings, or refuses the whole command if one of its assignments is not allowed."""
        try:
            changes = loop.session.settings.check_changes(command.assignments)
            check_budget_left(changes, loop.session.clock)
        except ConfigError as problem:
            self._refuse(command, _one_line(problem), loop)
            return None
        reason = apply_changes(loop, changes, CHANGED, id=command.id, by=command.by)
        loop.session.applied_commands.append(command.id)
        record_unused_settings(loop, [change["key"] for change in changes])
        return reason

    def _pause(self, loop: Loop, sender: Mapping[str, str]) -> None:
        self.paused = True
        self.run.update(status="paused", clocks=loop.session.clock.counters())
        loop.event("paused", **sender)

    def _unpause(self, loop: Loop, sender: Mapping[str, str]) -> None:
        self.paused = False
        self.run.update(status="running")
        loop.event("unpaused", **sender)

    def _refuse(self, command: Command, why: str, loop: Loop) -> None:
        """Records a "command refused" event with the reason."""
        detail = {"assignments": command.assignments} if command.assignments else {}
        loop.event(
            "command refused", id=command.id, by=command.by, command=command.kind, why=why, **detail
        )

    def _reject_file(self, invalid: InvalidCommand, loop: Loop) -> None:
        """Reports a file that is no command and moves it out of the inbox."""
        name = invalid.file.name
        if name in self._answered:  # reported before, but the file could not be moved away
            return
        self._answered.add(name)
        loop.event("command refused", file=name, why=invalid.reason)
        try:
            inbox.reject_file(invalid)
        except OSError as problem:
            logging.getLogger("gymnast").warning("inbox: cannot move %s: %s", name, problem)


def check_budget_left(changes: Collection[Mapping[str, Any]], clock: Clock) -> None:
    """Raises ConfigError for a budget that is used up already: the run would end with a reason that
    was never true ("budget of 1,000 env_steps spent" after 5,000)."""
    for name, total in limits_after(changes, clock.limits).items():
        used = clock.read(name)
        if used >= total and total != clock.limits.get(name):
            raise ConfigError(
                f"a budget of {total:,.0f} {name} is used up already: the run has used {used:,.0f}",
                fix="gymnast stop ends the run now",
            )


def apply_changes(
    loop: Loop, changes: Collection[Mapping[str, Any]], event: str = "", **detail: Any
) -> StopReason | None:
    """Applies changes of settings (`key`, `from`, `to`) and records them as an event of kind `event`, if one
    is named, with `detail`. Returns a reason to stop if the changed budget is spent."""
    s = loop.session
    # Before the event: whoever reacts to the event finds the new values in run.json.
    loop.run.update(clocks=s.clock.counters(), live=s.settings.live_after(changes))
    if event:
        loop.event(event, **detail, changes=changes)
    s.settings.change(changes)
    s.adopt_settings()
    # The declared bounds of metrics and the advice of alerts depend on the settings.
    loop.recorder.replace_metrics(
        run_metrics(s.cfg, metric_limits(s.collector, s.cfg)), alert_settings(s.cfg, loop.run)
    )
    return loop.budget_spent_reason()


def _one_line(problem: Exception) -> str:
    return " ".join(str(problem).split())
