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
from gymnast.envs.matches import UNKNOWN, Matches, MatchStep
from gymnast.policy.actions import head_for
from gymnast.runs.match_trace import MatchTrace
from gymnast.seeds import stream
from gymnast.training.playing import Watch

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
    paid: dict[str, dict[str, Array]]
    """Role -> term -> what it paid each agent in each step, [T, seats], where the environment tells."""
    trace: MatchTrace

    @property
    def terms(self) -> dict[str, dict[str, float]]:
        """Role -> term -> what it added up to over its agents."""
        return {
            role: {term: float(paid.sum()) for term, paid in by_term.items()}
            for role, by_term in self.paid.items()
        }


def play_matches(
    matches: Matches,
    players: Mapping[str, Player],
    names: Mapping[str, str],
    seeds: Sequence[int],
    *,
    version: int = 0,
    attempts: int = 1,
    watch: Watch | None = None,
    timeout: float | None = None,
) -> list[Played]:
    """In the order of the seeds. `names`: what the players are called. A match that a fault broke is
    retried; after so many attempts it is left out. Matches that still run after `timeout` seconds are
    given up."""
    table = _Table(matches, players, names, version)
    watch = watch or Watch()
    waiting = [(place, seed, attempts) for place, seed in enumerate(seeds)][::-1]
    done: dict[int, Played] = {}

    def broke(fault: Fault) -> None:
        place, seed, left = table.playing.pop(fault.copy)
        if left > 1:
            waiting.append((place, seed, left - 1))
        else:
            watch.left_out.append(fault)
            watch.done += 1

    def fill() -> None:
        for match in range(matches.n_matches):
            while match not in table.playing and waiting:
                for fault in table.begin(match, waiting.pop()):
                    broke(fault)

    fill()
    while table.playing:
        watch.beat(watch.done, watch.total)
        if watch.passed(timeout):
            watch.late += table.running()
            break
        ended = dict(table.step(broke))
        watch.done += len(ended)
        done |= ended
        fill()
    return [done[place] for place in sorted(done)]


class _Table:
    def __init__(
        self,
        matches: Matches,
        players: Mapping[str, Player],
        names: Mapping[str, str],
        version: int,
    ) -> None:
        self.matches, self.players, self.names, self.version = matches, players, names, version
        self.playing: dict[int, tuple[int, int, int]] = {}
        """Match -> place, seed and attempts that are left."""
        n, roles = matches.n_matches, matches.roles
        self._heads = {role: head_for(roles[role].action) for role in roles}
        self._streams: dict[tuple[int, str], np.random.Generator] = {}
        self._noise: dict[str, Array] = {}
        self._even = {role: np.zeros((_BLOCK, n, roles[role].seats)) for role in roles}
        self._began = np.zeros(n, dtype=np.int64)
        """Steps of the table before each match."""
        self._past: list[dict[str, Array]] = []
        """Of every step: what all matches did and got."""
        self._in_play = {role: np.zeros((n, roles[role].seats), dtype=bool) for role in roles}

    def begin(self, match: int, turn: tuple[int, int, int]) -> tuple[Fault, ...]:
        self.playing[match] = turn
        for role in self.matches.roles:
            self._streams[match, role] = stream(turn[1], "match noise", role)
            self._in_play[role][match] = True
        self._began[match] = len(self._past)
        return self.matches.reset([match], [turn[1]])

    def step(self, broke: Callable[[Fault], None]) -> list[tuple[int, Played]]:
        """One step of every match that is played; those that it ended."""
        matches, told = self.matches, dict[str, Array]()
        for role, kind in matches.roles.items():
            noise, even = self._draws(role)
            n = matches.n_matches * kind.seats
            obs = matches.obs[role]
            # always of all seats: row sums must not depend on who plays
            given = self.players[role](
                obs.reshape(n, *obs.shape[2:]), noise.reshape(n, *noise.shape[2:]), even.reshape(n)
            )
            told[f"action/{role}"] = given.reshape(matches.n_matches, kind.seats, *given.shape[1:])
        everyone = len(self.playing) == matches.n_matches
        actions = {role: told[f"action/{role}"] for role in matches.roles}
        step = matches.step(actions, None if everyone else sorted(self.playing))
        for role in matches.roles:
            in_play = self._in_play[role]
            told[f"reward/{role}"] = np.where(in_play, step.reward[role], 0.0)
            for term, by_role in step.terms.items():
                if role in by_role:
                    told[f"term/{role}/{term}"] = np.where(in_play, by_role[role], 0.0)
            self._in_play[role] = in_play & ~(step.terminated[role] | step.truncated[role])
        self._past.append(told)
        for fault in {fault.copy: fault for fault in step.faults}.values():
            if fault.copy in self.playing:
                broke(fault)
        ended: list[tuple[int, Played]] = []
        for match in [m for m in np.flatnonzero(step.over).tolist() if m in self.playing]:
            place, seed, _ = self.playing.pop(match)
            ended.append((place, self._finished(match, seed, step)))
        return ended

    def running(self) -> list[str]:
        """The matches that are played, in words."""
        now = len(self._past)
        return [
            f"the match of seed {seed} (copy {match}) after {now - self._began[match]:,} steps"
            for match, (_, seed, _) in self.playing.items()
        ]

    def _finished(self, match: int, seed: int, step: MatchStep) -> Played:
        past = self._past[self._began[match] :]
        whole = {name: np.stack([told[name][match] for told in past]) for name in past[-1]}
        outcome, roles = int(step.outcome[match]), self.matches.roles
        name = "" if outcome == UNKNOWN else list(self.matches.outcomes)[outcome]
        end = MatchEnd(
            cast=dict(self.names),
            outcome=name,
            winner=self.matches.outcomes.get(name),
            length=len(past),
            numbers={key: float(column[match]) for key, column in step.numbers.items()},
        )
        paid: dict[str, dict[str, Array]] = {}
        for key in (key for key in whole if key.startswith("term/")):
            _, role, term = key.split("/", 2)
            paid.setdefault(role, {})[term] = whole[key]
        trace = MatchTrace(
            seed=seed,
            actions={role: whole[f"action/{role}"] for role in roles},
            rewards={role: whole[f"reward/{role}"] for role in roles},
            cast=dict(self.names),
            outcome=name,
            version=self.version,
            numbers=end.numbers,
        )
        returns = {role: tuple(trace.rewards[role].sum(axis=0).tolist()) for role in roles}
        return Played(seed, end, returns, paid, trace)

    def _draws(self, role: str) -> tuple[Array, Array]:
        """This step's noise of every seat: a row of what was drawn for a block of steps."""
        seats, head = self.matches.roles[role].seats, self._heads[role]
        for match in self.playing:
            if (len(self._past) - self._began[match]) % _BLOCK == 0:
                draws = self._streams[match, role]
                noise = head.noise(draws, (_BLOCK, seats))
                if role not in self._noise:
                    shape = (_BLOCK, self.matches.n_matches, seats, *noise.shape[2:])
                    self._noise[role] = np.zeros(shape, noise.dtype)
                self._noise[role][:, match] = noise
                self._even[role][:, match] = draws.random((_BLOCK, seats))
        at, every = (len(self._past) - self._began) % _BLOCK, np.arange(self.matches.n_matches)
        return self._noise[role][at, every], self._even[role][at, every]
