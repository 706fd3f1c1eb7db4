"""Episodes made of given numbers, opened as if they were stored, without an environment that steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.resolve import resolve
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.learner_state import LearnerState
from gymnast.inspector.replay import Replay
from gymnast.policy.normalize import RewardScale
from gymnast.policy.policy import Policy
from gymnast.rl.running import Moments
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from gymnast.shaping.steps import Steps
from gymnast.spaces import spaces
from gymnast.training.learner import build_policy
from tests.identity import Identity

Array = np.ndarray
SCALE = 2.5
"""Standard deviation of discounted returns, for `normalize.reward: running`."""
_CLOCK = Clock(env_steps=7)
VALUE_MEAN, VALUE_STD = 3.0, 4.0
"""Statistics of PopArt."""


def age_bonus(steps: Steps) -> Array:
    """A shaping term: a number that grows within an episode, and a bonus for terminating."""
    return 0.25 * steps.age + 2.0 * steps.terminated


def height(steps: Steps) -> Array:
    """A potential-based shaping term: the first number of the observation."""
    return steps.potential(lambda obs: obs.rows.reshape(*obs.rows.shape[:2], -1)[..., 0])


SHAPING = (
    ("shaping.bonus.term", "py:tests.inspector.made_episodes:age_bonus"),
    ("shaping.bonus.weight", 0.5),
    ("shaping.height.term", "py:tests.inspector.made_episodes:height"),
    ("shaping.height.weight", -2.0),
    ("shaping.fuel.term", "info"),
    ("shaping.fuel.weight", 3.0),
    ("shaping.fuel.kwargs.key", "fuel"),
)
"""Settings of three shaping terms: one by age, a potential, one that reads the info."""


@dataclass(frozen=True)
class Setting:
    """A config, and a policy with random weights for it."""

    config: Config
    policy: Policy
    env: Identity

    @property
    def state(self) -> LearnerState:
        """The learner with the known statistics."""
        cfg = self.config
        scale = RewardScale(cfg.normalize.reward, 1)
        scale.moments = Moments(100.0, np.zeros(1), np.array([SCALE**2]))
        weights = {name: term.weight.lowest for name, term in cfg.shaping.items()}
        memory = {"shaping.fuel.steps_without": np.array([-1])}
        return LearnerState(cfg, cfg.algo.values_at(_CLOCK), weights, scale, memory)


@cache
def make_setting(algo: str, settings: tuple[tuple[str, Any], ...]) -> Setting:
    """Returns a setting of the identity environment. `settings`: overrides of the config, as pairs."""
    given = {"stop.env_steps": 1000, **dict(settings)}
    cfg = resolve("py:tests.identity:Identity", given, algo=algo).config
    env = Identity(**cfg.env.kwargs)  # pyright: ignore[reportArgumentType]
    obs = spaces.convert_obs_space(env.observation_space)
    policy = build_policy(obs, spaces.convert_action_space(env.action_space), cfg)
    policy.initialize(1, "agent")
    if policy.normalizer is not None and policy.normalizer.mode == "running":
        n = len(policy.normalizer.moments.mean)
        policy.normalizer.load(Moments(10.0, np.full(n, 0.5), np.full(n, 4.0)))
    policy.value_scale.moments = Moments(10.0, np.array([VALUE_MEAN]), np.array([VALUE_STD**2]))
    return Setting(cfg, policy, env)


class MadeEpisode(OpenEpisode):
    """An episode whose trace and replay are given."""

    def __init__(
        self, setting: Setting, trace: Trace, replay: Replay, policy: Policy | None, kind: Any
    ) -> None:
        self.config, self.trace = setting.config, trace
        self.address, self.run = EpisodeAddress("nowhere", kind, 7, 0), Run(Path("nowhere"))
        self._env = self._renderer = None
        self._space = setting.policy.action_space
        self.__dict__ |= {"policy": policy, "replay": replay, "env_note": "", "checkpoint": None}

    @property
    def action_space(self) -> Any:
        return self._space

    @property
    def policy_note(self) -> str:
        return "" if self.policy else "the checkpoint was removed"


def make_episode(
    setting: Setting,
    rng: np.random.Generator,
    reward: Array,
    value: Array,
    end: str,
    *,
    kind: str = "eval",
    with_policy: bool = True,
) -> MadeEpisode:
    """Returns an episode with these rewards and values, and with random observations, actions, masks and
    infos. `end`: terminated, truncated or stopped."""
    policy, steps = setting.policy, len(reward)
    head, env = policy.head, setting.env
    env.observation_space.seed(int(rng.integers(2**31)))
    sampled = [env.observation_space.sample() for _ in range(steps + 1)]
    obs = spaces.as_rows(policy.obs_space, sampled)
    masks = rng.random((steps + 1, head.space.mask_width)) < 0.7 if env.masked else None
    output = rng.standard_normal((steps, head.n_outputs)).astype(np.float32)
    dist = policy.dist_from_output(output, None)
    action = head.for_env(head.sample(dist, head.noise(rng, (steps,))))
    trace = Trace(
        seed=3,
        action=action,
        reward=reward,
        value=value.astype(np.float32),
        dist=dist,
        obs=None,
        terminated=end == "terminated",
        truncated=end == "truncated",
        raw_return=float(reward.sum()),
        env=0,
        version=7,
    )
    infos = [{"fuel": float(rng.integers(5)), "name": "x"} for _ in range(steps + 1)]
    replay = Replay(obs, list(infos), masks, None)
    return MadeEpisode(setting, trace, replay, policy if with_policy else None, kind)
