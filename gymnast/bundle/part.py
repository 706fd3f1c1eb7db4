"""The parts of a bundle, in the order in which they are added while they fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

RUN, LOG, EVENTS, METRICS, LEAGUE, INCIDENT, POLICY, EPISODES, TRAINING, INCIDENTS = (
    "run",
    "log",
    "events",
    "metrics",
    "league",
    "incident",
    "policy",
    "episodes",
    "training state",
    "older incidents",
)
PARTS = {
    RUN: "run.json, the config and the origin of its values; always included",
    LOG: "the end of the log",
    EVENTS: "everything that changed the run",
    METRICS: "the metrics of every rollout",
    LEAGUE: "cross-play results",
    INCIDENT: "the newest update that was rolled back",
    POLICY: "the policy of the checkpoint",
    EPISODES: "the evaluation of that policy, step by step",
    TRAINING: "the rest of the checkpoint: optimizer, running episodes, the table of steps",
    INCIDENTS: "earlier updates that were rolled back",
}
"""Part -> content. Parts are added in this order, so that the last ones are left out first."""


@dataclass(frozen=True)
class Draft:
    """The files of a part, complete or shortened."""

    files: Mapping[str, bytes]
    """Path in the run directory -> content, without anything private. A file of an earlier part is
    replaced."""
    note: str = ""
    """Says what is missing, if it is shortened."""

    @property
    def size(self) -> int:
        return sum(map(len, self.files.values()))


@dataclass(frozen=True)
class Part:
    name: str
    """One of PARTS."""
    drafts: Callable[[], Iterator[Draft]]
    """Yields the complete part, then smaller and smaller ones; nothing if the run has no such files."""
