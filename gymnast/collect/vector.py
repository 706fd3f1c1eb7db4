"""Play a policy in copies of a Gymnasium environment and keep what happened.

A collector serves one policy per role; a Gymnasium environment has the single role "agent".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gymnast.clock import Clock
from gymnast.collect import replay
from gymnast.collect.collector import ROLE, Collected
from gymnast.collect.faults import FaultCount
from gymnast.collect.running import RunningEpisodes
from gymnast.collect.tape import RolloutBuffer
from gymnast.collect.tasks import TaskDraw
from gymnast.collect.whole import keep_whole_episodes, trace_of, whole_episode
from gymnast.config.section import Span
from gymnast.envs.backends.backend import Backend, Step, any_of, info_metrics, raise_fault
from gymnast.policy.policy import Policy
from gymnast.runs.parts import after
from gymnast.seeds import episode_seeds, stream

Array = np.ndarray
_ROOM = 256
"""Vector steps that a rollout of unknown length begins with."""
_NOBODY = np.zeros(0, dtype=np.int64)


class VectorCollector:
    def __init__(
        self,
        envs: Backend,
        *,
        seed: int,
        numbers: Mapping[str, str],
        step_keys: Sequence[str] = (),
        traced: Callable[[int], bool],
        keep_obs: bool,
        on_fault: Literal["restart", "stop"] = "restart",
        max_faults: int = 5,
        tasks: TaskDraw | None = None,
        doubts: Sequence[str] = (),
    ) -> None:
        """`numbers`: metric name -> key of the last `info`; `step_keys`: keys of the `info` of every step;
        `traced`: is the episode with this seed kept as a trace; `keep_obs`: traces hold observations,
        where replaying cannot; `doubts`: about what seeds do, for a person."""
        self.envs, self.seed, self.numbers = envs, seed, dict(numbers)
        self.traced, self.keep_obs = traced, keep_obs
        self.step_keys, self.seeding_warnings = tuple(step_keys), tuple(doubts)
        self.running = RunningEpisodes(envs.n_envs)
        self.start = np.ones(envs.n_envs, dtype=bool)
        """What each copy shows now opens an episode."""
        self.tasks, self._seed_of = tasks, episode_seeds(seed, "episode", ROLE)
        self._faults = FaultCount(envs.n_envs, max_faults if on_fault == "restart" else 1)

    @property
    def spaces(self) -> dict[str, tuple[Any, Any]]:
        return {ROLE: (self.envs.obs_space, self.envs.action_space)}

    @property
    def name(self) -> str:
        return self.envs.name

    @property
    def time_limit(self) -> int | None:
        return self.envs.time_limit

    @property
    def has_default_limit(self) -> bool:
        return self.envs.has_default_limit

    @property
    def resumes_exactly(self) -> bool:
        return self.envs.restore != "none"

    @property
    def space_texts(self) -> tuple[str, str]:
        return self.envs.space_texts

    @property
    def outcomes(self) -> dict[str, str]:
        return {}

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        return np.arange(self.envs.n_envs) if copies is None else np.array(copies, np.int64)

    def start_episodes(self) -> None:
        """First episode of every copy."""
        self._reset(np.arange(self.envs.n_envs))
        if self._faults.failed is not None:
            raise_fault(self.envs.name, [self._faults.failed])

    def collect(
        self,
        lineup: Mapping[str, Policy],
        span: Span,
        clock: Clock,
        give_up: Callable[[], bool] = lambda: False,
    ) -> Collected:
        """The clock's count of rollouts names the stream of action noise. Whole episodes, which may
        take any time, are cut off as soon as `give_up()`."""
        policy, began = lineup[ROLE], time.perf_counter()
        self._faults.begin()
        tape, env_seconds, complete = self._play(policy, span, clock, give_up)
        ends = tape.ends.all()
        columns = tape.columns(policy, ends)
        names = _WHOLE if span.episodes else (*_TRACED, *(("obs",) if self.keep_obs else ()))
        kept = {name: columns[name] for name in names if name in columns}
        traced = [k for k, seed in enumerate(ends.episodes.seed.tolist()) if self.traced(seed)]
        wanted = range(len(ends.t)) if span.episodes else traced
        whole = {k: whole_episode(ends, k, kept, self.running) for k in wanted}
        self.running.append_rollout(kept, tape.length)
        if span.episodes:
            rollout = keep_whole_episodes(ends, list(whole.values()), columns)
        else:
            rollout = tape.as_rollout(columns, ends)
        more = {"version": clock.env_steps, "keep_obs": self.keep_obs}
        return Collected(
            {ROLE: rollout},
            steps=tape.taken,
            vec_steps=tape.length,
            episodes=len(rollout.episodes),
            complete=complete,
            traces=[trace_of(ends, k, whole[k], **more) for k in traced],
            faults=self._faults.of_rollout,
            failed=self._faults.failed,
            env_seconds=env_seconds,
            inference_seconds=time.perf_counter() - began - env_seconds,
        )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        history = replay.state_of(self.envs)
        running = self.running.state(past=history is not None)
        arrays = {"obs": self.envs.obs.copy(), "start": self.start.copy(), **running}
        return arrays | {f"{_HISTORY}{name}": array for name, array in (history or {}).items()}

    def load(self, arrays: dict[str, Array]) -> dict[int, str]:
        """Restore the running episodes by replaying them; the copies where that failed begin a new
        episode and are returned, with the reason."""
        self.running.load(arrays)
        self.start = arrays["start"].astype(bool)
        history = after(_HISTORY, arrays)
        failed = replay.restore(self.envs, self.running, arrays["obs"], history)
        self.start[list(failed)] = True
        self._reset(np.array(list(failed), dtype=np.int64))
        if self._faults.failed is not None:
            raise_fault(self.envs.name, [self._faults.failed])
        return failed

    def close(self) -> None:
        self.envs.close()

    # ---- playing -----------------------------------------------------------------------------

    def _play(
        self, policy: Policy, span: Span, clock: Clock, give_up: Callable[[], bool]
    ) -> tuple[RolloutBuffer, float, bool]:
        """The vector steps of one rollout, how long the environments took for them, and whether
        every copy has its share."""
        envs, head, n = self.envs, policy.head, self.envs.n_envs
        draws = stream(self.seed, "action", ROLE, clock.rollouts)
        noise = None if span.episodes else head.noise(draws, (span.steps or 1, n))
        capacity = _ROOM if span.episodes else span.steps or 1
        more = self.start, self.running, self.step_keys
        tape = RolloutBuffer(policy.obs, envs.obs, head, capacity, *more)
        left = np.full(n, span.episodes or 1)
        copies, seconds = None, 0.0
        while (span.steps is None or tape.length < span.steps) and self._faults.failed is None:
            if span.episodes:
                copies = np.flatnonzero(left > 0).tolist()
                if not copies or (tape.length and give_up()):
                    break
                tape.grow()
            t = tape.length
            shown, action = tape.record_obs(envs.obs), tape.action[t]
            drawn = head.noise(draws, (n,)) if noise is None else noise[t]
            rows = action, tape.dist[t], tape.logprob[t], tape.value[t]
            policy.act_into(shown, drawn, tape.record_mask(envs.mask), *rows)
            given = tape.for_env(action)
            before = time.perf_counter()
            ended = self._record(tape, envs.step(given, copies), copies)
            seconds += time.perf_counter() - before
            if span.episodes:
                left[ended] -= 1
        tape.record_obs(envs.obs)
        self.start = tape.start[tape.length].copy()
        return tape, seconds, not span.episodes or not (left > 0).any()

    def _record(self, tape: RolloutBuffer, step: Step, copies: Sequence[int] | None) -> Array:
        """Write down what a step did; the copies that ended an episode. The rest is rare."""
        t, running = tape.length, self.running
        tape.reward[t] = step.reward
        if tape.numbers is not None:
            tape.note_numbers(step.numbers)
        if copies is not None or step.stepped is not None or step.faults:
            return self._record_unevenly(tape, step, copies)
        tape.taken += len(step.reward)
        running.raw_return += step.reward
        running.length += 1
        tape.length += 1
        if not (any_of(step.terminated) or any_of(step.truncated)):
            return _NOBODY
        tape.terminated[t] = step.terminated
        over = np.logical_or(step.terminated, step.truncated, out=tape.done[t])
        tape.start[t + 1] = over
        (ended,) = over.nonzero()
        self._end(tape, t, ended, step)
        self._reset(ended)
        return ended

    def _record_unevenly(
        self, tape: RolloutBuffer, step: Step, copies: Sequence[int] | None
    ) -> Array:
        """The same where some copies did not step, or broke."""
        t, running, n = tape.length, self.running, self.envs.n_envs
        playing = np.ones(n, dtype=bool)
        if copies is not None:
            playing[:] = False
            playing[copies] = True
        real = playing if step.stepped is None else playing & step.stepped
        idle = ~real
        tape.valid[t] = real
        tape.taken += int(np.count_nonzero(real))
        tape.reward[t, idle] = 0.0
        tape.terminated[t] = step.terminated & real
        over = tape.done[t] = (step.terminated | step.truncated) & real
        # a copy whose reset took a step opens its episode now; one that waits still does
        tape.start[t + 1] = np.where(playing, over | idle, tape.start[t])
        running.raw_return += tape.reward[t]
        again: list[int] = []
        if step.faults:
            broken = list(dict.fromkeys(fault.copy for fault in step.faults))
            for copy in broken:
                tape.drop(copy, int(running.length[copy]))
            again = self._faults.record(step.faults)
            over[broken] = real[broken] = False
            running.clear(broken)
        running.length += real
        tape.length += 1
        (ended,) = over.nonzero()
        if len(ended):
            self._end(tape, t, ended, step)
        self._reset(np.array([*ended, *again], dtype=np.int64) if again else ended)
        return ended

    def _end(self, tape: RolloutBuffer, t: int, ended: Array, step: Step) -> None:
        told = [self._told(step.infos[env]) for env in ended] if self.numbers else ()
        tape.ends.record(t, ended, step.terminated, step.obs, told)
        self._faults.finished(ended)

    def _told(self, info: Mapping[str, Any]) -> dict[str, float]:
        return info_metrics(info, self.numbers, self.envs.name)

    def _reset(self, copies: Array) -> None:
        """A new episode in each of these. One that cannot begin is tried again, up to the limit."""
        while len(copies):
            named = copies.tolist()
            seeds = list(map(self._seed_of, named, self.running.number[copies].tolist()))
            if self.tasks is not None:
                seeds = list(map(self.tasks, seeds))
            self.running.start_episodes(copies, seeds)
            faults = self.envs.reset(named, seeds)
            copies = np.array(self._faults.record(faults), dtype=np.int64) if faults else _NOBODY


_HISTORY = "history."
"""What the names of a vector's own arrays begin with in a checkpoint."""
_TRACED = ("env_action", "reward", "value", "dist")
"""What is kept of a running episode for its trace, and to replay it."""
_WHOLE = (
    *_TRACED,
    *("obs", "action", "logprob", "next_value", "terminated", "done", "start", "valid", "mask"),
    "info",
)
"""What is kept of one to learn from it when it is whole."""
