"""What the lines of events.jsonl add up to, once a run has gone back and gone on another way.

Going back makes later events void, except live changes: those are part of what the run was told to
do, and are done again at the same rollout. What `resume --set` overrules is not. What follows from
the rows, such as the changes that rules make, comes again by itself, with new events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

CHANGED, DROPPED, EVALUATED = "live change", "live changes dropped", "evaluation asked"
SUPERSEDED = "superseded"

Event = dict[str, Any]


def valid(recorded: Iterable[Event]) -> list[Event]:
    """What changed the run, in order, without what was superseded and the markers for it."""
    events: list[Event] = []
    for event in recorded:
        at = event.get("rollouts", 0)
        if event["kind"] == SUPERSEDED:
            events = up_to(events, at)
            continue
        if event["kind"] == DROPPED:
            events = [e for e in (_without(e, event["keys"], at) for e in events) if e]
        events.append(event)
    return events


def up_to(events: Iterable[Event], rollouts: int) -> list[Event]:
    """What a run that continues from this rollout keeps of these events."""
    return [
        event for event in events if event.get("rollouts", 0) <= rollouts or effective_events(event)
    ]


def effective_events(event: Mapping[str, Any]) -> bool:
    """Whether it is done again, at the same rollout, by a run that goes on from before it."""
    return event["kind"] in (CHANGED, EVALUATED)


def _without(event: Event, keys: list[str], rollouts: int) -> Event | None:
    """A live change from here on, without the keys that were dropped; None if none is left."""
    if event["kind"] != CHANGED or event.get("rollouts", 0) < rollouts:
        return event
    changes = [change for change in event["changes"] if change["key"] not in keys]
    return {**event, "changes": changes} if changes else None
