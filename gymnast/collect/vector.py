"""Play a policy in copies of a Gymnasium environment and keep what happened.

A collector serves one policy per role; a Gymnasium environment has the single role "agent".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.running import RunningEpisodes
from gymnast.collect.tape import Columns, End, Tape, WholeEpisode, of_whole_episodes
from gymnast.config.section import Span
from gymnast.envs.backend import Backend, Fault, Step, refuse
from gymnast.errors import EnvError
from gymnast.policy.policy import Policy
from gymnast.rollout import Episode, Rollout
from gymnast.runs.trace import Trace
from gymnast.seeds import episode_seed, stream

Array = np.ndarray
ROLE = "agent"
_ROOM = 256
"""Vector steps that a rollout of unknown length begins with."""


@dataclass
class Collected:
    """One rollout per role, and what else came of collecting them."""

    rollouts: dict[str, Rollout]
    steps: int
    """Steps the copies took, all together."""
    vec_steps: int
    complete: bool = True
    """Every copy has its share; false where whole episodes were cut off."""
    traces: list[Trace] = field(default_factory=list[Trace])
    faults: list[Fault] = field(default_factory=list[Fault])
    """What went wrong in single copies; their episodes were dropped."""
    failed: Fault | None = None
    """The fault after which a copy was given up: training cannot go on."""
    env_seconds: float = 0.0
    inference_seconds: float = 0.0


class VectorCollector:
    def __init__(
        self,
        envs: Backend,
        *,
        seed: int,
        numbers: Mapping[str, str],
        traced: Callable[[int], bool],
        keep_obs: bool,
        on_fault: Literal["restart", "stop"] = "restart",
        max_faults: int = 5,
    ) -> None:
        """`numbers`: metric name -> key of the last `info`; `traced`: is the episode with this seed
        kept as a trace; `keep_obs`: traces hold observations, where replaying cannot."""
        self.envs, self.seed, self.numbers = envs, seed, dict(numbers)
        self.traced, self.keep_obs = traced, keep_obs
        self.most_faults = max_faults if on_fault == "restart" else 1
        self.running = RunningEpisodes(envs.n_envs)
        self.start = np.ones(envs.n_envs, dtype=bool)
        self._in_a_row = [0] * envs.n_envs
        """Faults of each copy since it last finished an episode."""
        self._faults: list[Fault] = []
        self._failed: Fault | None = None

    @property
    def spaces(self) -> dict[str, tuple[Any, Any]]:
        return {ROLE: (self.envs.obs_space, self.envs.action_space)}

    def begin(self) -> None:
        """First episode of every copy."""
        self._reset(list(range(self.envs.n_envs)))
        if self._failed is not None:
            refuse(self.envs.name, [self._failed])

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
        self._faults = []
        tape, env_seconds, complete = self._play(policy, span, clock, give_up)
        columns = tape.columns(policy)
        kept = _WHOLE if span.episodes else (*_TRACED, *(("obs",) if self.keep_obs else ()))
        whole = self._cut({name: columns[name] for name in kept if name in columns}, tape)
        rollout = of_whole_episodes(whole, columns) if span.episodes else tape.as_rollout(columns)
        return Collected(
            {ROLE: rollout},
            steps=tape.taken,
            vec_steps=tape.length,
            complete=complete,
            traces=[
                episode.trace(clock.env_steps, keep_obs=self.keep_obs)
                for episode in whole
                if self.traced(episode.end.episode.seed)
            ],
            faults=self._faults,
            failed=self._failed,
            env_seconds=env_seconds,
            inference_seconds=time.perf_counter() - began - env_seconds,
        )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        return {"obs": self.envs.obs.copy(), "start": self.start.copy(), **self.running.state()}

    def load(self, arrays: dict[str, Array]) -> list[int]:
        """Restore the running episodes by replaying them; the copies where that failed begin a new
        episode and are returned."""
        self.running.load(arrays)
        self.start = arrays["start"].astype(bool)
        failed = [env for env in range(self.envs.n_envs) if not self._replay(env, arrays["obs"])]
        for env in failed:
            self.running.finish(env, {})
            self.start[env] = True
        self._reset(failed)
        if self._failed is not None:
            refuse(self.envs.name, [self._failed])
        return failed

    def close(self) -> None:
        self.envs.close()

    # ---- playing -----------------------------------------------------------------------------

    def _play(
        self, policy: Policy, span: Span, clock: Clock, give_up: Callable[[], bool]
    ) -> tuple[Tape, float, bool]:
        """The vector steps of one rollout, how long the environments took for them, and whether
        every copy has its share."""
        envs, running, n = self.envs, self.running, self.envs.n_envs
        draws = stream(self.seed, "action", ROLE, clock.rollouts)
        noise = None if span.episodes else policy.head.noise(draws, (span.steps or 1, n))
        tape = Tape(envs.obs, _ROOM if span.episodes else span.steps or 1)
        left = np.full(n, span.episodes or 1)
        playing, copies, seconds = left > 0, None, 0.0
        while (span.steps is None or tape.length < span.steps) and self._failed is None:
            if span.episodes:
                playing = left > 0
                copies = np.flatnonzero(playing).tolist()
                if not copies or (tape.length and give_up()):
                    break
            tape.make_room()
            t = tape.length
            tape.obs[t], tape.start[t] = envs.obs, self.start
            mask = None if envs.mask is None else envs.mask.copy()
            drawn = policy.head.noise(draws, (n,)) if noise is None else noise[t]
            action, dist = policy.act(tape.obs[t], drawn, mask)
            env_action = policy.head.for_env(action)
            before = time.perf_counter()
            step = envs.step(env_action, copies)
            self._record(tape, step, playing)
            running.raw_return += tape.reward[t]
            running.length += tape.valid[t]
            ended = self._finish(tape, step)
            if span.episodes:
                left[ended] -= 1
            seconds += time.perf_counter() - before
            tape.action.append(action)
            tape.env_action.append(env_action)
            tape.dist.append(dist)
            tape.mask.append(mask)
        tape.obs[tape.length] = envs.obs
        return tape, seconds, not span.episodes or not (left > 0).any()

    def _record(self, tape: Tape, step: Step, playing: Array) -> None:
        t = tape.length
        real = playing if step.stepped is None else playing & step.stepped
        tape.valid[t] = real
        tape.reward[t], tape.terminated[t] = step.reward, step.terminated
        np.logical_or(step.terminated, step.truncated, out=tape.done[t])
        self.start = tape.done[t].copy()
        taken = int(np.count_nonzero(real))
        tape.taken += taken
        if taken < len(real):
            idle = ~real
            tape.reward[t, idle] = 0.0
            tape.terminated[t, idle] = tape.done[t, idle] = False
            # a copy whose reset took a step opens its episode now; one that waits still does
            self.start = np.where(playing, tape.done[t] | idle, tape.start[t])
            only_reset = playing & idle
            only_reset[[fault.copy for fault in step.faults]] = (
                False  # dropped from where they began
            )
            tape.first[only_reset] = t + 1

    def _finish(self, tape: Tape, step: Step) -> list[int]:
        """Close the episodes that this step ended or broke, begin others; copies that ended one."""
        t, broken = tape.length, set[int]()
        for fault in step.faults:
            if fault.copy not in broken:
                broken.add(fault.copy)
                tape.drop(fault.copy)
                self.running.finish(fault.copy, {})
                self.start[fault.copy] = True
        again = self._note(step.faults) if step.faults else []
        ended: list[int] = []
        if tape.done[t].any():
            ended = [env for env in np.flatnonzero(tape.done[t]).tolist() if env not in broken]
            for env in ended:
                tape.ends.append(self._ended(tape, env, step))
                self._in_a_row[env] = 0
            self._reset([*ended, *again])
            tape.first[[*ended, *broken]] = t + 1
        tape.length += 1
        return ended

    def _reset(self, copies: Sequence[int]) -> None:
        """A new episode in each of these. One that cannot begin is tried again, up to the limit."""
        while len(copies):
            seeds = []
            for env in copies:
                number = int(self.running.number[env])
                seeds.append(episode_seed(self.seed, "episode", ROLE, env, number))
                self.running.begin(env, seeds[-1])
            copies = self._note(self.envs.reset(copies, seeds))

    def _note(self, faults: Sequence[Fault]) -> list[int]:
        """Keep count; the copies that may try again."""
        again = {}
        for fault in faults:
            if fault.copy not in again:
                again[fault.copy] = True
                self._faults.append(fault)
                self._in_a_row[fault.copy] += not fault.bystander
                if self._in_a_row[fault.copy] >= self.most_faults:
                    self._failed = self._failed or fault
                    again[fault.copy] = False
        return [copy for copy, may in again.items() if may]

    def _replay(self, env: int, shown: Array) -> bool:
        if self.envs.restore != "replay":
            return False
        actions = self.running.so_far(env).get("env_action", np.zeros((0,)))
        if self.envs.reset([env], [int(self.running.seed[env])]):
            return False
        for action in actions:
            step = self.envs.step(np.repeat(action[None], self.envs.n_envs, 0), [env])
            if step.faults or step.terminated[env] or step.truncated[env]:
                return False
        return np.array_equal(self.envs.obs[env], shown[env])

    # ---- episodes ----------------------------------------------------------------------------

    def _ended(self, tape: Tape, env: int, step: Step) -> End:
        running, terminated = self.running, bool(step.terminated[env])
        episode = Episode(
            raw_return=float(running.raw_return[env]),
            length=int(running.length[env]),
            env=env,
            seed=int(running.seed[env]),
            truncated=not terminated,
            numbers=self._numbers_in(step.infos[env]),
        )
        begins = int(tape.first[env])
        return End(begins, tape.length, env, step.obs[env].copy(), terminated, episode)

    def _numbers_in(self, info: dict[str, Any]) -> dict[str, float]:
        found: dict[str, float] = {}
        for metric, key in self.numbers.items():
            if key in info:
                try:
                    found[metric] = float(info[key])
                except (TypeError, ValueError):
                    what = f"metrics.{metric}: info[{key!r}] is {info[key]!r}, not a number"
                    raise EnvError(what, at=self.envs.name) from None
        return found

    def _cut(self, columns: Columns, tape: Tape) -> list[WholeEpisode]:
        """Divide the tape into episodes: those that ended, whole; the pieces of the others are kept."""
        whole: list[WholeEpisode] = []
        for end in tape.ends:
            piece = {k: c[end.begins : end.t + 1, end.env] for k, c in columns.items()}
            whole.append(WholeEpisode(end, self.running.finish(end.env, piece)))
        for env, first in enumerate(tape.first):
            if tape.valid[first : tape.length, env].any():
                self.running.go_on(env, {k: c[first:, env] for k, c in columns.items()})
        return whole


_TRACED = ("env_action", "reward", "value", "dist")
"""What is kept of a running episode for its trace, and to replay it."""
_WHOLE = (
    *_TRACED,
    *("obs", "action", "logprob", "next_value", "terminated", "done", "start", "valid", "mask"),
)
"""What is kept of one to learn from it when it is whole."""
