"""Play a policy in copies of a Gymnasium environment and keep what happened.

A collector serves one policy per role; a Gymnasium environment has the single role "agent".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.running import RunningEpisodes
from gymnast.envs.inprocess import InProcess, Step
from gymnast.errors import EnvError
from gymnast.policy.policy import Policy
from gymnast.rollout import Episode, Rollout
from gymnast.runs.trace import Trace
from gymnast.seeds import episode_seed, stream

Array = np.ndarray
ROLE = "agent"


@dataclass
class Collected:
    """One rollout per role, and what else came of collecting them."""

    rollouts: dict[str, Rollout]
    traces: list[Trace] = field(default_factory=list[Trace])
    env_seconds: float = 0.0
    inference_seconds: float = 0.0


@dataclass(frozen=True)
class _End:
    """An episode that ended in this rollout, at step t of a copy."""

    t: int
    env: int
    final_obs: Array
    terminated: bool
    episode: Episode


class VectorCollector:
    def __init__(
        self,
        envs: InProcess,
        *,
        seed: int,
        numbers: Mapping[str, str],
        traced: Callable[[int], bool],
        keep_obs: bool,
    ) -> None:
        """`numbers`: metric name -> key of the last `info`; `traced`: is the episode with this seed
        kept as a trace; `keep_obs`: traces hold observations, where replaying cannot."""
        self.envs, self.seed, self.numbers = envs, seed, dict(numbers)
        self.traced, self.keep_obs = traced, keep_obs
        self.running = RunningEpisodes(envs.n_envs)
        self.start = np.ones(envs.n_envs, dtype=bool)

    @property
    def spaces(self) -> dict[str, tuple[Any, Any]]:
        return {ROLE: (self.envs.obs_space, self.envs.action_space)}

    def begin(self) -> None:
        """First episode of every copy."""
        self._reset(np.arange(self.envs.n_envs))

    def collect(self, lineup: Mapping[str, Policy], n_steps: int, clock: Clock) -> Collected:
        """The clock's count of rollouts names the stream of action noise."""
        policy, n = lineup[ROLE], self.envs.n_envs
        noise = policy.head.noise(stream(self.seed, "action", ROLE, clock.rollouts), (n_steps, n))
        obs = np.empty((n_steps + 1, *self.envs.obs.shape), self.envs.obs.dtype)
        reward = np.empty((n_steps, n))
        terminated, done, start = (np.zeros((n_steps, n), dtype=bool) for _ in range(3))
        actions, dists, env_actions = [], [], []
        ends: list[_End] = []
        env_seconds, began = 0.0, time.perf_counter()

        for t in range(n_steps):
            obs[t], start[t] = self.envs.obs, self.start
            action, dist = policy.act(obs[t], noise[t])
            env_action = policy.head.for_env(action)
            before = time.perf_counter()
            step = self.envs.step(env_action)
            reward[t], terminated[t] = step.reward, step.terminated
            done[t] = step.terminated | step.truncated
            self.running.raw_return += step.reward
            self.running.length += 1
            self.start = done[t]
            if done[t].any():
                ended = np.flatnonzero(done[t])
                ends += [self._ended(t, int(env), step) for env in ended]
                self._reset(ended)
            env_seconds += time.perf_counter() - before
            actions.append(action)
            dists.append(dist)
            env_actions.append(env_action)
        obs[n_steps] = self.envs.obs

        action, dist = np.stack(actions), np.stack(dists)
        value, next_value = _values(policy, obs, ends)
        gathered = Rollout(
            obs=obs[:-1],
            last_obs=obs[-1],
            action=action,
            dist=dist,
            logprob=policy.head.logprob(dist, action),
            value=value,
            reward=reward,
            next_value=next_value,
            terminated=terminated,
            done=done,
            start=start,
            valid=np.ones((n_steps, n), dtype=bool),
            mask=None,
            memory=None,
            episodes=tuple(end.episode for end in ends),
        )
        columns = {"action": np.stack(env_actions), "reward": reward, "value": value, "dist": dist}
        if self.keep_obs:
            columns["obs"] = obs[:-1]
        traces = self._cut(columns, ends, clock.env_steps)
        seconds = time.perf_counter() - began
        return Collected({ROLE: gathered}, traces, env_seconds, seconds - env_seconds)

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
        if failed:
            self._reset(np.array(failed))
        return failed

    def close(self) -> None:
        self.envs.close()

    # ---- parts -------------------------------------------------------------------------------

    def _reset(self, copies: Array) -> None:
        seeds = []
        for env in copies.tolist():
            number = int(self.running.number[env])
            seeds.append(episode_seed(self.seed, "episode", ROLE, env, number))
            self.running.begin(env, seeds[-1])
        self.envs.reset(copies.tolist(), seeds)

    def _replay(self, env: int, shown: Array) -> bool:
        if self.envs.restore != "replay":
            return False
        actions = self.running.so_far(env).get("action", np.zeros((0,)))
        self.envs.reset([env], [int(self.running.seed[env])])
        for action in actions:
            step = self.envs.step(np.repeat(action[None], self.envs.n_envs, 0), [env])
            if step.terminated[env] or step.truncated[env]:
                return False
        return np.array_equal(self.envs.obs[env], shown[env])

    def _ended(self, t: int, env: int, step: Step) -> _End:
        info = step.infos[env]
        running = self.running
        terminated = bool(step.terminated[env])
        episode = Episode(
            raw_return=float(running.raw_return[env]),
            length=int(running.length[env]),
            env=env,
            seed=int(running.seed[env]),
            truncated=not terminated,
            numbers=self._numbers_in(info),
        )
        return _End(t, env, step.obs[env].copy(), terminated, episode)

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

    def _cut(self, columns: dict[str, Array], ends: list[_End], version: int) -> list[Trace]:
        """Divide the rollout into episodes: traces of the chosen finished ones, the rest goes on."""
        n_steps, n = columns["reward"].shape
        first = [0] * n
        traces = []
        for end in ends:
            span = slice(first[end.env], end.t + 1)
            whole = self.running.finish(end.env, {k: c[span, end.env] for k, c in columns.items()})
            first[end.env] = end.t + 1
            if self.traced(end.episode.seed):
                traces.append(_trace(whole, end, version))
        for env in range(n):
            if first[env] < n_steps:
                self.running.go_on(env, {k: c[first[env] :, env] for k, c in columns.items()})
        return traces


def _values(policy: Policy, obs: Array, ends: list[_End]) -> tuple[Array, Array]:
    """V of every observation [T, N], and of every true successor, in two calls of the critic."""
    steps, n = obs.shape[0] - 1, obs.shape[1]
    value = policy.value(obs.reshape(-1, *obs.shape[2:])).reshape(steps + 1, n)
    next_value = value[1:].copy()
    cut = [end for end in ends if not end.terminated]
    if cut:
        final = policy.value(np.stack([end.final_obs for end in cut]))
        next_value[[end.t for end in cut], [end.env for end in cut]] = final
    return value[:-1], next_value


def _trace(columns: dict[str, Array], end: _End, version: int) -> Trace:
    obs = columns.get("obs")
    return Trace(
        seed=end.episode.seed,
        env=end.env,
        action=columns["action"],
        reward=columns["reward"],
        value=columns["value"],
        dist=columns["dist"],
        obs=None if obs is None else np.concatenate([obs, end.final_obs[None]]),
        terminated=end.terminated,
        truncated=end.episode.truncated,
        raw_return=end.episode.raw_return,
        version=version,
    )
