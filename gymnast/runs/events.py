"""The events of a run, and which of them stay valid when it is rolled back to an earlier checkpoint.

A rollback invalidates all later events except commands of the user (live changes and requested
evaluations), which are applied again at the same rollout, unless `resume --set` overrides their
keys. Events that follow from the metric rows, such as the changes that rules make, occur again by
themselves and are recorded anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gymnast.clock import CLOCKS
from gymnast.runs.info import EventInfo
from gymnast.text.events import event_detail

CHANGED, DROPPED, EVALUATED = "live change", "live changes dropped", "evaluation asked"
SUPERSEDED = "superseded"


@dataclass(frozen=True)
class RunEvent:
    """Something that happened to a run: an evaluation, a live change, a checkpoint, the end."""

    kind: str
    time: float | None
    """Seconds since the epoch."""
    env_steps: int | None
    rollouts: int | None
    text: str
    """Its fields as one line."""
    detail: dict[str, object] = field(default_factory=dict[str, object])
    """All fields that only some kinds of events have."""

    @staticmethod
    def from_info(event: EventInfo) -> RunEvent:
        shared = ("kind", "time", *CLOCKS)
        return RunEvent(
            kind=event["kind"],
            time=event.get("time"),
            env_steps=event.get("env_steps"),
            rollouts=event.get("rollouts"),
            text=event_detail(event),
            detail={key: value for key, value in event.items() if key not in shared},
        )


def valid_events(recorded: Iterable[EventInfo]) -> list[EventInfo]:
    """Returns the events that are still valid, in order. `recorded`: all lines of events.jsonl; a
    `superseded` marker invalidates events before it and is not returned."""
    events: list[EventInfo] = []
    for event in recorded:
        at = event.get("rollouts", 0)
        if event["kind"] == SUPERSEDED:
            events = events_up_to(events, at)
            continue
        if event["kind"] == DROPPED:
            events = [e for e in (_without(e, event.get("keys", []), at) for e in events) if e]
        events.append(event)
    return events


def events_up_to(events: Iterable[EventInfo], rollouts: int) -> list[EventInfo]:
    """Returns the events that a run keeps when it continues after `rollouts` rollouts: those up to there, and
    later commands of the user, which are applied again."""
    return [
        event for event in events if event.get("rollouts", 0) <= rollouts or is_reapplied(event)
    ]


def is_reapplied(event: Mapping[str, object]) -> bool:
    """True if a run that resumes from before this event applies it again, at the same rollout."""
    return event["kind"] in (CHANGED, EVALUATED)


def _without(event: EventInfo, keys: list[str], rollouts: int) -> EventInfo | None:
    """Returns an event without the dropped `keys` if it is a live change at or after `rollouts`; None if no
    change is left in it. Other events are returned as they are."""
    if event["kind"] != CHANGED or event.get("rollouts", 0) < rollouts:
        return event
    changes = [change for change in event.get("changes", []) if change["key"] not in keys]
    return {**event, "changes": changes} if changes else None
