"""Replays a stored match to get what was not stored: what every agent observed, and when it was out.

The match is repeated with its seed and the actions of all seats. All rewards, the end and the outcome are
compared with the stored ones, as for an episode of one agent (`replay.py`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from gymnast.errors import EnvError
from gymnast.film.matches.replay import MatchRenderer, ReplayedStep, replayed_steps
from gymnast.film.replay import ReplayMismatch
from gymnast.inspector.replay import MAX_SECONDS, Replay
from gymnast.runs.match_trace import MatchTrace

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class SeatEnd:
    """The end of an agent's part of a match."""

    steps: int
    """Number of steps that the agent took."""
    terminated: bool
    truncated: bool
    """Both are False if the replay stops before the agent's part ended."""


@dataclass(frozen=True, eq=False)
class MatchReplay:
    """The S steps of a replay, up to the end of the match or to the first difference; arrays by role."""

    obs: dict[str, Array]
    """Observations before each step and the final one, [S + 1, seats, ...]."""
    in_play: dict[str, Array]
    """Whether each agent is in the match before each step and at the end, [S + 1, seats]."""
    terminated: dict[str, Array]
    """Whether each agent terminated with a step, [S, seats]."""
    terms: dict[str, dict[str, Array]]
    """Role -> reward term -> the agents' rewards from it, [S, seats]; empty if none are reported."""
    mismatch: int | None
    """Number of the first step whose rewards, end or outcome differ from the stored ones."""
    note: str
    """A sentence that says why the replay is not complete; empty if it is."""

    @property
    def is_exact(self) -> bool:
        return self.mismatch is None and not self.note

    def end_of(self, role: str, seat: int, length: int) -> SeatEnd:
        """Returns how the agent's part of a match with `length` stored steps ended."""
        (out,) = (~self.in_play[role][:, seat]).nonzero()
        if not len(out):  # the replay stopped before
            return SeatEnd(length, False, False)
        terminated = bool(self.terminated[role][out[0] - 1, seat])
        return SeatEnd(int(out[0]), terminated, not terminated)

    def of_seat(self, role: str, seat: int) -> Replay:
        """Returns the replay from the point of view of one agent, up to the end of its part. Agents have
        neither infos nor action masks."""
        in_play = self.in_play[role][:, seat]
        last = min(int(in_play.sum()), len(in_play) - 1)
        # A difference after the agent was out does not concern it.
        is_out = len(in_play) > 0 and not in_play[-1]
        return Replay(
            obs=self.obs[role][: last + 1, seat],
            infos=[{}] * (last + 1),
            masks=None,
            mismatch=None if is_out else self.mismatch,
            note="" if is_out else self.note,
        )


def replay_match(
    renderer: MatchRenderer, trace: MatchTrace, *, max_seconds: float = MAX_SECONDS
) -> MatchReplay:
    """Returns the replay of a match in this environment."""
    give_up = time.monotonic() + max_seconds
    obs: dict[str, list[Array]] = {role: [] for role in renderer.matches.roles}
    steps: list[ReplayedStep] = []
    terminated: dict[str, list[Array]] = {role: [] for role in obs}
    terms: dict[str, dict[str, list[Array]]] = {role: {} for role in obs}
    mismatch, note = None, ""
    try:
        for step in replayed_steps(renderer, trace, strict=True):
            steps.append(step)
            for role, current in renderer.matches.obs.items():
                obs[role].append(current[0].copy())
            if step.result is None:
                continue
            for role in obs:
                terminated[role].append(step.result.terminated[role][0].copy())
                for term, rewards in step.result.terms.items():
                    if role in rewards:
                        terms[role].setdefault(term, []).append(rewards[role][0].copy())
            if time.monotonic() > give_up and step.step < len(trace):
                note = f"the replay was stopped after {max_seconds:g} s, at step {step.step}"
                break
    except ReplayMismatch as difference:
        mismatch = difference.step - 1
        note = f"{difference}"
    except EnvError as problem:
        note = f"the replay failed at step {max(len(steps) - 1, 0)}: {problem.message}"
        if not steps:
            return empty_replay(trace, note)
    in_play = {role: np.stack([step.in_play[role] for step in steps]) for role in obs}
    return MatchReplay(
        obs={role: np.stack(rows) for role, rows in obs.items()},
        in_play=in_play,
        terminated={
            role: np.stack(rows) if rows else np.zeros((0, in_play[role].shape[1]), bool)
            for role, rows in terminated.items()
        },
        terms={
            role: {term: np.stack(rows) for term, rows in by_term.items()}
            for role, by_term in terms.items()
        },
        mismatch=mismatch,
        note=note,
    )


def empty_replay(trace: MatchTrace, note: str) -> MatchReplay:
    """Returns a replay without observations, for an environment that cannot be opened or reset. `note`: the
    reason."""
    none = {role: np.zeros((0, rewards.shape[1])) for role, rewards in trace.rewards.items()}
    flags = {role: array.astype(bool) for role, array in none.items()}
    return MatchReplay(none, flags, flags, {}, mismatch=None, note=note)
