"""Selects stored matches of a run: one per pairing and result, or one by its number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gymnast.config.sections.league import LEARNER
from gymnast.errors import RunError
from gymnast.film.choose import (
    files_by_version,
    parse_index,
    select_version,
    storage_settings,
)
from gymnast.film.requested import find_requested
from gymnast.runs.episode_kinds import Kind, RequestedKind
from gymnast.runs.episodes import read_episode
from gymnast.runs.match_trace import MatchTrace, read_matches
from gymnast.runs.requested_episodes import EpisodeSettings
from gymnast.runs.run import Run

TOGETHER = "together"
"""Name of the pairing in which all roles were played by learning policies."""


@dataclass(frozen=True, eq=False)
class ChosenMatch:
    kind: Kind
    version: int
    """Env steps in the file name: of the policies or, for training matches, of the checkpoint."""
    selection: str
    """Pairing and result, or its number; part of the name of its film."""
    index: int
    """Index in the file, from 0; of a fresh or played match, its number."""
    trace: MatchTrace
    settings: EpisodeSettings | None = None
    """How a fresh or played match was played; None for those of training."""


def choose_matches(
    run: Run,
    outcomes: Mapping[str, str],
    episode: str = "best",
    *,
    kind: Kind = "eval",
    checkpoint: str | None = None,
) -> list[ChosenMatch]:
    """Returns stored matches of `run`.

    `best` and `last` return, for the best or the newest version, the first match of every pairing and
    result (won, lost, drawn). A number returns the match with this index (from 0) of the best version.
    `checkpoint` names another version. `outcomes` maps each outcome to the role that wins by it."""
    files = files_by_version(run.matches, kind)
    if not files:
        fix = f"what is stored is set by {storage_settings(kind)}"
        raise RunError(f"no {kind} matches are stored", at=str(run.path), fix=fix)
    version = select_version(run, kind, files, episode, checkpoint)
    traces = read_matches(files[version])
    if episode not in ("best", "last"):
        index = parse_index(episode, len(traces))
        return [ChosenMatch(kind, version, episode, index, traces[index])]
    first: dict[str, ChosenMatch] = {}
    for index, trace in enumerate(traces):
        label = match_label(trace, outcomes)
        first.setdefault(label, ChosenMatch(kind, version, label, index, trace))
    return list(first.values())


def choose_requested_match(
    run: Run, kind: RequestedKind, episode: str, checkpoint: str | None
) -> ChosenMatch:
    """Returns a fresh or played match, selected as in `find_requested`."""
    info = find_requested(run, kind, episode, checkpoint)
    trace = read_episode(run, kind, info.version, info.number)
    assert isinstance(trace, MatchTrace)
    return ChosenMatch(kind, info.version, str(info.number), info.number, trace, info.settings)


def match_label(trace: MatchTrace, outcomes: Mapping[str, str]) -> str:
    """Returns e.g. `seeker-medium-won`: the learning role, its opponents, and the result if it is known."""
    role = next((role for role, player in trace.cast.items() if player == LEARNER), "")
    others = [player for other, player in trace.cast.items() if other != role]
    together = all(player == LEARNER for player in others)
    rivals = "+".join(dict.fromkeys(map(_short, others)))
    winner = outcomes.get(trace.outcome)  # None: unknown outcome; empty: nobody wins by it
    if not winner:
        result = "" if winner is None else "drawn"
    elif together:
        result = f"{winner}-won"
    else:
        result = "won" if winner == role else "lost"
    words = [TOGETHER] if together else [role, rivals]
    # The label is part of a file name, and player names may contain slashes and colons.
    return re.sub(r"[^\w.+-]+", "_", "-".join(word for word in (*words, result) if word))


def _short(player: str) -> str:
    """Returns a short name: `medium` for `scripted:medium`, `past` for every earlier policy (`step:N`)."""
    kind, _, name = player.partition(":")
    return "past" if kind == "step" else name or kind
