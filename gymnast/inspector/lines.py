"""Plays lines: an episode repeated up to a step, then another action, then the policy until the end.

All lines of an episode start by replaying its seed and actions, so that they have the random numbers of the
episode (common random numbers) and no state of the environment has to be copied. Several lines are played at
once, in copies of the environment.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import gymnasium as gym
import numpy as np

from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.envs.env_types import Env, Info
from gymnast.envs.wrappers.seeded_wrapper import SeededWrapper
from gymnast.errors import EnvError, UsageError
from gymnast.inspector.episode import OpenEpisode
from gymnast.policy.policy import Policy
from gymnast.seeds import episode_seed, stream

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Branch:
    """A place where a line leaves the episode."""

    step: int
    """Number of actions of the episode that are repeated first."""
    action: Array | None
    """The action at `step`, as a row of the action space; None for the policy's own."""
    continuation: int | None = None
    """Number of the random numbers from `step` on, which differ from those of the episode; None for those of
    the episode."""
    hold: int = 1
    """Number of steps for which `action` is repeated, wherever an action mask allows it."""


@dataclass(eq=False)
class Line:
    """The steps of a line from its branch on."""

    branch: Branch
    rewards: list[float] = field(default_factory=list[float])
    terminated: bool = False
    truncated: bool = False
    """Both are False if the line was ended at the horizon."""
    obs: list[Array] = field(default_factory=list[Array])
    """Observations before each step, and the final one; empty unless the line was recorded."""
    actions: list[Array] = field(default_factory=list[Array])
    """Actions as passed to the environment; empty unless the line was recorded."""
    dists: list[Array] = field(default_factory=list[Array])
    """Parameters of the policy's distribution; empty unless the line was recorded."""
    infos: list[Info] = field(default_factory=list[Info])
    """The info of each step; empty unless the line was recorded."""
    masks: list[Array] = field(default_factory=list[Array])
    """Allowed options before each step; empty unless the line was recorded and there is an action mask."""

    @property
    def return_to_go(self) -> float:
        """Sum of the raw rewards from the branch on."""
        return math.fsum(self.rewards)


def require_policy(episode: OpenEpisode) -> Policy:
    """Returns the policy of an episode; raises UsageError if its checkpoint was removed."""
    if episode.policy is None:
        fix = "choose an episode of a checkpoint that is kept, or keep more (checkpoint.keep)"
        raise UsageError(episode.policy_note, at=episode.run.id, fix=fix)
    return episode.policy


def require_branchable(episode: OpenEpisode, step: int | None = None) -> Policy:
    """Returns the policy of an episode that can be branched at this step. Raises UsageError for a match, if
    the policy is gone, if a replay differs from the episode, or if there is no such step."""
    if episode.address.role:
        what = "a match cannot be branched: the other players would have to continue too"
        raise UsageError(what, at=episode.run.id, fix="choose an episode of a single agent")
    policy = require_policy(episode)
    if not episode.replay.is_exact:
        what = f"the episode cannot be branched: {episode.replay.note}"
        raise UsageError(what, at=episode.run.id, fix="roll out a fresh episode")
    if step is not None and not 0 <= step < len(episode.trace):
        what = f"there is no step {step} in an episode of {len(episode.trace)} steps"
        raise UsageError(what, at=episode.run.id, fix=f"use 0 to {len(episode.trace) - 1}")
    return policy


class LinePlayer:
    """Copies of the environment of an episode, in which lines are played. `close` it."""

    def __init__(self, episode: OpenEpisode, copies: int, *, sampled: bool) -> None:
        """`sampled`: continue with sampled actions instead of the mode of the policy. Raises UsageError if
        the episode cannot be branched."""
        self.policy = require_branchable(episode)
        self._states = episode.policy_states
        """The policy states of the episode; None without memory."""
        self.trace, self.sampled = episode.trace, sampled
        cfg, training = episode.config, episode.address.kind == "train"
        limit = cfg.training_limit() if training else cfg.evaluation_limit()
        env = cfg.env if training else cfg.env.for_evaluation()
        self.envs = InProcessBackend(
            lambda: make_env(env, limit=limit), copies, cfg.env.id, masked=cfg.env.action_mask
        )
        self._state = self.policy.initial_state(copies)
        """The policy states of the copies, [N, S]."""
        self.env_steps = 0
        """Number of env steps taken, those of replays included."""

    def close(self) -> None:
        self.envs.close()

    def play(
        self, branches: Iterable[Branch], *, horizon: int | None = None, record: bool = False
    ) -> Iterator[Line]:
        """Yields the line of each branch as it ends, in any order. `horizon`: maximum number of steps from
        the branch on; `record`: keep observations, actions and distributions."""
        waiting, running = iter(branches), dict[int, _Running]()
        for copy in range(self.envs.n_envs):
            self._start(copy, running, waiting)
        while running:
            actions, dist = self._actions(running)
            if record:
                self._record(running, actions, dist)
            step = self.envs.step(actions, list(running))
            raise_fault(self.envs.name, step.faults)
            self.env_steps += len(running)
            done = step.terminated | step.truncated
            for copy, now in list(running.items()):
                if now.is_replaying:
                    self._compare(now, float(step.reward[copy]), bool(done[copy]))
                    now.position += 1
                    if not now.is_replaying:
                        self._reseed(copy, now)
                    continue
                now.position += 1
                line = now.line
                line.rewards.append(float(step.reward[copy]))
                if record:
                    line.infos.append(dict(step.infos[copy]))
                if done[copy] or len(line.rewards) == horizon:
                    line.terminated = bool(step.terminated[copy])
                    line.truncated = bool(done[copy]) and not line.terminated
                    if record:
                        line.obs.append(step.obs[copy].copy())
                    yield line
                    self._start(copy, running, waiting)

    def is_random(self, repetitions: int = 2) -> bool:
        """Returns whether other random numbers after the reset change the episode although its actions are
        the same."""
        for k in range(repetitions):
            raise_fault(self.envs.name, self.envs.reset([0], [self.trace.seed]))
            reseed(self.envs.envs[0], episode_seed(self.trace.seed, "branch probe", k))
            for t in range(len(self.trace)):
                action = np.repeat(self.trace.action[t : t + 1], self.envs.n_envs, axis=0)
                step = self.envs.step(action, [0])
                raise_fault(self.envs.name, step.faults)
                self.env_steps += 1
                over = bool(step.terminated[0] or step.truncated[0])
                if step.reward[0] != self.trace.reward[t] or over != (t == len(self.trace) - 1):
                    return True
        return False

    def _start(self, copy: int, running: dict[int, _Running], waiting: Iterator[Branch]) -> None:
        """Starts the next line in a copy, if there is one."""
        running.pop(copy, None)
        branch = next(waiting, None)
        if branch is None:
            return
        raise_fault(self.envs.name, self.envs.reset([copy], [self.trace.seed]))
        running[copy] = now = _Running(Line(branch))
        if self.sampled:
            now.noise = self._noise(branch)
        if not branch.step:
            self._reseed(copy, now)

    def _noise(self, branch: Branch) -> np.random.Generator:
        """Returns the random stream of sampled actions from the branch on: that of the episode, after the
        numbers that it had used, or that of the continuation."""
        if branch.continuation is not None:
            return stream(self.trace.seed, "branch noise", branch.step, branch.continuation)
        noise = stream(self.trace.seed, "evaluation noise")
        for _ in range(branch.step):
            self.policy.head.noise(noise, ())
        return noise

    def _reseed(self, copy: int, now: _Running) -> None:
        """Replaces the random numbers of the environment at the branch, if its continuation has others."""
        branch = now.line.branch
        if branch.continuation is not None:
            seed = episode_seed(self.trace.seed, "branch", branch.step, branch.continuation)
            reseed(self.envs.envs[copy], seed)

    def _actions(self, running: dict[int, _Running]) -> tuple[Array, Array | None]:
        """Returns the next actions of all copies as rows, and the policy's distributions, [N, k], if some
        copy does not replay."""
        spec, head = self.envs.action_space.row_spec, self.policy.head
        rows = np.zeros((self.envs.n_envs, *spec.shape), spec.dtype)
        dist = None
        if any(not now.is_replaying for now in running.values()):
            dist = self._decide(running)
            chosen = head.mode(dist)
            for copy, now in running.items():
                if now.noise is not None and not now.is_replaying:
                    chosen[copy] = head.sample(dist[copy][None], head.noise(now.noise, ())[None])[0]
            rows[...] = head.for_env(chosen)
        for copy, now in running.items():
            branch = now.line.branch
            if now.is_replaying:
                rows[copy] = self.trace.action[now.position]
            elif self._holds(copy, now):
                rows[copy] = branch.action
        return rows, dist

    def _decide(self, running: dict[int, _Running]) -> Array:
        """Returns the policy's distributions for all copies, [N, k]. With memory, the states of the copies
        move on; a copy that leaves the episode here takes over the state of the episode."""
        if self._states is None:
            return self.policy.dist(self.envs.obs, self.envs.mask)
        for copy, now in running.items():
            if now.position <= now.line.branch.step:
                self._state[copy] = self._states[now.position]
        dist, _, self._state = self.policy.step(self.envs.obs, self._state, self.envs.mask)
        return dist

    def _holds(self, copy: int, now: _Running) -> bool:
        """Returns whether the action of the branch is played next in a copy, not the policy's own."""
        branch, space = now.line.branch, self.envs.action_space
        if branch.action is None or now.position >= branch.step + branch.hold:
            return False
        is_first, mask = now.position == branch.step, self.envs.mask
        return (
            is_first or mask is None or space.is_allowed(space.flatten(branch.action), mask[copy])
        )

    def _record(self, running: dict[int, _Running], actions: Array, dist: Array | None) -> None:
        for copy, now in running.items():
            if not now.is_replaying:
                assert dist is not None
                now.line.obs.append(self.envs.obs[copy].copy())
                now.line.actions.append(actions[copy].copy())
                now.line.dists.append(dist[copy].copy())
                if self.envs.mask is not None:
                    now.line.masks.append(self.envs.mask[copy].copy())

    def _compare(self, now: _Running, reward: float, over: bool) -> None:
        """Raises EnvError if a replayed step is not as stored. One replay was exact, so the environment
        depends on something else than its seed and actions."""
        if over or reward != self.trace.reward[now.position]:
            what = f"a copy of the environment differs from the episode at step {now.position}"
            raise EnvError(f"{self.envs.name}: {what}", fix="make step depend on the seed only")


@dataclass(eq=False)
class _Running:
    """A line that is being played in a copy."""

    line: Line
    position: int = 0
    """Number of steps since the reset."""
    noise: np.random.Generator | None = None
    """Random stream for sampling actions; None if the policy plays its mode."""

    @property
    def is_replaying(self) -> bool:
        return self.position < self.line.branch.step


def reseed(env: Env, seed: int) -> None:
    """Replaces the random generators of an environment and of its wrappers in the middle of an episode."""
    layer = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, SeededWrapper):
            layer.rng = layer.make_rng(seed)
        layer = layer.env
    env.unwrapped.np_random = np.random.default_rng(seed)
