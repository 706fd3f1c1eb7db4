"""Play matches between roles and keep what happened: one rollout per role that learns."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.casting import LEARNER, AllLearn, Cast, Casting
from gymnast.collect.collector import Collected
from gymnast.collect.faults import FaultCount
from gymnast.collect.replay import DIFFERS, NOT_DETERMINISTIC
from gymnast.collect.running import RunningEpisodes
from gymnast.collect.seats import Seats
from gymnast.collect.tasks import TaskDraw
from gymnast.config.section import Span
from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.matches.matches import UNKNOWN, Matches, MatchStep
from gymnast.policy.policy import Policy
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.parts import after, of_role
from gymnast.seeds import episode_seeds
from gymnast.spaces.spaces import space_text

Array = np.ndarray
_NOBODY = np.zeros(0, dtype=np.int64)
_CAST, _MATCHES = "cast", "matches."


@dataclass(frozen=True)
class MatchEnd:
    """A match that is over."""

    cast: Cast
    outcome: str
    """Empty where nobody told it."""
    winner: str | None
    """The role that has won; empty for nobody, None where that is unknown."""
    length: int
    numbers: dict[str, float]


class MatchCollector:
    def __init__(
        self,
        matches: Matches,
        *,
        seed: int,
        learners: Sequence[str],
        traced: Callable[[int], bool],
        on_fault: Literal["restart", "stop"] = "restart",
        max_faults: int = 5,
        doubts: Sequence[str] = (),
    ) -> None:
        """`learners`: roles that are learned; `traced`: is the match with this seed kept as a trace."""
        self.matches, self.seed, self.traced = matches, seed, traced
        self.learners, self.seeding_warnings = tuple(learners), tuple(doubts)
        self.tasks: TaskDraw | None = None
        self.casting: Casting = AllLearn(matches.roles)
        self.seats = {name: Seats(name, r, matches.n_matches) for name, r in matches.roles.items()}
        self.running = RunningEpisodes(matches.n_matches)
        self.casts: list[Cast] = [dict.fromkeys(matches.roles, LEARNER)] * matches.n_matches
        """Who plays in each match."""
        self._seed_of = episode_seeds(seed, "episode", "match")
        self._faults = FaultCount(matches.n_matches, max_faults if on_fault == "restart" else 1)
        self._names = list(matches.outcomes)

    # ---- what it is --------------------------------------------------------------------------

    @property
    def spaces(self) -> dict[str, tuple[Any, Any]]:
        """Of the roles that are learned."""
        roles = self.matches.roles
        return {name: (roles[name].obs, roles[name].action) for name in self.learners}

    @property
    def name(self) -> str:
        return self.matches.name

    @property
    def time_limit(self) -> int | None:
        return self.matches.time_limit

    @property
    def has_default_limit(self) -> bool:
        return self.matches.has_default_limit

    @property
    def resumes_exactly(self) -> bool:
        return self.matches.restore != "none"

    @property
    def outcomes(self) -> Mapping[str, str]:
        return self.matches.outcomes

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        return self.seats[role].of(range(self.matches.n_matches) if copies is None else copies)

    @property
    def space_texts(self) -> tuple[str, str]:
        roles = self.matches.roles.items()
        return (
            ", ".join(f"{r.seats} {name} {space_text(r.obs)}" for name, r in roles),
            ", ".join(f"{name} {space_text(r.action)}" for name, r in roles),
        )

    # ---- playing -----------------------------------------------------------------------------

    def start_episodes(self) -> None:
        """The first match of every place."""
        self._reset(np.arange(self.matches.n_matches))
        self._cast()
        self._refuse_given_up()

    def collect(
        self,
        lineup: Mapping[str, Policy],
        span: Span,
        clock: Clock,
        give_up: Callable[[], bool] = lambda: False,
    ) -> Collected:
        """One rollout per learning role, of the same steps of the same matches."""
        began, env_seconds, steps = time.perf_counter(), 0.0, span.steps or 1
        self._faults.begin()
        ends: list[MatchEnd] = []
        ended: list[tuple[int, int, MatchEnd, int, int]] = []
        for name, seats in self.seats.items():
            obs = self.matches.obs[name]
            seats.begin(lineup.get(name), obs, steps, self.seed, clock.rollouts)
        taken = 0
        for t in range(steps):
            actions = {n: seats.act(t, self.matches.obs[n]) for n, seats in self.seats.items()}
            before = time.perf_counter()
            step = self.matches.step(actions)
            self._record(t, step)
            (over,) = step.over.nonzero()
            broken = sorted({fault.copy for fault in step.faults})
            over = np.setdiff1d(over, broken) if broken else over
            for match in over.tolist():
                end = self._end(match, step)
                ends.append(end)
                if self.traced(int(self.running.seed[match])):
                    length = int(self.running.length[match])
                    ended.append((match, t, end, int(self.running.seed[match]), length))
            again = self._faults.record(step.faults) if step.faults else []
            if len(over) or again:
                self._reset(np.array([*over.tolist(), *again], dtype=np.int64))
                self._cast()
            for seats in self.seats.values():
                seats.turn(t)
            taken = t + 1
            env_seconds += time.perf_counter() - before
            if self._faults.failed is not None:
                break
        rollouts = {n: seats.finish(self.matches.obs[n]) for n, seats in self.seats.items()}
        columns = self._columns()
        traces = [self._trace(columns, *told, version=clock.env_steps) for told in ended]
        self.running.append_rollout(columns, taken)
        return Collected(
            {name: rollout for name, rollout in rollouts.items() if rollout is not None},
            steps=taken * self.matches.n_matches,
            vec_steps=taken,
            episodes=len(ends),
            ends=ends,
            match_traces=traces,
            faults=self._faults.of_rollout,
            failed=self._faults.failed,
            env_seconds=env_seconds,
            inference_seconds=time.perf_counter() - began - env_seconds,
        )

    def _record(self, t: int, step: MatchStep) -> None:
        broken = sorted({fault.copy for fault in step.faults})
        for name, seats in self.seats.items():
            lost = seats.of(broken) if broken else _NOBODY
            told = step.reward[name], step.terminated[name], step.truncated[name]
            seats.record(t, *told, step.obs[name], lost)
        self.running.length += 1
        self.running.clear(broken)

    def _end(self, match: int, step: MatchStep) -> MatchEnd:
        told = int(step.outcome[match])
        outcome = "" if told == UNKNOWN else self._names[told]
        self._faults.finished(match)
        return MatchEnd(
            cast=self.casts[match],
            outcome=outcome,
            winner=self.matches.outcomes.get(outcome),
            length=int(self.running.length[match]),
            numbers={name: float(column[match]) for name, column in step.numbers.items()},
        )

    def _reset(self, matches: Array) -> None:
        """A new match in each of these. One that cannot begin is tried again, up to the limit."""
        while len(matches):
            named = matches.tolist()
            numbers = self.running.number[matches].tolist()
            seeds = np.array(list(map(self._seed_of, named, numbers)), dtype=np.int64)
            for match, number in zip(named, numbers, strict=True):
                self.casts[match] = dict(self.casting.cast(match, number))
            self.running.start_episodes(matches, seeds.tolist())
            for seats in self.seats.values():
                seats.reset(seats.of(matches), np.repeat(seeds, seats.role.seats))
            faults = self.matches.reset(named, seeds.tolist())
            matches = np.array(self._faults.record(faults), dtype=np.int64) if faults else _NOBODY

    def _cast(self) -> None:
        for name, seats in self.seats.items():
            seats.cast([cast[name] for cast in self.casts], self.casting.player)

    def _refuse_given_up(self) -> None:
        if self._faults.failed is not None:
            raise_fault(self.matches.name, [self._faults.failed])

    # ---- what happened -----------------------------------------------------------------------

    def _columns(self) -> dict[str, Array]:
        """Actions and rewards of all roles in this rollout, [T, matches, seats, ...]."""
        columns: dict[str, Array] = {}
        for name, seats in self.seats.items():
            for what, held in (("action", seats.given), ("reward", seats.rewards)):
                every = np.stack(held)
                shape = (len(held), self.matches.n_matches, seats.role.seats, *every.shape[2:])
                columns[f"{what}.{name}"] = every.reshape(shape)
        first = next(iter(self.seats))
        return {"reward": columns[f"reward.{first}"], **columns}

    def _trace(
        self,
        columns: dict[str, Array],
        match: int,
        t: int,
        end: MatchEnd,
        seed: int,
        length: int,
        version: int,
    ) -> MatchTrace:
        piece = {n: c[max(t + 1 - length, 0) : t + 1, match] for n, c in columns.items()}
        whole = self.running.whole(match, length, piece)
        return MatchTrace(
            seed=seed,
            actions={name: whole[f"action.{name}"].copy() for name in self.seats},
            rewards={name: whole[f"reward.{name}"].copy() for name in self.seats},
            cast=dict(end.cast),
            outcome=end.outcome,
            version=version,
            numbers=end.numbers,
        )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        arrays = self.running.state(past=self.resumes_exactly)
        for name, seats in self.seats.items():
            arrays |= {f"{name}/{key}": array for key, array in seats.state().items()}
            arrays[f"{name}/obs"] = self.matches.obs[name].copy()
        if self.matches.restore == "state":
            arrays |= {f"{_MATCHES}{key}": a for key, a in self.matches.state().items()}
        arrays[_CAST] = np.frombuffer(json.dumps(self.casts).encode(), np.uint8)
        return arrays

    def load(self, arrays: dict[str, Array]) -> dict[int, str]:
        """Restore the running matches. Returns each that begins anew instead, and why."""
        self.running.load(arrays)
        self.casts = json.loads(arrays[_CAST].tobytes())
        for name, seats in self.seats.items():
            seats.load(of_role(name, arrays))
        failed: dict[int, str] = {}
        if self.matches.restore == "state":
            self.matches.load(after(_MATCHES, arrays))
        else:
            every = range(self.matches.n_matches)
            why = DIFFERS if self.matches.restore == "replay" else NOT_DETERMINISTIC
            failed = {match: why for match in every if not self._replay(match, arrays)}
        self._reset(np.array(list(failed), dtype=np.int64))
        self._cast()
        self._refuse_given_up()
        return failed

    def close(self) -> None:
        self.matches.close()

    def _replay(self, match: int, arrays: Mapping[str, Array]) -> bool:
        if self.matches.restore != "replay":
            return False
        past, roles = self.running.so_far(match), self.matches.roles
        if self.matches.reset([match], [int(self.running.seed[match])]):
            return False
        for t in range(int(self.running.length[match])):
            taken = {name: past[f"action.{name}"][t] for name in roles}
            every = {n: np.repeat(a[None], self.matches.n_matches, 0) for n, a in taken.items()}
            step = self.matches.step(every, [match])
            if step.faults or step.over[match]:
                return False
        shown = ((self.matches.obs[n][match], arrays[f"{n}/obs"][match]) for n in roles)
        playing = (self.seats[n].playing[self.seats[n].of([match])] for n in roles)
        return all(
            np.array_equal(now[alive], then[alive])
            for (now, then), alive in zip(shown, playing, strict=True)
        )
