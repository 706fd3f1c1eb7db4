"""Every shipped preset begins close to uniform, measured on what its environment really shows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gymnast.config import presets
from gymnast.config.resolve import resolve
from gymnast.envs.inprocess import InProcess
from gymnast.envs.make import make_env
from gymnast.policy.actions import Gaussian
from gymnast.policy.policy import Policy
from gymnast.policy.spaces import with_declared_ranges
from gymnast.training.network_report import start

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
    dist = policy.dist(np.stack(shown))
    head = policy.head
    if isinstance(head, Gaussian):
        mean = head.for_env(head.mode(dist)).reshape(100, -1)
        low, high = np.array(head.space.low), np.array(head.space.high)
        assert np.isfinite(low).all()
        assert (np.abs(mean - (low + high) / 2) <= 0.05 * (high - low)).all()
    else:
        assert head.entropy(dist).min() >= 0.99 * math.log(head.n_outputs)


def test_every_shipped_preset_is_measured():
    assert {"CartPole-v1:ppo", "Pendulum-v1:ppo", "LunarLander-v3:continuous"} <= set(SHIPPED)
