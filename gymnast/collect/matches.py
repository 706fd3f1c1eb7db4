"""Collects rollouts by playing matches between roles: one rollout per role that learns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.collector import CollectResult, EnvDescription
from gymnast.collect.faults import FaultCount
from gymnast.collect.matchmaking import LEARNER, Cast, Matchmaker, SelfPlayMatchmaker
from gymnast.collect.replay import NOT_DETERMINISTIC, REPLAY_DIFFERS
from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.collect.seats import Seats
from gymnast.collect.tasks import TaskSampler
from gymnast.config.section import RolloutLength
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, Matches, MatchStep, Role
from gymnast.policy.policy import Policy
from gymnast.runs import document
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.role_arrays import arrays_of_role, strip_prefix
from gymnast.seeds import episode_seeds
from gymnast.spaces.spaces import Action, Observation, space_text

Array = np.ndarray
_NONE = np.zeros(0, dtype=np.int64)
"""No indices."""
_CAST, _MATCHES = "cast", "matches."
"""Name of the casts in a checkpoint, and prefix of the environment's own arrays."""


@dataclass(frozen=True)
class MatchEnd:
    """The result of a finished match."""

    cast: Cast
    outcome: str
    """Name of the outcome; empty if the environment did not report one."""
    winner: str | None
    """The role that won; empty for a draw, None if unknown."""
    length: int
    numbers: dict[str, float]


class MatchCollector:
    """Implements `Collector` for `Matches`. Roles that do not learn play too, but have no rollout."""

    def __init__(
        self,
        matches: Matches,
        *,
        seed: int,
        learners: Sequence[str],
        should_trace: Callable[[int], bool],
        on_fault: Literal["restart", "stop"] = "restart",
        max_faults: int = 5,
        seeding_warnings: Sequence[str] = (),
    ) -> None:
        """`learners` are the roles that learn; `should_trace` says if the match with this seed is kept as
        a trace; `seeding_warnings` are human-readable seeding warnings."""
        self.matches, self.seed, self.should_trace = matches, seed, should_trace
        self.learners, self.seeding_warnings = tuple(learners), tuple(seeding_warnings)
        self.env = EnvDescription.of(matches, _space_texts(matches.roles), matches.outcomes)
        self.spaces: dict[str, tuple[Observation, Action]] = {
            name: (matches.roles[name].obs, matches.roles[name].action) for name in learners
        }
        self.task_sampler: TaskSampler | None = None
        self.matchmaker: Matchmaker = SelfPlayMatchmaker(matches.roles)
        self.seats = {name: Seats(name, r, matches.n_matches) for name, r in matches.roles.items()}
        self.running = RunningEpisodes(matches.n_matches)
        self.casts: list[Cast] = [dict.fromkeys(matches.roles, LEARNER)] * matches.n_matches
        """The current cast of each match."""
        self._seed_of = episode_seeds(seed, "episode", "match")
        self._faults = FaultCount(matches.n_matches, max_faults if on_fault == "restart" else 1)
        self._outcome_names = list(matches.outcomes)

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        return self.seats[role].seats_of(
            range(self.matches.n_matches) if copies is None else copies
        )

    # ---- playing -----------------------------------------------------------------------------

    def start_episodes(self) -> None:
        """Starts the first match in every slot."""
        self._reset(np.arange(self.matches.n_matches))
        self._assign_seats()
        self._faults.raise_if_fatal(self.matches.name)

    def collect(
        self,
        policies: Mapping[str, Policy],
        span: RolloutLength,
        clock: Clock,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> CollectResult:
        """Collects one rollout of `span.steps` steps per learning role; all of them cover the same steps of
        the same matches. `policies`: learning role -> policy. A rollout has a fixed length, so `should_stop`
        is not asked."""
        # 1. Start a rollout for every role, learning or not: opponents need their noise too.
        started, env_seconds, steps = time.perf_counter(), 0.0, span.steps or 1
        self._faults.begin_rollout()
        ends: list[MatchEnd] = []
        to_trace: list[tuple[int, int, MatchEnd, int, int]] = []
        for name, seats in self.seats.items():
            obs = self.matches.obs[name]
            seats.begin_rollout(policies.get(name), obs, steps, self.seed, clock.rollouts)
        # 2. Play. A match that is over, or that broke, starts again at once in the same slot.
        steps_taken = 0
        for t in range(steps):
            actions = {n: seats.act(t, self.matches.obs[n]) for n, seats in self.seats.items()}
            before = time.perf_counter()
            step = self.matches.step(actions)
            self._record(t, step)
            (over,) = step.over.nonzero()
            broken = sorted({fault.copy for fault in step.faults})
            # A match that broke in its last step has no result; it only counts as a fault.
            over = np.setdiff1d(over, broken) if broken else over
            for match in over.tolist():
                end = self._end(match, step)
                ends.append(end)
                if self.should_trace(int(self.running.seed[match])):
                    length = int(self.running.length[match])
                    to_trace.append((match, t, end, int(self.running.seed[match]), length))
            retry = self._faults.record(step.faults) if step.faults else []
            if len(over) or retry:
                self._reset(np.array([*over.tolist(), *retry], dtype=np.int64))
                self._assign_seats()
            for seats in self.seats.values():
                seats.record_starts(t)  # after the resets, which set the flags
            steps_taken = t + 1
            env_seconds += time.perf_counter() - before
            if self._faults.fatal_fault is not None:
                break
        # 3. Turn the buffers into rollouts, and the matches that ended into traces.
        rollouts = {n: seats.finish(self.matches.obs[n]) for n, seats in self.seats.items()}
        columns = self._columns()
        # Traces must be made before the rollout is appended, which may free their first steps.
        traces = [self._trace(columns, *ended, version=clock.env_steps) for ended in to_trace]
        self.running.append_rollout(columns, steps_taken)
        return CollectResult(
            {name: rollout for name, rollout in rollouts.items() if rollout is not None},
            steps=steps_taken * self.matches.n_matches,
            vec_steps=steps_taken,
            episodes=len(ends),
            match_ends=ends,
            match_traces=traces,
            faults=self._faults.rollout_faults,
            fatal_fault=self._faults.fatal_fault,
            env_seconds=env_seconds,
            inference_seconds=time.perf_counter() - started - env_seconds,
        )

    def _record(self, t: int, step: MatchStep) -> None:
        """Stores the result of step t for the seats of every role."""
        broken = sorted({fault.copy for fault in step.faults})
        for name, seats in self.seats.items():
            broken_seats = seats.seats_of(broken) if broken else _NONE
            result = step.reward[name], step.terminated[name], step.truncated[name]
            seats.record(t, *result, step.obs[name], broken_seats)
        self.running.length += 1
        self.running.clear(broken)

    def _end(self, match: int, step: MatchStep) -> MatchEnd:
        """Returns the result of a match that is over."""
        index = int(step.outcome[match])
        outcome = "" if index == UNKNOWN_OUTCOME else self._outcome_names[index]
        self._faults.episode_finished(match)
        return MatchEnd(
            cast=self.casts[match],
            outcome=outcome,
            winner=self.matches.outcomes.get(outcome),
            length=int(self.running.length[match]),
            numbers={name: float(column[match]) for name, column in step.metrics.items()},
        )

    def _reset(self, matches: Array) -> None:
        """Starts a new match in each of these slots. A reset that fails is retried with the seed of the
        next match, until the slot has reached its limit of faults."""
        while len(matches):
            indices = matches.tolist()
            numbers = self.running.number[matches].tolist()
            # Seed and cast depend only on the slot and the number of its match, so that a resumed run
            # plays the same matches.
            seeds = np.array(list(map(self._seed_of, indices, numbers)), dtype=np.int64)
            for match, number in zip(indices, numbers, strict=True):
                self.casts[match] = dict(self.matchmaker.cast(match, number))
            self.running.start_episodes(matches, seeds.tolist())
            for seats in self.seats.values():
                seats.reset(seats.seats_of(matches), np.repeat(seeds, seats.role.seats))
            faults = self.matches.reset(indices, seeds.tolist())
            matches = np.array(self._faults.record(faults), dtype=np.int64) if faults else _NONE

    def _assign_seats(self) -> None:
        """Gives every seat to the player that the current casts name."""
        for name, seats in self.seats.items():
            seats.assign_players([cast[name] for cast in self.casts], self.matchmaker.player)

    # ---- traces ------------------------------------------------------------------------------

    def _columns(self) -> dict[str, Array]:
        """Returns actions and rewards of all roles in this rollout, [T, matches, seats, ...]."""
        columns: dict[str, Array] = {}
        for name, seats in self.seats.items():
            for kind, steps in (("action", seats.env_actions), ("reward", seats.rewards)):
                every = np.stack(steps)
                shape = (len(steps), self.matches.n_matches, seats.role.seats, *every.shape[2:])
                columns[f"{kind}.{name}"] = every.reshape(shape)
        # `RunningEpisodes` reads the number of steps from a column named "reward".
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
        """Returns the trace of a match that ended in step t of this rollout after `length` steps. `columns`
        are those of the rollout; `version` is the number of env steps before the rollout."""
        piece = {n: c[max(t + 1 - length, 0) : t + 1, match] for n, c in columns.items()}
        steps = self.running.complete_episode(match, length, piece)
        return MatchTrace(
            seed=seed,
            actions={name: np.asarray(steps[f"action.{name}"]).copy() for name in self.seats},
            rewards={name: np.asarray(steps[f"reward.{name}"]).copy() for name in self.seats},
            cast=dict(end.cast),
            outcome=end.outcome,
            version=version,
            numbers=end.numbers,
        )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        """Returns the arrays for a checkpoint from which `load` continues the running matches: their casts,
        their seats and, as far as the environment allows it, their state or their actions."""
        arrays = self.running.state(with_steps=self.env.resumes_exactly)
        for name, seats in self.seats.items():
            arrays |= {f"{name}/{key}": array for key, array in seats.state().items()}
            arrays[f"{name}/obs"] = self.matches.obs[name].copy()
        if self.matches.restore_mode == "state":
            arrays |= {f"{_MATCHES}{key}": a for key, a in self.matches.state().items()}
        arrays[_CAST] = np.frombuffer(document.dumps(self.casts).encode(), np.uint8)
        return arrays

    def load(self, arrays: dict[str, Array]) -> dict[int, str]:
        """Restores the running matches. Returns the slots for which that failed, with the reason; they start
        a new match."""
        self.running.load(arrays)
        self.casts = document.loads(arrays[_CAST].tobytes())
        for name, seats in self.seats.items():
            seats.load(arrays_of_role(name, arrays))
        failed: dict[int, str] = {}
        if self.matches.restore_mode == "state":
            self.matches.load(strip_prefix(_MATCHES, arrays))
        else:
            every = range(self.matches.n_matches)
            reason = REPLAY_DIFFERS if self.matches.restore_mode == "replay" else NOT_DETERMINISTIC
            failed = {match: reason for match in every if not self._replay(match, arrays)}
        self._reset(np.array(list(failed), dtype=np.int64))
        self._assign_seats()
        self._faults.raise_if_fatal(self.matches.name)
        return failed

    def close(self) -> None:
        self.matches.close()

    def _replay(self, match: int, arrays: Mapping[str, Array]) -> bool:
        """Replays a match from its seed. True if every agent still playing has its stored observation."""
        if self.matches.restore_mode != "replay":
            return False
        past, roles = self.running.partial_episode(match), self.matches.roles
        if self.matches.reset([match], [int(self.running.seed[match])]):
            return False
        for t in range(int(self.running.length[match])):
            actions = {name: np.asarray(past[f"action.{name}"])[t] for name in roles}
            # `step` takes actions of all matches, but only this one is stepped.
            every = {n: np.repeat(a[None], self.matches.n_matches, 0) for n, a in actions.items()}
            step = self.matches.step(every, [match])
            if step.faults or step.over[match]:
                return False
        obs = ((self.matches.obs[n][match], arrays[f"{n}/obs"][match]) for n in roles)
        playing = (self.seats[n].playing[self.seats[n].seats_of([match])] for n in roles)
        return all(
            np.array_equal(replayed[alive], stored[alive])
            for (replayed, stored), alive in zip(obs, playing, strict=True)
        )


def _space_texts(roles: Mapping[str, Role]) -> tuple[str, str]:
    """Returns readable descriptions of the observation and action spaces of all roles."""
    return (
        ", ".join(f"{r.seats} {name} {space_text(r.obs)}" for name, r in roles.items()),
        ", ".join(f"{name} {space_text(r.action)}" for name, r in roles.items()),
    )
