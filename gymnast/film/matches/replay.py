"""Renders a stored match: the environment is reset with its seed and replays the stored actions.

Every reward is compared with the stored one, as for an episode (`gymnast/film/replay.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gymnast.config.config import Config
from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, Matches, MatchStep
from gymnast.envs.matches.open import open_matches
from gymnast.film.renderer import DEFAULT_FPS, enlarged
from gymnast.film.replay import ReplayMismatch
from gymnast.runs.match_trace import MatchTrace

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class MatchFrame:
    """One frame of a match, and the numbers that are shown with it."""

    picture: Array
    """Rendered frame, [H, W, 3] uint8."""
    step: int
    """Number of steps taken so far."""
    returns: dict[str, float]
    """Role -> return so far, averaged over its agents."""
    ending: str = ""
    """How the match ended; set on its last frame only."""


@dataclass(frozen=True, eq=False)
class ReplayedStep:
    """A step of a replayed match. Observations are in `Matches.obs`, which the next step overwrites."""

    step: int
    """Number of steps taken so far; 0 after the reset."""
    rewards: dict[str, Array]
    """Role -> rewards of the step, [seats]; 0 for agents that were out of the match."""
    in_play: dict[str, Array]
    """Role -> whether each agent is still in the match after the step, [seats]."""
    result: MatchStep | None
    """The result of the step as the environment returned it; None after the reset."""
    ending: str
    """How the match ended; empty before its last step."""


class MatchRenderer:
    """An open match environment of a config, and its rendered pictures."""

    def __init__(self, cfg: Config, *, training: bool = False) -> None:
        """`training`: for training matches, in which `league.balance` may have slowed a role."""
        self.cfg = cfg
        self.matches: Matches = open_matches(cfg, 1)
        env_fps = getattr(self.matches, "fps", None)
        self.fps = float(cfg.facts.fps or env_fps or DEFAULT_FPS)
        self.slowed_role = ""
        """The role with a handicap."""
        balance = cfg.league.balance
        slows = training and "handicap" in balance.remedies and hasattr(self.matches, "handicap")
        self.handicap = float(balance.handicap) if slows else None

    def render(self) -> Array:
        return enlarged(self.matches.render(0))

    def find_handicap(self, trace: MatchTrace) -> None:
        """Finds the handicap with which the match replays exactly; it is not stored with the match."""
        if self.handicap is None:
            return
        for role in ("", *self.matches.roles):  # most matches had none, so "" is tried first
            self._slow(role)
            try:
                replay_match(self, trace)
            except ReplayMismatch:
                continue
            return
        self._slow("")

    def _slow(self, role: str) -> None:
        """Slows this role down, and no other; "" slows none. The environment is opened anew, so that no
        earlier handicap remains."""
        if role != self.slowed_role:
            self.matches.close()
            self.matches = open_matches(self.cfg, 1)
            if role:
                slow_down = getattr(self.matches, "handicap", None)  # not every Matches has it
                assert slow_down is not None
                slow_down(role, self.handicap)
            self.slowed_role = role

    def close(self) -> None:
        self.matches.close()


def match_frames(
    renderer: MatchRenderer, trace: MatchTrace, *, strict: bool
) -> Iterator[MatchFrame]:
    """Yields every frame of the match with its numbers.

    If `strict`, raises ReplayMismatch at the first step that is not as stored; otherwise continues until the
    stored actions or the replay end."""
    returns = dict.fromkeys(renderer.matches.roles, 0.0)
    for replayed in replayed_steps(renderer, trace, strict=strict):
        rewards = replayed.rewards
        returns = {role: total + float(np.mean(rewards[role])) for role, total in returns.items()}
        yield MatchFrame(renderer.render(), replayed.step, returns, replayed.ending)


def replay_match(renderer: MatchRenderer, trace: MatchTrace) -> None:
    """Replays a match without rendering; raises ReplayMismatch at the first step that differs."""
    for _ in replayed_steps(renderer, trace, strict=True):
        pass


def replayed_steps(
    renderer: MatchRenderer, trace: MatchTrace, *, strict: bool
) -> Iterator[ReplayedStep]:
    """Yields the state after the reset, and then every step of the replay.

    If `strict`, raises ReplayMismatch at the first step that is not as stored; otherwise continues until the
    stored actions or the replay end."""
    matches = renderer.matches
    raise_fault(matches.name, matches.reset([0], [trace.seed]))
    in_play = {name: np.ones(role.seats, dtype=bool) for name, role in matches.roles.items()}
    no_rewards = {name: np.zeros(role.seats) for name, role in matches.roles.items()}
    yield ReplayedStep(0, no_rewards, in_play, None, "")
    last = len(trace) - 1
    for t in range(len(trace)):
        # Actions are stored [T, seats]; step expects [n_matches, seats], with one match here.
        step = matches.step({role: actions[t][None] for role, actions in trace.actions.items()})
        raise_fault(matches.name, step.faults)
        # An agent that is out may still be stepped; what it gets then does not count.
        rewards = {role: np.where(in_play[role], step.reward[role][0], 0.0) for role in in_play}
        in_play = {
            role: playing & ~(step.terminated[role][0] | step.truncated[role][0])
            for role, playing in in_play.items()
        }
        over = bool(step.over[0])
        outcome = _outcome(matches, int(step.outcome[0])) if over else ""
        if strict and (
            any(not np.array_equal(rewards[role], trace.rewards[role][t]) for role in rewards)
            or over != (t == last and trace.ended)
            or outcome != (trace.outcome if over else "")
        ):
            why = "" if renderer.handicap is None else "the match may have had another handicap"
            raise ReplayMismatch(t + 1, "recorded match", why)
        ending = ""
        if over or t == last:
            ending = _ending(matches, outcome) if over else "the recording ends"
        yield ReplayedStep(t + 1, rewards, in_play, step, ending)
        if ending:
            return


def _outcome(matches: Matches, index: int) -> str:
    return "" if index == UNKNOWN_OUTCOME else list(matches.outcomes)[index]


def _ending(matches: Matches, outcome: str) -> str:
    if not outcome:
        return "the match is over"
    return f"{outcome}: {matches.outcomes[outcome] or 'nobody'} has won"
