"""A torch module of the user as the network: shared memory, resumable runs, clear errors."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gymnast
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.engine.torch.network import TorchNetwork
from gymnast.errors import ConfigError
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.spaces import BoxAction, BoxObs, DiscreteAction
from tests.algos.harness import IDENTITY, LearnerHarness
from tests.engine.own_nets import Right
from tests.identity import OBSERVATIONS, Identity
from tests.small_runs import (
    checkpoint_arrays,
    copy_killed_at,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    traces,
    train_small,
)

VECTOR = BoxObs((3,), (-1.0,) * 3, (1.0,) * 3)
ROOT = Path(__file__).parents[2]


def policy_of(name: str, obs: Any = VECTOR, action: Any = None, **settings: Any) -> Policy:
    normalize = NormalizeConfig(**settings.pop("normalize", {}))
    cfg = PolicyConfig(module=f"tests.engine.own_nets:{name}", **settings)
    policy = Policy(obs, action or DiscreteAction(4, 0), cfg, normalize)
    policy.initialize(3, "agent")
    return policy


def test_outputs_and_gradients_equal_those_of_the_module_itself():
    """The module is called directly, with its own parameters set to ours."""
    policy = policy_of("Right", action=BoxAction((2,), (-1.0,) * 2, (1.0,) * 2))
    seen = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    policy.parameters.flat += np.random.default_rng(1).normal(size=policy.parameters.flat.size) / 9
    module = Right(VECTOR, 2).eval()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(policy.parameters.views[f"module.{name}"]))
    output, value = module(torch.from_numpy(seen))
    assert np.allclose(policy.dist(seen)[:, :2], output.detach(), atol=1e-6)
    assert np.allclose(policy.value(seen), value.detach(), atol=1e-6)

    (output.square().sum() + value.sum()).backward()
    network = TorchNetwork(policy.network, policy.parameters)
    ours, our_value = network(torch.from_numpy(seen))
    (ours.square().sum() + our_value.sum()).backward()
    slots = policy.parameters.views_of(network.gradient)
    for name, parameter in module.named_parameters():
        assert np.allclose(slots[f"module.{name}"], parameter.grad, atol=1e-5)


def test_initial_weights_are_the_modules_own_and_a_function_of_seed_and_role():
    def weights(seed: int, role: str) -> np.ndarray:
        policy = policy_of("Right")
        policy.initialize(seed, role)
        return policy.parameters.flat.copy()

    before = torch.random.get_rng_state()
    assert np.array_equal(weights(1, "agent"), weights(1, "agent"))
    assert not np.array_equal(weights(1, "agent"), weights(2, "agent"))
    assert not np.array_equal(weights(1, "agent"), weights(1, "seeker"))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not policy_of("Right").parameters.views["module.outputs.weight"].any()


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_a_module_reads_every_kind_of_observation(name: str):
    obs = spaces.convert_obs_space(OBSERVATIONS[name]())
    policy = policy_of("Right", obs, normalize={"obs": "running"})
    rows_ = spaces.blank_obs(obs, 2)
    for i in range(2):
        obs.put(rows_, i, Identity(obs=name).reset(seed=i)[0])
    again = Policy.from_spec(policy.spec())
    again.load(policy.arrays())
    assert np.isfinite(again.value(rows_)).all()
    assert np.array_equal(again.dist(rows_), policy.dist(rows_))


REFUSED = {
    "Normed": "has a buffer .norm.running_mean., which would not be saved",
    "Wide": r"forward returned \[\(3, 4\), \(3, 1\)\]",
    "Lonely": "forward returned Tensor",
    "Raising": "forward raised RuntimeError: the shapes do not fit",
    "Double": "has a parameter of torch.float64",
    "Empty": "has no parameters",
    "Plain": "returns a Plain, not a torch.nn.Module",
    "Missing": "cannot be imported: .*Missing",
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_unusable_module_is_rejected_with_the_setting_named(name: str):
    with pytest.raises(ConfigError, match=f"policy.module: .*{name}.*{REFUSED[name]}"):
        policy_of(name)


def test_a_file_that_raises_is_rejected_with_the_setting_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "broken_net.py").write_text("def (:")
    monkeypatch.chdir(tmp_path)
    cfg = PolicyConfig(module="broken_net:Net")
    with pytest.raises(ConfigError, match=r"policy.module: .* cannot be imported: SyntaxError"):
        Policy(VECTOR, DiscreteAction(2, 0), cfg, NormalizeConfig())


def test_wrong_paths_wrong_arguments_and_popart_are_rejected():
    for path in ("nowhere_at_all:Net", "tests.engine.own_nets"):
        with pytest.raises(ConfigError, match=f"policy.module: {path} cannot be imported"):
            Policy(VECTOR, DiscreteAction(2, 0), PolicyConfig(module=path), NormalizeConfig())
    with pytest.raises(ConfigError, match=r"cannot be constructed: TypeError.*depth"):
        policy_of("Right", module_kwargs={"depth": 3})
    with pytest.raises(ConfigError, match="popart"):
        policy_of("Right", normalize={"value": "popart"})


def test_a_module_learns():
    settings = {"env.n_envs": 8, "algo.n_steps": 16, "algo.epochs": 6, "algo.batch_size": 32}
    settings |= {"algo.lr": 1e-2, "algo.gamma": 0.0, "normalize.obs": "off"}
    module = {"policy.module": "tests.engine.own_nets:Right", "policy.module_kwargs": {"width": 16}}
    practice = LearnerHarness.make(IDENTITY, settings | module)
    practice.repeat(25)
    assert practice.greedy_reward() > 0.999


@pytest.mark.slow
def test_a_run_with_a_module_is_evaluated_saved_and_resumed_bit_for_bit():
    settings = {
        "policy.module": "tests.engine.own_nets:Right",
        "algo.n_steps": 16,
        "env.n_envs": 4,
        "stop.rollouts": 6,
        "checkpoint.every": "2 rollouts",
        "checkpoint.keep": 9,
        "eval.every": "3 rollouts",
        "eval.mode": "process",
    }
    run = train_small("CartPole-v1", settings)
    middle = 2 * 64
    again = resume_run(copy_killed_at(run, middle))
    assert same_arrays(checkpoint_arrays(again), checkpoint_arrays(run))
    assert same_arrays(checkpoint_arrays(again, "learner"), checkpoint_arrays(run, "learner"))
    assert [exact_metrics(row) for row in rows(again)] == [exact_metrics(row) for row in rows(run)]
    player = gymnast.load(run)
    assert player.policy.network.module is not None
    assert gymnast.evaluate(run).mean == run.info["score"]["mean"]
    assert traces(run, "eval")


@pytest.mark.slow
def test_the_documented_example_runs_as_written(tmp_path: Path):
    page = (ROOT / "docs" / "spaces.md").read_text()
    (code,) = re.findall(r"```python\n# my_net.py\n(.*?)```", page, re.S)
    (command,) = re.findall(r"^(gymnast train .*policy.module=my_net.*)", page, re.M)
    (tmp_path / "my_net.py").write_text(code)
    small = "--quiet --env-steps 512 --set eval.episodes=2 --set eval.confirm_episodes=2"
    environment = {**os.environ, "GYMNAST_RUNS": str(tmp_path / "runs")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        f"{command} {small} --set algo.n_steps=32 --set algo.batch_size=64",
        shell=True,
        executable="/bin/bash",
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
