"""Network health finds planted faults, and the compiled kernels agree with NumPy."""

from __future__ import annotations

import itertools
import math
from typing import Any, get_args

import numpy as np
import pytest
import torch

from gymnast.config.sections.policy import ActivationName
from gymnast.measure.network import network_row
from gymnast.policy.health import DEAD_RANGES, Health, network_health
from gymnast.policy.layers import Activation
from tests.algos.harness import BOTH_ENGINES, LearnerHarness
from tests.engine.native.problems import ACTIONS, IMAGES, OBSERVATIONS, Problem

ACTIVATIONS = get_args(ActivationName)
SETTINGS: dict[str, Any] = {"env.n_envs": 4, "algo.n_steps": 40, "policy.hidden": [6, 5]}


def played(engine: str, **more: Any) -> tuple[LearnerHarness, Any]:
    practice = LearnerHarness.make("Script", SETTINGS | {"engine": engine} | more)
    return practice, practice.collect()


def both_ways(problem: Problem) -> tuple[Health, Health]:
    """Returns the health computed by the kernels and by NumPy."""
    policy, batch = problem.policy, problem.batch
    policy.use_engine("native")
    activations, output = policy.inference.activations(batch.features)
    by_numpy = network_health(
        activations, output, policy.head, policy.dist_from_output(output, batch.mask)
    )
    assert policy.inference.health is not None
    return policy.inference.health(batch.features, batch.mask, None), by_numpy


def same(one: Health, other: Health) -> None:
    for part in ("shared", "actor", "critic"):
        assert getattr(one, part) == pytest.approx(getattr(other, part), rel=1e-4, abs=1e-3), part
    assert one[3:] == pytest.approx(other[3:], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize(
    ("action", "masked"),
    [(a, m) for a in ACTIONS for m in (False, True) if not (m and "amounts" in a)],
)
def test_kernels_and_numpy_agree_for_every_head(action: str, masked: bool):
    one, other = both_ways(Problem.make(action=action, masked=masked, activation="relu"))
    same(one, other)
    assert one.actor.rectifiers == one.critic.rectifiers == 24 + 12
    assert (one.prob_max > 0) == ("amounts" not in action)


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 150])
@pytest.mark.parametrize("network", [{}, {"shared": True}, {"layer_norm": True}, {"hidden": ()}])
def test_kernels_and_numpy_agree_for_every_network(network: dict[str, Any], rows: int):
    for obs, kind in zip(OBSERVATIONS, itertools.cycle(ACTIVATIONS), strict=False):
        same(*both_ways(Problem.make(obs, rows=rows, activation=kind, **network)))


@pytest.mark.parametrize("kind", ACTIVATIONS)
@pytest.mark.parametrize("obs", IMAGES)
def test_kernels_and_numpy_agree_for_images(obs: str, kind: str):
    problem = Problem.make(obs, rows=11, activation=kind, hidden=(8,), weight_noise=0.02)
    bias = problem.policy.parameters.views["shared.1.bias"]
    bias[:5] = -100.0  # five dead channels
    one, other = both_ways(problem)
    same(one, other)
    assert one.shared.rectifiers == 32 + 64 + 64 + 512
    assert one.shared.dead >= 5


@BOTH_ENGINES
def test_units_that_can_never_fire_count_as_dead(engine: str):
    practice, rollout = played(engine, **{"policy.activation": "relu"})
    views = practice.learner.policy.parameters.views
    for part, dead in (("actor", 2), ("critic", 4)):
        for layer, n in ((0, dead), (2, 1)):
            views[f"{part}.{layer}.weight"][:] = 0.0
            views[f"{part}.{layer}.bias"][:] = 1.0
            views[f"{part}.{layer}.bias"][:n] = -100.0
    row = network_row(practice.learner.policy, rollout)
    assert row["network/dead_units_actor"] == 3 / 11
    assert row["network/dead_units_critic"] == 5 / 11
    assert row["network/dead_units"] == 8 / 22
    assert row["network/activation_mean"] == pytest.approx(14 / 22)
    assert row["network/activation_std"] == pytest.approx(math.sqrt(14 / 22 * 8 / 22))
    assert "network/saturated_units" not in row


@BOTH_ENGINES
@pytest.mark.parametrize(("kind", "asleep"), [("silu", -8.0), ("gelu", -3.5), ("elu", -6.0)])
def test_units_far_on_the_flat_side_of_a_smooth_rectifier_count_as_dead(
    engine: str, kind: str, asleep: float
):
    practice, rollout = played(engine, **{"policy.activation": kind, "policy.hidden": [4]})
    views = practice.learner.policy.parameters.views
    for part in ("actor", "critic"):
        views[f"{part}.0.weight"][:] = 0.0
        views[f"{part}.0.bias"][:] = [asleep, -1.0, 1.0, -0.5]
    row = network_row(practice.learner.policy, rollout)
    assert row["network/dead_units"] == row["network/dead_units_actor"] == 1 / 4
    assert "network/saturated_units" not in row


@pytest.mark.parametrize("kind", DEAD_RANGES)
def test_dead_units_pass_less_than_3_percent_of_the_gradient(kind: str):
    x = torch.linspace(-30, 30, 60_001, dtype=torch.float64, requires_grad=True)
    y = getattr(torch.nn.functional, kind)(x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    low, high = DEAD_RANGES[kind]
    flat = (y >= low) & (y <= high) & (x < -0.1)  # outputs close to 0 are ambiguous
    assert flat.sum() > 20_000
    assert slope[flat].abs().max() < 0.03


@BOTH_ENGINES
def test_a_unit_that_fires_for_one_step_of_the_sample_is_not_dead(engine: str):
    practice, rollout = played(engine, **{"policy.activation": "relu", "policy.hidden": [3]})
    views = practice.learner.policy.parameters.views
    first = rollout.obs.reshape(-1, 3)[:, 0]  # the step of the episode, in eighths
    for part in ("actor", "critic"):
        views[f"{part}.0.weight"][:] = [[1.0, 1.0, 1.0], [0.0] * 3, [0.0] * 3]
        views[f"{part}.0.bias"][:] = [-first.max() - 1e-3, -first.max() + 0.01, 1.0]
    row = network_row(practice.learner.policy, rollout)
    fires = first[np.linspace(0, first.size - 1, 64).astype(int)].max() == first.max()
    assert row["network/dead_units"] == (1 if fires else 2) / 3


@BOTH_ENGINES
def test_tanh_outputs_close_to_1_count_as_saturated(engine: str):
    practice, rollout = played(engine, **{"policy.activation": "tanh", "policy.shared": "on"})
    views = practice.learner.policy.parameters.views
    for layer, bias in (
        (0, [-9, 9, math.atanh(0.98), math.atanh(0.96), 0, 0]),
        (2, [9, 0, 0, 0, 0]),
    ):
        views[f"shared.{layer}.weight"][:] = 0.0
        views[f"shared.{layer}.bias"][:] = bias
    row = network_row(practice.learner.policy, rollout)
    assert row["network/saturated_units"] == pytest.approx(4 / 11)
    assert not [name for name in row if "dead" in name]


@BOTH_ENGINES
def test_a_policy_with_a_zero_output_layer_is_uniform(engine: str):
    practice, rollout = played(engine, **{"algo.lr": 0.0})
    views = practice.learner.policy.parameters.views
    views["actor.4.weight"][:] = views["actor.4.bias"][:] = 0.0
    row = practice.learn(rollout)
    assert row["policy/entropy_share"] == pytest.approx(1.0, abs=1e-6)
    assert row["policy/prob_max_mean"] == pytest.approx(1 / 3, abs=1e-6)
    assert row["policy/prob_min_mean"] == pytest.approx(1 / 3, abs=1e-6)
    assert row["network/logit_range"] == row["network/output_std"] == 0.0
    views["actor.4.bias"][:] = [0.0, 5.0, 3.0]
    row = practice.learn(practice.collect())
    chance = np.exp([0.0, 5.0, 3.0]) / np.exp([0.0, 5.0, 3.0]).sum()
    assert row["policy/prob_max_mean"] == pytest.approx(chance.max(), rel=1e-5)
    assert row["policy/prob_min_mean"] == pytest.approx(chance.min(), rel=1e-5)
    assert row["policy/entropy_share"] == pytest.approx(-(chance @ np.log(chance)) / math.log(3))
    assert row["network/logit_range"] == pytest.approx(5.0)


def test_dead_channels_of_convolutions_are_counted_as_units():
    policy = Problem.make("image", activation="relu", hidden=(8,), weight_noise=0.0, rows=8).policy
    policy.use_engine("torch")
    policy.parameters.views["shared.1.bias"][:5] = -1e3
    images = np.random.default_rng(0).integers(256, size=(8, 2, 36, 36)).astype(np.uint8)
    dead = units = 0
    for part, stack in policy.network.stacks():
        for i, layer in enumerate(stack):
            if isinstance(layer, Activation):
                said = policy.inference.layer_output(part, i, images)
                fires = np.abs(said).reshape(len(said), said.shape[1], -1).max((0, 2)) > 0
                dead, units = dead + int((~fires).sum()), units + fires.size
    found = policy.health(images, None)
    every = found.shared.add(found.actor).add(found.critic)
    assert (every.dead, every.rectifiers) == (dead, units)
    assert dead >= 5


def test_a_user_module_reports_only_its_outputs():
    practice, rollout = played("torch", **{"policy.module": "tests.engine.own_nets:Right"})
    row = network_row(practice.learner.policy, rollout)
    health = {"output_mean", "output_std", "logit_range"}
    assert {name.partition("/")[2] for name in row if name.startswith("network/")} == health


@BOTH_ENGINES
def test_broken_weights_are_visible_in_the_health(engine: str):
    practice, rollout = played(engine)
    practice.learner.policy.parameters.views["actor.0.weight"][:] = np.nan
    row = network_row(practice.learner.policy, rollout)
    assert np.isnan([row["network/activation_mean"], row["network/output_mean"]]).all()
