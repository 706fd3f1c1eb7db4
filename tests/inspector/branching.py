"""Environments whose best actions are known, and episodes that a random policy played in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Discrete

from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.evaluation.episodes import EpisodePlan, EvaluationProgress, play_episodes
from gymnast.evaluation.evaluate import Evaluator
from gymnast.film.renderer import EnvRenderer
from gymnast.inspector.episode import OpenEpisode
from gymnast.policy.policy import Policy
from gymnast.runs.trace import Trace
from gymnast.spaces import spaces
from gymnast.training.learner import build_policy
from tests.inspector.stored_runs import store_episodes

SETTINGS = {"policy.hidden": [8], "eval.n_envs": 1}


def reward_of(t: int, action: int) -> float:
    """Returns the reward of an action at a step: a multiple of 1/8, so that sums are exact."""
    return ((7 * t + 5 * action) % 11) / 8


class Rewarding(gym.Env[np.ndarray, int]):
    """An action changes its own reward only, so that the loss of each is known. `luck`: random rewards are
    added, with the seed of the episode; they do not depend on the action."""

    def __init__(self, length: int = 12, luck: bool = False, n_actions: int = 3) -> None:
        self.length, self.luck = length, luck
        self.observation_space = Box(-1, 1, (2,), np.float32)
        self.action_space = Discrete(n_actions)  # pyright: ignore[reportAttributeAccessIssue]

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.t = 0
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        reward = reward_of(self.t, int(action))
        if self.luck:
            reward += float(self.np_random.integers(-2, 3)) / 8
        self.t += 1
        return self._seen(), reward, self.t == self.length, False, {"t": self.t}

    def _seen(self) -> np.ndarray:
        return np.array([np.sin(self.t), self.t / self.length], np.float32)


class Lottery(Rewarding):
    """Its rewards are random, and no action changes them."""

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        obs, _, terminated, truncated, info = super().step(action)
        return obs, float(self.np_random.normal()), terminated, truncated, info


REWARDING, LOTTERY = (f"py:tests.inspector.branching:{e.__name__}" for e in (Rewarding, Lottery))


def make_policy(config: Config, seed: int = 0) -> Policy:
    """Returns a policy for an environment, with random weights."""
    with closing(EnvRenderer(config, render=False)) as opened:
        obs = spaces.convert_obs_space(opened.env.observation_space)
        policy = build_policy(obs, opened.action_space, config)
    policy.initialize(seed, "agent")
    policy.use_engine("native")
    return policy


@contextmanager
def played(
    folder: Path,
    target: str,
    *,
    seed: int = 7,
    forced: Mapping[int, Any] | None = None,
    sampled: bool = False,
    **kwargs: object,
) -> Iterator[OpenEpisode]:
    """Yields a stored episode that a random policy has played. `forced`: step -> action instead of the
    policy's most likely one; `sampled`: played as an evaluation that samples actions."""
    config = resolve(target, SETTINGS | ({"env.kwargs": kwargs} if kwargs else {})).config
    policy = make_policy(config)
    trace = (
        _evaluated(config, policy, seed) if sampled else play(config, policy, seed, forced or {})
    )
    address = store_episodes(folder, target, [trace], **kwargs)
    with closing(OpenEpisode(address)) as episode:
        episode.__dict__["policy"] = policy  # there is no checkpoint
        yield episode


def play(config: Config, policy: Policy, seed: int, forced: Mapping[int, Any]) -> Trace:
    """Returns the trace of an episode, played in one environment, step by step."""
    head, space = policy.head, policy.action_space
    with closing(EnvRenderer(config, render=False)) as opened:
        obs, done = opened.reset(seed), False
        columns: dict[str, list[Any]] = {"obs": [], "action": [], "reward": [], "dist": []}
        terminated = truncated = False
        while not done:
            row = spaces.as_rows(opened.obs_space, [obs])
            mask = opened.action_mask
            masks = None if mask is None else spaces.as_masks(space, [mask])
            dist = policy.dist(row, masks)
            action = head.for_env(head.mode(dist))[0]
            t = len(columns["reward"])
            if forced and t in forced:
                action = np.asarray(forced[t])
            columns["obs"].append(row[0])
            columns["action"].append(action)
            columns["dist"].append(dist[0])
            obs, reward, terminated, truncated = opened.step(opened.to_env_action(action))
            columns["reward"].append(reward)
            done = terminated or truncated
    seen = np.stack(columns["obs"])
    return Trace(
        seed=seed,
        action=np.stack(columns["action"]),
        reward=np.array(columns["reward"]),
        value=policy.value(seen),
        dist=np.stack(columns["dist"]),
        obs=None,
        terminated=terminated,
        truncated=truncated,
        raw_return=float(np.sum(columns["reward"])),
        env=0,
        version=0,
    )


def _evaluated(config: Config, policy: Policy, seed: int) -> Trace:
    """Returns the trace of an evaluation episode with sampled actions."""
    plan = EpisodePlan(seeds=(seed,), deterministic=False)
    evaluator = Evaluator(config)
    progress = EvaluationProgress()
    with closing(evaluator.envs) as envs:
        ((_, trace),) = play_episodes(policy, envs, plan, 0, progress=progress, indices=[0])
    return trace
