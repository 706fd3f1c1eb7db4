"""Updates on another device give the same numbers as in shared memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gymnast.engine.threads import require_device
from gymnast.engine.torch.network import TorchNetwork
from gymnast.errors import ConfigError
from tests.algos.harness import IDENTITY, LearnerHarness
from tests.small_runs import train_small

SETTINGS = {
    "engine": "torch",
    "env.n_envs": 4,
    "algo.n_steps": 16,
    "algo.batch_size": "50%",
    "policy.hidden": [8],
}


def test_a_network_on_a_device_gives_the_same_outputs_and_gradients():
    practice = LearnerHarness.make(IDENTITY, SETTINGS | {"env.kwargs": {"action": "amounts"}})
    policy = practice.learner.policy
    shared = TorchNetwork(policy.network, policy.parameters)
    policy.parameters.device = "cpu:0"  # any name except "cpu" uses the code for other devices
    copied = TorchNetwork(policy.network, policy.parameters)
    features = torch.from_numpy(policy.features(practice.collect().obs.reshape(-1, 2, 2)))
    answers = [network(features) for network in (shared, copied)]
    for output, value in answers:
        (output.square().sum() + value.sum()).backward()
    assert all(torch.equal(a, b) for a, b in zip(*answers, strict=True))
    assert shared.gradient.any()
    assert np.array_equal(shared.gradient, copied.gradient)


@pytest.mark.parametrize("action", ["choice", "amounts"])
def test_training_on_a_device_learns_the_same_weights(action: str):
    learned = []
    for device in ("cpu", "cpu:0"):
        practice = LearnerHarness.make(IDENTITY, SETTINGS | {"env.kwargs": {"action": action}})
        practice.learner.algorithm.gradient_step.engine.network.device = device
        practice.repeat(3)
        learned.append(practice.learner.policy.parameters.flat)
    assert np.array_equal(*learned)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_missing_device_is_rejected_before_a_run_is_created(runs_dir):
    with pytest.raises(ConfigError, match="device: cuda is not available here"):
        train_small("Script", SETTINGS | {"device": "cuda", "stop.env_steps": 64})
    assert not runs_dir.exists() or not any(runs_dir.iterdir())
    require_device("cpu")
