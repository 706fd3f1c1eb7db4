"""Collects rollouts by playing a policy in several copies of a Gymnasium environment.

A collector serves one policy per role; a Gymnasium environment has the single role "agent".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from gymnast.clock import Clock
from gymnast.collect import replay
from gymnast.collect.collector import ROLE, CollectResult, EnvDescription
from gymnast.collect.copies import CopyRange
from gymnast.collect.faults import FaultCount
from gymnast.collect.fragment import Fragment, finish
from gymnast.collect.policy_states import StateRecorder
from gymnast.collect.rollout_buffer import RolloutBuffer
from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.collect.tasks import TaskSampler
from gymnast.config.section import RolloutLength
from gymnast.envs.backends.backend import Backend, Step, any_true, info_metrics
from gymnast.policy.policy import Policy
from gymnast.runs.role_arrays import strip_prefix
from gymnast.seeds import episode_seeds, stream
from gymnast.spaces.spaces import Action, Observation

Array = np.ndarray
_INITIAL_CAPACITY = 256
"""Vector steps allocated for a rollout of unknown length; the buffer doubles when it is full."""
_NONE = np.zeros(0, dtype=np.int64)


class VectorCollector:
    """Implements `Collector` for a `Backend`. Episodes continue from one rollout to the next."""

    def __init__(
        self,
        envs: Backend,
        *,
        seed: int,
        metric_keys: Mapping[str, str],
        step_keys: Sequence[str] = (),
        should_trace: Callable[[int], bool],
        keep_obs: bool,
        on_fault: Literal["restart", "stop"] = "restart",
        max_faults: int = 5,
        task_sampler: TaskSampler | None = None,
        seeding_warnings: Sequence[str] = (),
        copies: CopyRange | None = None,
    ) -> None:
        """`metric_keys` maps metric names to keys of the last `info` of an episode; `step_keys` are keys
        of the `info` of every step; `should_trace` says if the episode with this seed is kept as a trace;
        `keep_obs` stores observations in traces, for environments that cannot be replayed;
        `seeding_warnings` are human-readable seeding warnings; `copies` are the copies of the run that these
        environments are, all if None."""
        self.copies = CopyRange.all(envs.n_envs) if copies is None else copies
        self.envs, self.seed, self.metric_keys = envs, seed, dict(metric_keys)
        self.should_trace, self.keep_obs = should_trace, keep_obs
        self.step_keys, self.seeding_warnings = tuple(step_keys), tuple(seeding_warnings)
        self.env = EnvDescription.of(envs, envs.space_texts)
        self.spaces: dict[str, tuple[Observation, Action]] = {
            ROLE: (envs.obs_space, envs.action_space)
        }
        self.running = RunningEpisodes(envs.n_envs)
        self.start = np.ones(envs.n_envs, dtype=bool)
        """Whether the current observation of each copy is the first of an episode, [N]."""
        self.policy_state: Array | None = None
        """The policy states of the running episodes, [N, S]; None until a policy with memory acts."""
        self.task_sampler, self._seed_of = task_sampler, episode_seeds(seed, "episode", ROLE)
        self.faults = FaultCount(envs.n_envs, max_faults if on_fault == "restart" else 1)

    def columns(self, role: str, copies: Sequence[int] | None = None) -> Array:
        return np.arange(self.envs.n_envs) if copies is None else np.array(copies, np.int64)

    def start_episodes(self) -> None:
        """Resets every copy for its first episode."""
        self._reset(np.arange(self.envs.n_envs))
        self.faults.raise_if_fatal(self.envs.name)

    def collect(
        self,
        policies: Mapping[str, Policy],
        span: RolloutLength,
        clock: Clock,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> CollectResult:
        """Collects a rollout of `span` steps, or of `span` whole episodes per copy.

        The action noise depends on the seed and the clock's count of rollouts only, so that a resumed run
        draws the same. Whole episodes may take arbitrarily long; they are cut off once `should_stop()` is
        true."""
        fragment = self.play(policies[ROLE], span, clock.rollouts, should_stop)
        return finish(
            fragment,
            self.running,
            span,
            clock.env_steps,
            self.should_trace,
            keep_obs=self.keep_obs,
        )

    def play(
        self,
        policy: Policy,
        span: RolloutLength,
        rollout: int,
        should_stop: Callable[[], bool] = lambda: False,
        max_steps: int | None = None,
    ) -> Fragment:
        """Plays one rollout and computes the values of all states. `rollout`: number of rollouts before this
        one; `max_steps`: ends a rollout of `span` steps after this many. The other arguments are those of
        `collect`."""
        started = time.perf_counter()
        self.faults.begin_rollout()
        buffer, env_seconds, complete = self._play(policy, span, rollout, should_stop, max_steps)
        ends = buffer.ends.all()
        columns = buffer.columns(policy, ends)
        memory, sequences = buffer.sequences()
        return Fragment(
            columns,
            ends,
            np.asarray(buffer.obs[buffer.length]),
            memory,
            sequences,
            env_steps=buffer.env_steps,
            length=buffer.length,
            complete=complete,
            faults=tuple(self.faults.rollout_faults),
            fatal_fault=self.faults.fatal_fault,
            env_seconds=env_seconds,
            seconds=time.perf_counter() - started,
        )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> dict[str, Array]:
        history = replay.replay_state(self.envs)
        running = self.running.state(with_steps=history is not None)
        arrays = {"obs": self.envs.obs.copy(), "start": self.start.copy(), **running}
        if self.policy_state is not None:
            arrays["policy_state"] = self.policy_state.copy()
        return arrays | {f"{_HISTORY}{name}": array for name, array in (history or {}).items()}

    def load(self, arrays: dict[str, Array]) -> dict[int, str]:
        """Restores the running episodes by replaying them. Returns the copies for which that failed, with
        the reason; they start a new episode."""
        self.running.load(arrays)
        self.start = arrays["start"].astype(bool)
        # The state is stored, not recomputed: the parameters that led to it have changed since.
        self.policy_state = arrays["policy_state"].copy() if "policy_state" in arrays else None
        history = strip_prefix(_HISTORY, arrays)
        failed = replay.restore(self.envs, self.running, arrays["obs"], history)
        self.start[list(failed)] = True
        self._reset(np.array(list(failed), dtype=np.int64))
        self.faults.raise_if_fatal(self.envs.name)
        return failed

    def close(self) -> None:
        self.envs.close()

    # ---- playing -----------------------------------------------------------------------------

    def _play(
        self,
        policy: Policy,
        span: RolloutLength,
        rollout: int,
        should_stop: Callable[[], bool],
        max_steps: int | None,
    ) -> tuple[RolloutBuffer, float, bool]:
        """Plays the vector steps of one rollout. Returns the buffer, the seconds spent in the environments,
        and whether every copy has finished its quota of episodes."""
        envs, head, n = self.envs, policy.head, self.envs.n_envs
        draws = stream(self.seed, "action", ROLE, rollout)
        # The noise of all copies of the run, of which these are a part: it must not depend on the division.
        own, total = self.copies.slice, self.copies.total
        # All noise of the rollout at once, [T, N, ...], which is faster, if its length is known.
        noise = None if span.episodes else head.noise(draws, (span.steps or 1, total))[:, own]
        capacity = _INITIAL_CAPACITY if span.episodes else span.steps or 1
        states = StateRecorder.begin_rollout(policy, self.policy_state, n, capacity)
        episodes = self.start, self.running, self.step_keys
        buffer = RolloutBuffer(policy.obs_space, envs.obs, head, capacity, *episodes, states)
        self.policy_state = buffer.state
        episodes_left = np.full(n, span.episodes or 1)
        copies, seconds = None, 0.0
        last = span.steps if max_steps is None else max_steps
        while (last is None or buffer.length < last) and self.faults.fatal_fault is None:
            # Copies that have finished their quota wait: playing on would favor short episodes
            # (decision 0007).
            if span.episodes:
                copies = np.flatnonzero(episodes_left > 0).tolist()
                if not copies or (buffer.length and should_stop()):
                    break
                buffer.grow()
            t = buffer.length
            obs, action = buffer.record_obs(envs.obs), buffer.action[t]
            step_noise = head.noise(draws, (total,))[own] if noise is None else noise[t]
            rows = action, buffer.dist[t], buffer.logprob[t], buffer.value[t]
            mask, state = buffer.record_mask(envs.mask), buffer.begin_state()
            policy.act_into(obs, step_noise, mask, *rows, state)
            env_action = buffer.to_env_action(action)
            before = time.perf_counter()
            ended = self._record(buffer, envs.step(env_action, copies), copies)
            seconds += time.perf_counter() - before
            if span.episodes:
                episodes_left[ended] -= 1
        buffer.record_obs(envs.obs)  # the state after the last step, whose value is bootstrapped
        self.start = buffer.start[buffer.length].copy()
        return buffer, seconds, not span.episodes or not (episodes_left > 0).any()

    def _record(self, buffer: RolloutBuffer, step: Step, copies: Sequence[int] | None) -> Array:
        """Stores the result of a step, resets the copies that ended an episode, and returns their indices.
        `copies`: the copies that were stepped, None for all.

        This is the fast path, for steps in which all copies were stepped and none broke.
        """
        t, running = buffer.length, self.running
        buffer.reward[t] = step.reward
        if buffer.info is not None:
            buffer.record_info(step.info_values)
        if copies is not None or step.stepped is not None or step.faults:
            return self._record_partial(buffer, step, copies)
        buffer.env_steps += len(step.reward)
        running.raw_return += step.reward
        running.length += 1
        buffer.length += 1
        if not (any_true(step.terminated) or any_true(step.truncated)):
            return _NONE
        # From here on at least one episode has ended. The order matters: record the ends before the reset
        # overwrites the final observations.
        buffer.terminated[t] = step.terminated
        over = np.logical_or(step.terminated, step.truncated, out=buffer.done[t])
        buffer.start[t + 1] = over
        (ended,) = over.nonzero()
        self._end(buffer, t, ended, step)
        self._reset(ended)
        return ended

    def _record_partial(
        self, buffer: RolloutBuffer, step: Step, copies: Sequence[int] | None
    ) -> Array:
        """Does what `_record` does for a step in which some copies did not step, or broke."""
        # `playing`: copies with a quota left; `stepped`: the ones among them that made a transition.
        t, running, n = buffer.length, self.running, self.envs.n_envs
        playing = np.ones(n, dtype=bool)
        if copies is not None:
            playing[:] = False
            playing[copies] = True
        stepped = playing if step.stepped is None else playing & step.stepped
        idle = ~stepped
        buffer.valid[t] = stepped
        buffer.env_steps += int(np.count_nonzero(stepped))
        buffer.reward[t, idle] = 0.0
        buffer.terminated[t] = step.terminated & stepped
        over = buffer.done[t] = (step.terminated | step.truncated) & stepped
        # Next-step autoreset: a copy that used this step for its reset starts an episode now. A copy
        # that is not playing keeps its flag.
        buffer.start[t + 1] = np.where(playing, over | idle, buffer.start[t])
        running.raw_return += buffer.reward[t]
        retry: list[int] = []
        if step.faults:
            broken = list(dict.fromkeys(fault.copy for fault in step.faults))
            for copy in broken:
                buffer.invalidate_episode(copy, int(running.length[copy]))
            retry = self.faults.record(step.faults)
            over[broken] = stepped[broken] = False
            running.clear(broken)
        running.length += stepped
        buffer.length += 1
        (ended,) = over.nonzero()
        if len(ended):
            self._end(buffer, t, ended, step)
        self._reset(np.array([*ended, *retry], dtype=np.int64) if retry else ended)
        return ended

    def _end(self, buffer: RolloutBuffer, t: int, ended: Array, step: Step) -> None:
        """Records the episodes that ended with step t in the copies `ended`."""
        metrics = [self._metrics(step.infos[env]) for env in ended] if self.metric_keys else ()
        buffer.ends.record(t, ended, step.terminated, step.obs, metrics, buffer.state)
        self.faults.episode_finished(ended)

    def _metrics(self, info: Mapping[str, object]) -> dict[str, float]:
        return info_metrics(info, self.metric_keys, self.envs.name)

    def _reset(self, copies: Array) -> None:
        """Starts a new episode in each of these copies. A reset that fails is retried with the seed of
        the next episode, until the copy has reached its limit of faults."""
        first = self.copies.first
        while len(copies):
            indices = copies.tolist()
            # A function of copy and episode number, so that a resumed run plays the same episodes.
            numbers = self.running.number[copies].tolist()
            seeds = [self._seed_of(first + i, k) for i, k in zip(indices, numbers, strict=True)]
            if self.task_sampler is not None:
                seeds = list(map(self.task_sampler, seeds))
            self.running.start_episodes(copies, seeds)
            faults = self.envs.reset(indices, seeds)
            copies = np.array(self.faults.record(faults), dtype=np.int64) if faults else _NONE


_HISTORY = "history."
"""Prefix of a vector environment's own arrays in a checkpoint."""
