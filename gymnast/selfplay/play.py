"""Plays matches with given seeds to their ends, several at the same time.

The course of a match depends on its players and its seed only, not on the other matches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.collect.matches import MatchEnd
from gymnast.collect.matchmaking import Player, SeatStates
from gymnast.envs.backends.backend import Fault
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, Matches, MatchStep
from gymnast.evaluation.episodes import EvaluationProgress
from gymnast.policy.actions import head_for
from gymnast.runs.match_trace import MatchTrace
from gymnast.seeds import stream

Array = np.ndarray
_BLOCK = 64
"""Number of steps for which noise is drawn at once."""


@dataclass(frozen=True)
class PlayedMatch:
    """A finished match."""

    seed: int
    end: MatchEnd
    returns: dict[str, tuple[float, ...]]
    """The return of each agent, by role."""
    term_rewards: dict[str, dict[str, Array]]
    """Reward of each agent in each step, [T, seats], by role and reward term; empty if the environment does
    not report its reward terms."""
    trace: MatchTrace

    @property
    def term_totals(self) -> dict[str, dict[str, float]]:
        """Sum of each reward term over steps and agents, by role and term."""
        return {
            role: {term: float(rewards.sum()) for term, rewards in by_term.items()}
            for role, by_term in self.term_rewards.items()
        }


def play_matches(
    matches: Matches,
    players: Mapping[str, Player],
    player_names: Mapping[str, str],
    seeds: Sequence[int],
    *,
    version: int = 0,
    attempts: int = 1,
    progress: EvaluationProgress | None = None,
    timeout: float | None = None,
    max_length: int | None = None,
) -> list[PlayedMatch]:
    """Plays one match per seed and returns the finished ones in the order of the seeds. `player_names` are
    the names of the `players`, both by role; `version`: env steps of the policies.

    A match that has a fault is retried, `attempts` times in total, and then left out and added to
    `progress.left_out`. Matches that are not finished after `timeout` seconds are abandoned and described in
    `progress.timed_out`. After `max_length` steps, a match is stopped and counts as finished.
    """
    running = _RunningMatches(matches, players, player_names, version, max_length)
    progress = progress or EvaluationProgress()
    # A stack, so reversed: `pop` takes the first seed, and a match to be retried comes next.
    waiting = [(index, seed, attempts) for index, seed in enumerate(seeds)][::-1]
    done: dict[int, PlayedMatch] = {}

    def on_fault(fault: Fault) -> None:
        """Frees the slot of a match that had a fault; puts the match first in the queue again, or leaves it
        out if it has no attempts left."""
        index, seed, attempts_left = running.playing.pop(fault.copy)
        if attempts_left > 1:
            waiting.append((index, seed, attempts_left - 1))
        else:
            progress.left_out.append(fault)
            progress.done += 1

    def fill() -> None:
        """Starts waiting matches in all free slots."""
        for match in range(matches.n_matches):
            # A loop, since a match whose reset fails leaves its slot free.
            while match not in running.playing and waiting:
                for fault in running.start(match, waiting.pop()):
                    on_fault(fault)

    fill()
    while running.playing:
        progress.on_step(progress.done, progress.total)
        if progress.exceeds(timeout):
            progress.timed_out += running.describe()
            break
        ended = dict(running.step(on_fault))
        progress.done += len(ended)
        done |= ended
        fill()
    return [done[index] for index in sorted(done)]


class _RunningMatches:
    """The matches that are being played, with their noise and their steps so far."""

    def __init__(
        self,
        matches: Matches,
        players: Mapping[str, Player],
        names: Mapping[str, str],
        version: int,
        max_length: int | None = None,
    ) -> None:
        """`players` and their `names` are by role; `version`: env steps of the policies, for the traces;
        `max_length`: number of steps after which a match is stopped."""
        self.matches, self.players, self.names, self.version = matches, players, names, version
        self.max_length = max_length
        self.playing: dict[int, tuple[int, int, int]] = {}
        """For each busy slot, the index of the seed, the seed, and the number of attempts left."""
        n, roles = matches.n_matches, matches.roles
        self._heads = {role: head_for(roles[role].action) for role in roles}
        self._streams: dict[tuple[int, str], np.random.Generator] = {}
        """Random stream of each (slot, role), keyed by the seed of the slot's match."""
        self._noise: dict[str, Array] = {}
        """Noise of the current block by role, [_BLOCK, slots, seats, ...]."""
        self._uniform = {role: np.zeros((_BLOCK, n, roles[role].seats)) for role in roles}
        self._started = np.zeros(n, dtype=np.int64)
        """Value of `len(self._past)` at the start of each match."""
        self._past: list[dict[str, Array]] = []
        """Actions, rewards and reward terms of all slots in every step so far."""
        self._states = {role: SeatStates(n * roles[role].seats) for role in roles}
        # False from the step on in which an agent's part of the match ended, [slots, seats].
        self._in_play = {role: np.zeros((n, roles[role].seats), dtype=bool) for role in roles}

    def start(self, match: int, upcoming: tuple[int, int, int]) -> tuple[Fault, ...]:
        """Starts the next match in the slot `match`. `upcoming`: the index of its seed, the seed, and the
        number of attempts left. Returns the fault if its reset failed, else an empty tuple; after a fault,
        the caller has to remove the slot from `playing`."""
        _, seed, _ = upcoming
        self.playing[match] = upcoming
        for role in self.matches.roles:
            # for sampled actions and scripted players
            self._streams[match, role] = stream(seed, "match noise", role)
            self._in_play[role][match] = True
            seats = self.matches.roles[role].seats
            self._states[role].reset(slice(match * seats, (match + 1) * seats))
        self._started[match] = len(self._past)
        return self.matches.reset([match], [seed])

    def step(self, on_fault: Callable[[Fault], None]) -> list[tuple[int, PlayedMatch]]:
        """Steps every running match once. Returns (index of the seed, match) for each match that ended.
        `on_fault` is called for each match that had a fault, and has to remove it from `playing`."""
        matches, record = self.matches, dict[str, Array]()
        # 1. Actions of every seat, [slots, seats, ...].
        for role, kind in matches.roles.items():
            noise, uniform = self._draws(role)
            n = matches.n_matches * kind.seats
            obs = matches.obs[role].reshape(n, *matches.obs[role].shape[2:])
            # Always all seats, also of idle slots: with another batch size, matrix products round
            # differently, and a match must not depend on how many others are playing.
            draws = noise.reshape(n, *noise.shape[2:]), uniform.reshape(n)
            action = self._states[role].act(self.players[role], slice(None), obs, *draws)
            shape = (matches.n_matches, kind.seats, *action.shape[1:])
            record[f"action/{role}"] = action.reshape(shape)
        # 2. Step the slots that play. Rewards of agents whose part has ended do not count.
        all_play = len(self.playing) == matches.n_matches
        actions = {role: record[f"action/{role}"] for role in matches.roles}
        step = matches.step(actions, None if all_play else sorted(self.playing))
        for role in matches.roles:
            in_play = self._in_play[role]
            record[f"reward/{role}"] = np.where(in_play, step.reward[role], 0.0)
            for term, by_role in step.terms.items():
                if role in by_role:
                    record[f"term/{role}/{term}"] = np.where(in_play, by_role[role], 0.0)
            self._in_play[role] = in_play & ~(step.terminated[role] | step.truncated[role])
        self._past.append(record)
        # 3. Faults come first: a broken match has not ended, whatever `over` says.
        for fault in {fault.copy: fault for fault in step.faults}.values():
            if fault.copy in self.playing:
                on_fault(fault)
        ended: list[tuple[int, PlayedMatch]] = []
        over = step.over.copy()
        if self.max_length is not None:
            over |= len(self._past) - self._started >= self.max_length
        for match in [m for m in np.flatnonzero(over).tolist() if m in self.playing]:
            index, seed, _ = self.playing.pop(match)
            ended.append((index, self._finished(match, seed, step)))
        return ended

    def describe(self) -> list[str]:
        """Describes the unfinished matches, for messages."""
        now = len(self._past)
        return [
            f"the match of seed {seed} (copy {match}) after {now - self._started[match]:,} steps"
            for match, (_, seed, _) in self.playing.items()
        ]

    def _finished(self, match: int, seed: int, step: MatchStep) -> PlayedMatch:
        """Returns the match of this seed in the slot `match`, which ended or was stopped with `step`, with
        all of its steps."""
        past = self._past[self._started[match] :]
        columns = {name: np.stack([record[name][match] for record in past]) for name in past[-1]}
        is_over, roles = bool(step.over[match]), self.matches.roles
        outcome = int(step.outcome[match]) if is_over else UNKNOWN_OUTCOME
        name = "" if outcome == UNKNOWN_OUTCOME else list(self.matches.outcomes)[outcome]
        end = MatchEnd(
            cast=dict(self.names),
            outcome=name,
            winner=self.matches.outcomes.get(name),
            length=len(past),
            numbers={key: float(column[match]) for key, column in step.metrics.items() if is_over},
        )
        term_rewards: dict[str, dict[str, Array]] = {}
        for key in (key for key in columns if key.startswith("term/")):
            _, role, term = key.split("/", 2)
            term_rewards.setdefault(role, {})[term] = columns[key]
        trace = MatchTrace(
            seed=seed,
            actions={role: columns[f"action/{role}"] for role in roles},
            rewards={role: columns[f"reward/{role}"] for role in roles},
            cast=dict(self.names),
            outcome=name,
            version=self.version,
            numbers=end.numbers,
            ended=is_over,
        )
        returns = {role: tuple(trace.rewards[role].sum(axis=0).tolist()) for role in roles}
        return PlayedMatch(seed, end, returns, term_rewards, trace)

    def _draws(self, role: str) -> tuple[Array, Array]:
        """Returns this step's random numbers for every seat of a role: noise for sampling actions, [slots,
        seats, ...], and uniform numbers for scripted players, [slots, seats]. They are drawn in blocks of
        `_BLOCK` steps per match."""
        seats, head = self.matches.roles[role].seats, self._heads[role]
        # Counted from the start of each match, so the draws do not depend on when its slot was free.
        for match in self.playing:
            if (len(self._past) - self._started[match]) % _BLOCK == 0:
                draws = self._streams[match, role]
                noise = head.noise(draws, (_BLOCK, seats))
                if role not in self._noise:
                    shape = (_BLOCK, self.matches.n_matches, seats, *noise.shape[2:])
                    self._noise[role] = np.zeros(shape, noise.dtype)
                self._noise[role][:, match] = noise
                self._uniform[role][:, match] = draws.random((_BLOCK, seats))
        at, slots = (len(self._past) - self._started) % _BLOCK, np.arange(self.matches.n_matches)
        return self._noise[role][at, slots], self._uniform[role][at, slots]
