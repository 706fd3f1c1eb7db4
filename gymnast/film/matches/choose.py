"""Which stored matches are meant: of one version, a match of every pair of players for each way it
went, or one by its number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gymnast.config.sections.league import LEARNER
from gymnast.errors import RunError
from gymnast.film.choose import Kind, by_version, place_of, switch, version_of
from gymnast.runs.match_trace import MatchTrace, read_matches
from gymnast.runs.run import Run

TOGETHER = "together"
"""All roles were played by those who learn."""


@dataclass(frozen=True, eq=False)
class ChosenMatch:
    kind: Kind
    version: int
    """Env steps in the name of its file: of the policies, or for training of the checkpoint."""
    which: str
    """Who played and how it went, or its number; part of the name of its film."""
    index: int
    """Its place in the file, from 0."""
    trace: MatchTrace


def choose_matches(
    run: Run,
    outcomes: Mapping[str, str],
    episode: str = "best",
    *,
    kind: Kind = "eval",
    at: str | None = None,
) -> list[ChosenMatch]:
    """`best` and `last`: of the best or the newest version the first match of every pair of players
    that was won, that was lost, and so on. A number: that match of the best version, from 0. `at` names
    another version. `outcomes`: how a match may end -> the role that then has won."""
    files = by_version(run.matches, kind)
    if not files:
        fix = f"{switch(kind)} say what is stored"
        raise RunError(f"no {kind} matches are stored", at=str(run.path), fix=fix)
    version = version_of(run, kind, files, episode, at)
    traces = read_matches(files[version])
    if episode not in ("best", "last"):
        index = place_of(episode, len(traces))
        return [ChosenMatch(kind, version, episode, index, traces[index])]
    first: dict[str, ChosenMatch] = {}
    for index, trace in enumerate(traces):
        which = described(trace, outcomes)
        first.setdefault(which, ChosenMatch(kind, version, which, index, trace))
    return list(first.values())


def described(trace: MatchTrace, outcomes: Mapping[str, str]) -> str:
    """`seeker-medium-won`: who learned, against whom, and how it went where that is known."""
    role = next((role for role, who in trace.cast.items() if who == LEARNER), "")
    others = [who for other, who in trace.cast.items() if other != role]
    together = all(who == LEARNER for who in others)
    rivals = "+".join(dict.fromkeys(map(_short, others)))
    winner = outcomes.get(trace.outcome)
    if not winner:
        result = "" if winner is None else "drawn"
    elif together:
        result = f"{winner}-won"
    else:
        result = "won" if winner == role else "lost"
    words = [TOGETHER] if together else [role, rivals]
    return re.sub(r"[^\w.+-]+", "_", "-".join(word for word in (*words, result) if word))


def _short(who: str) -> str:
    """`scripted:medium` is `medium`; past selves are one opponent."""
    kind, _, name = who.partition(":")
    return "past" if kind == "step" else name or kind
