"""Plays the episodes of an evaluation plan to their ends, in copies of an environment that step together."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from gymnast.envs.backends.backend import Backend, Fault, info_metrics
from gymnast.evaluation.step_history import StepHistory
from gymnast.policy.policy import Policy
from gymnast.runs.trace import Trace
from gymnast.seeds import stream

Array = np.ndarray


@dataclass(frozen=True)
class EpisodePlan:
    """The episodes to play, by seed."""

    seeds: tuple[int, ...]
    exact: bool = False
    """True if the seeds cover every possible start, so that their mean has no sampling error."""
    max_steps: int | None = None
    """Number of env steps after which no further episode is started."""
    max_length: int | None = None
    """Number of steps after which an episode is stopped, although it is neither terminated nor truncated."""
    deterministic: bool = True
    """True to play the mode of the policy's distribution, False to sample from it."""
    max_seconds: float | None = None
    """Seconds after which no further episode is started, once `min_episodes` have been. Running episodes
    are finished, so that the scored episodes are always the first ones of the list of seeds."""
    min_episodes: int = 1
    timeout: float | None = None
    """Seconds after which running episodes are abandoned."""


@dataclass
class EvaluationProgress:
    """The progress of an evaluation."""

    started_at: float = field(default_factory=time.monotonic)
    """Start of the evaluation by the monotonic clock, which processes of one machine share."""
    on_step: Callable[[int, int], None] = lambda *_: None
    """Called at every vector step with (episodes done, episodes planned)."""
    total: int = 0
    """Number of planned episodes; 0 if it is not known."""
    started: int = 0
    done: int = 0
    """Number of episodes that have ended or were left out."""
    left_out: list[Fault] = field(default_factory=list[Fault])
    """The last fault of each episode that broke in every attempt."""
    timed_out: list[str] = field(default_factory=list[str])
    """Descriptions of the episodes that were abandoned at the timeout."""

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started_at

    def exceeds(self, seconds: float | None) -> bool:
        """True if the evaluation has taken longer than this; never for None."""
        return seconds is not None and self.elapsed > seconds


def play_episodes(
    policy: Policy,
    envs: Backend,
    plan: EpisodePlan,
    version: int,
    *,
    progress: EvaluationProgress,
    indices: Sequence[int],
    attempts: int = 1,
    on_start: Callable[[int], None] = lambda _: None,
    metric_keys: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[int, Trace]]:
    """Yields (index in the plan, trace) of every episode as it ends. `version`: env steps of the policy;
    `indices` are the episodes of the plan to play; `on_start` is called with each when it starts.

    An episode that a fault of the environment broke is retried with the same seed and left out after
    `attempts` faults. At the plan's timeout, running episodes are abandoned. Both are recorded in `progress`.
    `metric_keys`: metric -> key of the last info.
    """
    history = StepHistory()
    state = policy.initial_state(envs.n_envs)  # [N, S]; empty without memory
    scheduler = _EpisodeScheduler(envs, plan, indices, attempts, on_start, progress, state)
    head, playing, copies = policy.head, scheduler.playing, range(envs.n_envs)
    for copy in copies:
        scheduler.start_next(copy, history.steps)
    while playing:
        progress.on_step(progress.done, progress.total)
        if progress.exceeds(plan.timeout):
            scheduler.record_timeouts(history.steps)
            return
        obs = envs.obs.copy()  # [N, ...]; the backend overwrites its buffer at every step
        # Always for all copies: matrix products may round differently for another batch size, and a
        # result must not depend on how many copies still play.
        dist, *values = _decide(policy, obs, envs.mask, state)
        action = head.mode(dist)
        if not plan.deterministic:
            # Each episode has a random stream of its own seed, whatever the copy and the other episodes.
            for copy, episode in playing.items():
                action[copy] = head.sample(dist[copy], episode.draw_noise(policy))
        env_action = head.for_env(action)
        step = envs.step(env_action, None if len(playing) == len(copies) else list(playing))
        history.add((obs, env_action, step.reward, dist, *values), scheduler.oldest)
        scheduler.steps += len(playing)
        if step.faults:
            # one fault per copy, the last: a copy can report several for the same step
            for fault in {fault.copy: fault for fault in step.faults}.values():
                scheduler.handle_fault(fault, history.steps)
        done = step.terminated | step.truncated
        if plan.max_length is not None:
            for copy, episode in playing.items():
                done[copy] |= history.steps - episode.start_step >= plan.max_length
        if np.count_nonzero(done):
            # An episode that has just been restarted after a fault has no steps yet: `done` is not its own.
            for copy in [c for c in playing if done[c] and playing[c].start_step < history.steps]:
                episode = playing[copy]
                columns, final_obs = history.of(copy, episode.start_step), step.obs[copy].copy()
                ends = bool(step.terminated[copy]), bool(step.truncated[copy])
                trace = _trace(policy, episode.seed, copy, columns, final_obs, ends, version)
                metrics = info_metrics(step.infos[copy], metric_keys, envs.name)
                progress.done += 1
                yield episode.index, replace(trace, numbers=metrics)
                scheduler.start_next(copy, history.steps)


def _decide(policy: Policy, obs: Array, mask: Array | None, state: Array) -> tuple[Array, ...]:
    """Returns the distribution parameters for the observations of all copies and, for a policy with memory,
    also the values: they depend on the states, which are replaced by those after the step. Otherwise one
    call per episode is cheaper."""
    if not policy.state_size:
        return (policy.dist(obs, mask),)
    dist, value, state[:] = policy.step(obs, state, mask)
    return dist, value


@dataclass(frozen=True)
class _RunningEpisode:
    """One running episode in one copy."""

    index: int
    """Index in the plan's list of seeds."""
    seed: int
    start_step: int
    """Number of vector steps played before it."""
    noise: np.random.Generator | None
    """Stream for sampling actions; None if the policy plays deterministically."""
    attempts_left: int
    """Number of attempts left before it is left out."""

    def draw_noise(self, policy: Policy) -> Array:
        """Returns the noise for sampling one action; only for an episode whose policy samples."""
        assert self.noise is not None
        return policy.head.noise(self.noise, ())


class _EpisodeScheduler:
    """Assigns the episodes of the plan to copies."""

    def __init__(
        self,
        envs: Backend,
        plan: EpisodePlan,
        indices: Sequence[int],
        attempts: int,
        on_start: Callable[[int], None],
        progress: EvaluationProgress,
        state: Array,
    ) -> None:
        """`indices`: the episodes of the plan to play, in order; `attempts`: the number of times that an
        episode may break before it is left out; `on_start` is called with the index of an episode before each
        of its resets; `state`: the policy states of all copies, [N, S], reset where an episode starts."""
        self.playing: dict[int, _RunningEpisode] = {}
        """Copy -> its running episode. Copies without one are not stepped."""
        self.oldest = 0
        """The first vector step that a running episode still needs."""
        self.steps = 0
        """Number of env steps played, for the plan's `max_steps`."""
        self._envs, self._plan, self._attempts = envs, plan, attempts
        self._progress, self._on_start, self._state = progress, on_start, state
        self._waiting = iter([(index, plan.seeds[index]) for index in indices])

    def start_next(self, copy: int, now: int) -> None:
        """Starts the next episode of the plan in this copy, if there is one. `now`: the number of vector
        steps played."""
        self._start(copy, self._next(), self._attempts, now)

    def handle_fault(self, fault: Fault, now: int) -> None:
        """Restarts the episode that a fault broke, or starts another if it has no attempts left. `now`: the
        number of vector steps played."""
        broken = self.playing[fault.copy]
        upcoming, attempts_left = self._after_fault(
            fault, (broken.index, broken.seed), broken.attempts_left
        )
        self._start(fault.copy, upcoming, attempts_left, now)

    def record_timeouts(self, now: int) -> None:
        """Records every running episode as abandoned at the timeout. `now`: the number of vector steps
        played."""
        for copy, episode in self.playing.items():
            steps = f"{now - episode.start_step:,} steps"
            self._progress.timed_out.append(
                f"the episode of seed {episode.seed} (copy {copy}) after {steps}"
            )

    def _start(
        self, copy: int, upcoming: tuple[int, int] | None, attempts_left: int, now: int
    ) -> None:
        """Starts the episode `upcoming`, (index, seed), in a copy; None leaves the copy idle. `now`: the
        number of vector steps played. Resets can fail too: they use up attempts, and after the last one the
        next episode of the plan is tried."""
        self.playing.pop(copy, None)
        while upcoming is not None:
            index, seed = upcoming
            self._on_start(index)  # before the reset, which may kill this process
            faults = self._envs.reset([copy], [seed])
            if not faults:
                self._state[copy] = 0.0
                noise = None if self._plan.deterministic else stream(seed, "evaluation noise")
                self.playing[copy] = _RunningEpisode(index, seed, now, noise, attempts_left)
                break
            upcoming, attempts_left = self._after_fault(faults[0], upcoming, attempts_left)
        starts = (episode.start_step for episode in self.playing.values())
        self.oldest = min(starts, default=now)

    def _after_fault(
        self, fault: Fault, broken: tuple[int, int], attempts_left: int
    ) -> tuple[tuple[int, int] | None, int]:
        """Returns what a copy plays after a fault, (index, seed) or None, and the attempts left for it.
        `broken`: the episode that had the fault, which is logged; without attempts left, it is recorded as
        left out."""
        report = (self._envs.name, broken[1], fault.message, fault.traceback)
        logging.getLogger("gymnast").warning("%s, seed %d: %s\n%s", *report)
        if attempts_left > 1:
            return broken, attempts_left - 1
        self._progress.left_out.append(fault)
        self._progress.done += 1
        return self._next(), self._attempts

    def _next(self) -> tuple[int, int] | None:
        """Returns the next (index, seed) of the plan; None at its end or at one of its limits."""
        plan, progress = self._plan, self._progress
        if plan.max_steps is not None and self.steps >= plan.max_steps:
            return None
        if progress.started >= plan.min_episodes and progress.exceeds(plan.max_seconds):
            return None
        progress.started += 1
        return next(self._waiting, None)


def _trace(
    policy: Policy,
    seed: int,
    copy: int,
    columns: list[Array],
    final_obs: Array,
    ends: tuple[bool, bool],
    version: int,
) -> Trace:
    """Returns the trace of an episode. `columns`: its observations, actions as passed to the environment,
    rewards, distribution parameters and, with memory, values, [T, ...] each; `ends`: whether it was
    terminated, and whether it was truncated; a terminated one does not count as truncated."""
    (obs, action, reward, dist, *values), (terminated, truncated) = columns, ends
    return Trace(
        seed=seed,
        env=copy,
        action=action,
        reward=reward,
        value=values[0] if values else policy.value(obs),
        dist=dist,
        obs=np.concatenate([obs, final_obs[None]]),
        terminated=terminated,
        truncated=truncated and not terminated,
        raw_return=math.fsum(reward.tolist()),  # fsum: long episodes accumulate no error
        version=version,
    )
