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
    """Yields (place in the plan, trace) of every episode as it ends. `places` are the ones to play;
    `started` is called with each when it starts. An episode that a fault of the environment broke is
    retried with the same seed and left out after `attempts` faults. `numbers`: metric -> key of the last
    info."""
    past = _Past()
    lineup = _Lineup(envs, plan, indices, attempts, on_start, progress)
    head, playing, copies = policy.head, lineup.playing, range(envs.n_envs)
    for copy in copies:
        lineup.begin(copy, past.steps)
    while playing:
        progress.on_step(progress.done, progress.total)
        if progress.exceeds(plan.timeout):
            lineup.give_up(past.steps)
            return
        obs = envs.obs.copy()
        # Always for all copies: matrix products may round differently for another batch size, and a
        # result must not depend on how many copies still play.
        dist = policy.dist(obs, envs.mask)
        action = head.mode(dist)
        if not plan.deterministic:
            for copy, turn in playing.items():
                action[copy] = head.sample(dist[copy], turn.draw(policy))
        env_action = head.for_env(action)
        step = envs.step(env_action, None if len(playing) == len(copies) else list(playing))
        past.add((obs, env_action, step.reward, dist), lineup.oldest)
        lineup.steps += len(playing)
        if step.faults:
            for fault in {fault.copy: fault for fault in step.faults}.values():
                lineup.broke(fault, past.steps)
        done = step.terminated | step.truncated
        if np.count_nonzero(done):
            for copy in [c for c in playing if done[c] and playing[c].began < past.steps]:
                turn, ended = playing[copy], bool(step.terminated[copy])
                columns, final = past.of(copy, turn.began), step.obs[copy].copy()
                trace = _trace(policy, turn.seed, copy, columns, final, ended, version)
                metrics = info_metrics(step.infos[copy], metric_keys, envs.name)
                progress.done += 1
                yield turn.place, replace(trace, numbers=metrics)
                lineup.begin(copy, past.steps)


@dataclass(frozen=True)
class _Turn:
    """One running episode in one copy."""

    place: int
    seed: int
    began: int
    """Number of vector steps played before it."""
    noise: np.random.Generator | None
    """Stream for sampling actions; None if the policy plays deterministically."""
    attempts: int
    """Number of attempts left before it is left out."""

    def draw(self, policy: Policy) -> Array:
        assert self.noise is not None
        return policy.head.noise(self.noise, ())


class _Lineup:
    """Assigns the episodes of the plan to copies."""

    def __init__(
        self,
        envs: Backend,
        plan: EpisodePlan,
        places: Sequence[int],
        attempts: int,
        started: Callable[[int], None],
        watch: EvaluationProgress,
    ) -> None:
        self.playing: dict[int, _Turn] = {}
        self.oldest = 0
        """The first vector step that a running episode still needs."""
        self.steps = 0
        self._envs, self._plan, self._attempts, self._watch = envs, plan, attempts, watch
        self._waiting = iter([(place, plan.seeds[place]) for place in places])
        self._started = started

    def begin(self, copy: int, now: int) -> None:
        """Starts the next episode of the plan in this copy, if there is one."""
        self._begin(copy, self._next(), self._attempts, now)

    def broke(self, fault: Fault, now: int) -> None:
        """Restarts the episode that a fault broke, or starts another if it has no attempts left."""
        turn = self.playing[fault.copy]
        self._begin(fault.copy, *self._after(fault, (turn.place, turn.seed), turn.attempts), now)

    def give_up(self, now: int) -> None:
        """Records every running episode as late."""
        for copy, turn in self.playing.items():
            steps = f"{now - turn.began:,} steps"
            self._watch.timed_out.append(
                f"the episode of seed {turn.seed} (copy {copy}) after {steps}"
            )

    def _begin(self, copy: int, upcoming: tuple[int, int] | None, left: int, now: int) -> None:
        self.playing.pop(copy, None)
        while upcoming is not None:
            place, seed = upcoming
            self._started(place)
            faults = self._envs.reset([copy], [seed])
            if not faults:
                noise = None if self._plan.deterministic else stream(seed, "evaluation noise")
                self.playing[copy] = _Turn(place, seed, now, noise, left)
                break
            upcoming, left = self._after(faults[0], upcoming, left)
        self.oldest = min((turn.began for turn in self.playing.values()), default=now)

    def _after(
        self, fault: Fault, which: tuple[int, int], left: int
    ) -> tuple[tuple[int, int] | None, int]:
        """Returns what a copy plays after a fault, (place, seed) or None, and the attempts left."""
        report = (self._envs.name, which[1], fault.message, fault.traceback)
        logging.getLogger("gymnast").warning("%s, seed %d: %s\n%s", *report)
        if left > 1:
            return which, left - 1
        self._watch.left_out.append(fault)
        self._watch.done += 1
        return self._next(), self._attempts

    def _next(self) -> tuple[int, int] | None:
        plan, watch = self._plan, self._watch
        if plan.max_steps is not None and self.steps >= plan.max_steps:
            return None
        if watch.started >= plan.min_episodes and watch.exceeds(plan.max_seconds):
            return None
        watch.started += 1
        return next(self._waiting, None)


class _Past:
    """The steps of all copies as arrays [T, N, ...], no further back than running episodes need."""

    def __init__(self) -> None:
        self.steps = 0
        """Number of vector steps played."""
        self._forgotten = 0
        self._columns: list[Array] = []

    def add(self, row: tuple[Array, ...], needed: int) -> None:
        """Appends one vector step; steps before `needed` may be dropped."""
        at = self.steps - self._forgotten
        if not self._columns or at == len(self._columns[0]):
            self._make_room(row, needed)
            at = self.steps - self._forgotten
        for column, values in zip(self._columns, row, strict=True):
            column[at] = values
        self.steps += 1

    def of(self, copy: int, since: int) -> list[Array]:
        """Returns the columns of one copy from vector step `since` on."""
        rows = slice(since - self._forgotten, self.steps - self._forgotten)
        return [column[rows, copy].copy() for column in self._columns]

    def _make_room(self, row: tuple[Array, ...], needed: int) -> None:
        kept = [column[needed - self._forgotten :] for column in self._columns]
        room = max(_ROOM, 2 * len(kept[0])) if kept else _ROOM
        self._columns = [np.empty((room, *values.shape), values.dtype) for values in row]
        for column, values in zip(self._columns, kept, strict=False):
            column[: len(values)] = values
        self._forgotten = needed if kept else 0


_ROOM = 64
"""Initial capacity in vector steps."""


def _trace(
    policy: Policy,
    seed: int,
    copy: int,
    columns: list[Array],
    final_obs: Array,
    terminated: bool,
    version: int,
) -> Trace:
    obs, action, reward, dist = columns
    return Trace(
        seed=seed,
        env=copy,
        action=action,
        reward=reward,
        value=policy.value(obs),
        dist=dist,
        obs=np.concatenate([obs, final_obs[None]]),
        terminated=terminated,
        truncated=not terminated,
        raw_return=math.fsum(reward.tolist()),
        version=version,
    )
