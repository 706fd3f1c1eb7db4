"""Every shipped preset begins close to uniform, measured on what its environment really shows."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.config import presets
from gymnast.config.resolve import resolve
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.envs.inprocess import InProcess
from gymnast.envs.make import make_env
from gymnast.policy import spaces
from gymnast.policy.action_spaces import highest_entropy
from gymnast.policy.policy import Policy
from gymnast.policy.spaces import Amounts, Choice, Image, with_declared_ranges
from gymnast.training.network_report import start
from tests.identity import ACTIONS, OBSERVATIONS, Identity

SHIPPED = [
    f"{name}:{variant}"
    for name, preset in presets.all_presets().items()
    if preset.shipped
    for variant in preset.variants
]


@pytest.mark.parametrize("target", SHIPPED)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_initial_policy_is_close_to_uniform(target: str, seed: int):
    cfg = resolve(target).config
    envs = InProcess(lambda: make_env(cfg.env), 1, cfg.env.id)
    shown = []
    for episode in range(100):
        envs.reset([0], [episode])
        shown.append(envs.obs[0].copy())
    envs.close()
    obs = with_declared_ranges(envs.obs_space, cfg.facts.observations)
    policy = Policy(obs, envs.action_space, cfg.policy, cfg.normalize)
    policy.initialize(seed, "agent")

    assert start(policy, np.stack(shown))["uniform"]  # as `gymnast net` says it
    is_close_to_uniform(policy, np.stack(shown))


@pytest.mark.parametrize("squash", ["off", "on"])
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("obs", OBSERVATIONS)
def test_every_head_on_every_encoder_begins_close_to_uniform(obs: str, action: str, squash: str):
    space = spaces.observation(OBSERVATIONS[obs]())
    taken = spaces.action(ACTIONS[action]())
    cfg = PolicyConfig(squash=squash, hidden=() if "image" in obs else (64,))
    policy = Policy(space, taken, cfg, NormalizeConfig(obs="running"))
    policy.initialize(1, "agent")
    rows = spaces.blank(space, 100)
    for i in range(100):
        assert space.put(rows, i, Identity(obs=obs).reset(seed=i)[0]) is None
    if policy.normalizer is not None:
        policy.normalizer.learn(policy.features.vectors(rows))
    is_close_to_uniform(policy, rows)


@pytest.mark.parametrize("kind", ["nature", "impala"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_cnn_begins_close_to_uniform_on_pictures_of_any_brightness(kind: str, seed: int):
    space = Image((48, 48, 3), 255, "last")
    policy = Policy(space, Choice(6, 0), PolicyConfig(cnn=kind, hidden=()), NormalizeConfig())
    policy.initialize(seed, "agent")
    rng = np.random.default_rng(seed)
    rows = rng.integers(256, size=(24, 48, 48, 3)).astype(np.uint8)
    rows[:8], rows[8:16] = 255, rows[8:16] // 32
    is_close_to_uniform(policy, rows)


def is_close_to_uniform(policy: Policy, rows: np.ndarray) -> None:
    dist, head = policy.dist(rows), policy.head
    if isinstance(head.space, Amounts):
        mean = head.for_env(head.mode(dist)).reshape(len(rows), -1)
        low, high = np.array(head.space.low), np.array(head.space.high)
        assert np.isfinite(low).all()
        assert (np.abs(mean - (low + high) / 2) <= 0.05 * (high - low)).all()
    else:
        assert head.entropy(dist).min() >= 0.99 * highest_entropy(head.space)


def test_every_shipped_preset_is_measured():
    assert {"CartPole-v1:ppo", "Pendulum-v1:ppo", "LunarLander-v3:continuous"} <= set(SHIPPED)
