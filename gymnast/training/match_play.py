"""Play matches of given seeds to their ends, in several places at once.

What happens in a match depends on its players and its seed and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gymnast.collect.casting import Player
from gymnast.collect.matches import MatchEnd
from gymnast.envs.backend import Fault
from gymnast.envs.matches import UNKNOWN, Matches
from gymnast.policy.actions import head_for
from gymnast.runs.match_trace import MatchTrace
from gymnast.seeds import stream

Array = np.ndarray
_BLOCK = 64
"""Steps that noise is drawn for at once."""


@dataclass(frozen=True)
class Played:
    """One match to its end."""

    seed: int
    end: MatchEnd
    returns: dict[str, tuple[float, ...]]
    """Role -> the return of each of its agents."""
    terms: dict[str, dict[str, float]]
    """Role -> term -> what it added up to over its agents, where the environment tells."""
    trace: MatchTrace


def play_matches(
    matches: Matches,
    players: Mapping[str, Player],
    names: Mapping[str, str],
    seeds: Sequence[int],
    *,
    version: int = 0,
    attempts: int = 1,
    left_out: list[Fault] | None = None,
    beat: Callable[[], None] = lambda: None,
) -> list[Played]:
    """In the order of the seeds. `names`: what the players are called. A match that a fault broke is
    begun again; after so many attempts it goes to `left_out`."""
    table = _Table(matches, players, names, version)
    waiting = [(place, seed, attempts) for place, seed in enumerate(seeds)][::-1]
    done: dict[int, Played] = {}

    def broke(fault: Fault) -> None:
        place, seed, left = table.playing.pop(fault.copy)
        if left > 1:
            waiting.append((place, seed, left - 1))
        elif left_out is not None:
            left_out.append(fault)

    def fill() -> None:
        for match in range(matches.n_matches):
            while match not in table.playing and waiting:
                for fault in table.begin(match, waiting.pop()):
                    broke(fault)

    fill()
    while table.playing:
        beat()
        for place, played in table.step(broke):
            done[place] = played
        fill()
    return [done[place] for place in sorted(done)]


class _Table:
    def __init__(
        self, matches: Matches, players: Mapping[str, Player], names: Mapping[str, str], version: int
    ) -> None:
        self.matches, self.players, self.names, self.version = matches, players, names, version
        self.playing: dict[int, tuple[int, int, int]] = {}
        """Match -> place, seed and attempts that are left."""
        n, roles = matches.n_matches, matches.roles
        self._heads = {role: head_for(roles[role].action) for role in roles}
        self._streams: dict[tuple[int, str], np.random.Generator] = {}
        self._noise: dict[str, Array] = {}
        self._even = {role: np.zeros((_BLOCK, n, roles[role].seats)) for role in roles}
        self._length = np.zeros(n, dtype=np.int64)
        self._history: list[list[tuple[dict[str, Array], dict[str, Array]]]] = [[] for _ in range(n)]
        self._in_play = {role: np.zeros((n, roles[role].seats), dtype=bool) for role in roles}
        self._terms: list[dict[str, dict[str, float]]] = [{} for _ in range(n)]

    def begin(self, match: int, turn: tuple[int, int, int]) -> tuple[Fault, ...]:
        self.playing[match] = turn
        seed = turn[1]
        for role in self.matches.roles:
            self._streams[match, role] = stream(seed, "match noise", role)
            self._in_play[role][match] = True
        self._length[match], self._history[match], self._terms[match] = 0, [], {}
        return self.matches.reset([match], [seed])

    def step(self, broke: Callable[[Fault], None]) -> list[tuple[int, Played]]:
        """One step of every match that is played; those that it ended."""
        matches, actions = self.matches, dict[str, Array]()
        for role, kind in matches.roles.items():
            noise, even = self._draws(role)
            n = matches.n_matches * kind.seats
            obs = matches.obs[role]
            # always of all seats: row sums must not depend on who plays
            given = self.players[role](
                obs.reshape(n, *obs.shape[2:]), noise.reshape(n, *noise.shape[2:]), even.reshape(n)
            )
            actions[role] = given.reshape(matches.n_matches, kind.seats, *given.shape[1:])
        everyone = len(self.playing) == matches.n_matches
        step = matches.step(actions, None if everyone else sorted(self.playing))
        for fault in {fault.copy: fault for fault in step.faults}.values():
            if fault.copy in self.playing:
                broke(fault)
        self._length += 1
        ended: list[tuple[int, Played]] = []
        for match in sorted(self.playing):
            rewards: dict[str, Array] = {}
            for role in matches.roles:
                in_play = self._in_play[role][match]
                rewards[role] = np.where(in_play, step.reward[role][match], 0.0)
                for term, by_role in step.terms.items():
                    if role in by_role:
                        held = self._terms[match].setdefault(role, {})
                        told = float(np.where(in_play, by_role[role][match], 0.0).sum())
                        held[term] = held.get(term, 0.0) + told
                over = step.terminated[role][match] | step.truncated[role][match]
                self._in_play[role][match] = in_play & ~over
            taken = {role: actions[role][match].copy() for role in matches.roles}
            self._history[match].append((taken, rewards))
            if step.over[match]:
                place, seed, _ = self.playing.pop(match)
                ended.append((place, self._finished(match, seed, step.outcome, step.numbers)))
        return ended

    def _finished(
        self, match: int, seed: int, outcome: Array, numbers: Mapping[str, Array]
    ) -> Played:
        told = int(outcome[match])
        name = "" if told == UNKNOWN else list(self.matches.outcomes)[told]
        history, roles = self._history[match], self.matches.roles
        actions = {role: np.stack([taken[role] for taken, _ in history]) for role in roles}
        rewards = {role: np.stack([given[role] for _, given in history]) for role in roles}
        end = MatchEnd(
            cast=dict(self.names),
            outcome=name,
            winner=self.matches.outcomes.get(name),
            length=len(history),
            numbers={key: float(column[match]) for key, column in numbers.items()},
        )
        returns = {role: tuple(rewards[role].sum(axis=0).tolist()) for role in roles}
        trace = MatchTrace(
            seed, actions, rewards, dict(self.names), name, self.version, end.numbers
        )
        return Played(seed, end, returns, self._terms[match], trace)

    def _draws(self, role: str) -> tuple[Array, Array]:
        """This step's noise of every seat: a row of what was drawn for a block of steps."""
        seats, head = self.matches.roles[role].seats, self._heads[role]
        for match in self.playing:
            if self._length[match] % _BLOCK == 0:
                draws = self._streams[match, role]
                noise = head.noise(draws, (_BLOCK, seats))
                if role not in self._noise:
                    shape = (_BLOCK, self.matches.n_matches, seats, *noise.shape[2:])
                    self._noise[role] = np.zeros(shape, noise.dtype)
                self._noise[role][:, match] = noise
                self._even[role][:, match] = draws.random((_BLOCK, seats))
        at, every = self._length % _BLOCK, np.arange(self.matches.n_matches)
        return self._noise[role][at, every], self._even[role][at, every]
