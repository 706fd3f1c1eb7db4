"""Blunders that were found before: one file per episode, next to the run. Needs no gymnasium."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import ValidationError

from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.branch_record import BlunderReport
from gymnast.records import from_json, to_json
from gymnast.runs import document, durable, files, layout
from gymnast.runs.episodes import read_episode
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace

MAX_FILES = 100
"""Number of reports that are kept per run; the oldest are deleted."""


def read_blunders(address: EpisodeAddress) -> BlunderReport | None:
    """Returns the stored report about an episode; None if there is none, or if it is about an episode that
    has since been replaced, by a resumed run for example. Raises RunError if the episode is not stored."""
    file = _file(address)
    if not file.exists():
        return None
    episode = read_episode(Run(address.path), address.kind, address.version, address.number)
    if isinstance(episode, MatchTrace):
        return None
    try:
        stored = document.loads(files.read(file))
        if stored["version"] != layout.ANALYSES.version or stored["episode"] != _digest(episode):
            return None
        return from_json(BlunderReport, stored["report"])
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None  # damaged, or being deleted: it can be computed again


def write_blunders(address: EpisodeAddress, episode: Trace, report: BlunderReport) -> None:
    """Stores the report about an episode, and deletes the oldest reports of the run if there are too many."""
    file = _file(address)
    file.parent.mkdir(exist_ok=True)
    stored = {
        "version": layout.ANALYSES.version,
        "episode": _digest(episode),
        "report": to_json(report),
    }
    durable.replace(file, document.dumps(stored).encode())
    files = sorted(file.parent.glob("blunders-*.json"), key=lambda path: path.stat().st_mtime)
    for old in files[:-MAX_FILES]:
        old.unlink(missing_ok=True)


def _file(address: EpisodeAddress) -> Path:
    name = f"blunders-{address.kind}-{address.version}-{address.number}.json"
    return layout.ANALYSES.path(address.path) / name


def _digest(episode: Trace) -> str:
    """Returns a hash of what an episode is: its seed, actions and rewards."""
    parts = (str(episode.seed).encode(), episode.action.tobytes(), episode.reward.tobytes())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
