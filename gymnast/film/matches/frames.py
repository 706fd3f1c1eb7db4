"""From a stored match to pictures: the environment is reset with its seed and everybody does as they
did. Every reward is compared with the stored one, as of an episode (`frames.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gymnast.config.config import Config
from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.matches.matches import UNKNOWN, Matches
from gymnast.envs.matches.open import open_matches
from gymnast.film.frames import Differs
from gymnast.film.stage import USUAL_FPS, enlarged
from gymnast.runs.match_trace import MatchTrace

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class MatchShot:
    """One moment of a match."""

    picture: Array
    """[H, W, 3] uint8."""
    step: int
    """Steps taken so far."""
    returns: dict[str, float]
    """Role -> return so far, the mean of its agents."""
    ending: str = ""
    """How the match ended, on its last picture."""


class MatchStage:
    """A live match of a config, and pictures of it."""

    def __init__(self, cfg: Config[Any], *, training: bool = False) -> None:
        """`training`: for matches of training, in which the balance of a league may slow a role."""
        self.cfg = cfg
        self.matches: Matches = open_matches(cfg, 1)
        told = getattr(self.matches, "fps", None)
        self.fps = float(cfg.facts.fps or told or USUAL_FPS)
        self.slowed = ""
        """The role with a handicap."""
        balance = cfg.league.balance
        slows = training and "handicap" in balance.remedies and hasattr(self.matches, "handicap")
        self.handicap = float(balance.handicap) if slows else None

    def picture(self) -> Array:
        return enlarged(self.matches.draw(0))

    def settle(self, trace: MatchTrace) -> None:
        """Find the handicap under which the match replays: which was in force is not stored."""
        if self.handicap is None:
            return
        for role in ("", *self.matches.roles):
            self._slow(role)
            try:
                replay_match(self, trace)
            except Differs:
                continue
            return
        self._slow("")

    def _slow(self, role: str) -> None:
        if role != self.slowed:
            self.matches.close()
            self.matches = open_matches(self.cfg, 1)
            if role:
                slow: Any = self.matches
                slow.handicap(role, self.handicap)
            self.slowed = role

    def close(self) -> None:
        self.matches.close()


def match_shots(stage: MatchStage, trace: MatchTrace, *, strict: bool) -> Iterator[MatchShot]:
    """Every moment of the match. Where strict, raises Differs at the first one that is not as stored;
    else goes on until the stored actions or the replay end."""
    returns = dict.fromkeys(stage.matches.roles, 0.0)
    for step, got, ending in _replayed(stage, trace, strict=strict):
        returns = {role: total + float(np.mean(got[role])) for role, total in returns.items()}
        yield MatchShot(stage.picture(), step, returns, ending)


def replay_match(stage: MatchStage, trace: MatchTrace) -> None:
    """Play it again without looking; raises Differs where it is not as stored."""
    for _ in _replayed(stage, trace, strict=True):
        pass


def _replayed(
    stage: MatchStage, trace: MatchTrace, *, strict: bool
) -> Iterator[tuple[int, dict[str, Array], str]]:
    """Steps taken, what every agent of each role just got, and how it ended where it did."""
    matches = stage.matches
    raise_fault(matches.name, matches.reset([0], [trace.seed]))
    in_play = {name: np.ones(role.seats, dtype=bool) for name, role in matches.roles.items()}
    yield 0, {name: np.zeros(role.seats) for name, role in matches.roles.items()}, ""
    last = len(trace) - 1
    for t in range(len(trace)):
        step = matches.step({role: taken[t][None] for role, taken in trace.actions.items()})
        raise_fault(matches.name, step.faults)
        got = {role: np.where(in_play[role], step.reward[role][0], 0.0) for role in in_play}
        for role, playing in in_play.items():
            in_play[role] = playing & ~(step.terminated[role][0] | step.truncated[role][0])
        over = bool(step.over[0])
        outcome = _outcome(matches, int(step.outcome[0])) if over else ""
        if strict and (
            any(not np.array_equal(got[role], trace.rewards[role][t]) for role in got)
            or over != (t == last)
            or outcome != (trace.outcome if over else "")
        ):
            why = "" if stage.handicap is None else "another handicap may have been in force"
            raise Differs(t + 1, "match as it was played", why)
        if over or t == last:
            yield t + 1, got, _ending(matches, outcome) if over else "the recording ends"
            return
        yield t + 1, got, ""


def _outcome(matches: Matches, place: int) -> str:
    return "" if place == UNKNOWN else list(matches.outcomes)[place]


def _ending(matches: Matches, outcome: str) -> str:
    if not outcome:
        return "the match is over"
    return f"{outcome}: {matches.outcomes[outcome] or 'nobody'} has won"
