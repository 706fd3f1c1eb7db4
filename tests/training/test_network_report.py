"""`gymnast net`: its report on layers, activations and gradients against independent computations."""

from __future__ import annotations

import json
import math
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gymnast.clock import Clock
from gymnast.config.resolve import resolve
from gymnast.config.sections import ALGORITHMS
from gymnast.errors import UsageError
from gymnast.network_report import network as report
from gymnast.network_report.record import LayerReport
from gymnast.rollout import Rollout
from gymnast.seeds import stream
from gymnast.training.collectors import open_collector
from gymnast.training.learner import Learner
from tests.cli_output import cli_output
from tests.small_runs import checkpoint_arrays, train_small

SMALL: dict[str, Any] = {"env.n_envs": 8, "policy.hidden": [6, 5]}


def played(target: str, **more: Any) -> tuple[Learner, Rollout, Any]:
    """Returns an untrained learner, a rollout of its policy, and the hyperparameters."""
    cfg = resolve(target, SMALL | more).config
    collector = open_collector(cfg)
    learner = Learner("agent", *collector.spaces["agent"], cfg)
    collector.start_episodes()
    clock = Clock(limits=cfg.stop.limits())
    values: Any = cfg.algo.values_at(clock)
    span = replace(values.rollout_length(), steps=64)
    rollout = collector.collect({"agent": learner.policy}, span, clock).rollouts["agent"]
    collector.close()
    return learner, rollout, values


def layers_of(learner: Learner, rollout: Rollout) -> dict[str, LayerReport]:
    return {layer.name: layer for layer in report.layer_report(learner.policy, rollout)}


def ask(*words: str) -> str:
    return cli_output("net", *words)


@pytest.mark.parametrize("shared", ["on", "off"])
def test_activations_match_a_forward_pass_computed_by_hand(shared: str):
    learner, rollout, _ = played("CartPole-v1", **{"policy.shared": shared})
    policy, x = learner.policy, rollout.obs.reshape(-1, 4)
    weights = policy.parameters.views
    found = layers_of(learner, rollout)
    for part, stack in policy.network.stacks():
        y = x
        for i, layer in enumerate(stack):
            name, width = f"{part}.{i}", y.shape[1]
            if f"{name}.weight" in weights:
                y = y @ weights[f"{name}.weight"] + weights[f"{name}.bias"]
            else:
                y = np.tanh(y)
            entry = found.pop(name)
            assert (entry.input, entry.output) == ((width,), y.shape[1:]), layer
            assert np.allclose([entry.mean, entry.std], [y.mean(), y.std()], atol=1e-6)
        if part == "shared":
            x = y
    assert not found


def test_sizes_add_up_to_the_whole_network():
    cfg = resolve("py:tests.scripted:Match", SMALL).config
    with closing(open_collector(cfg)) as collector:
        found = report.network_report("a match", cfg, collector).roles["agent"]
    counts = [layer.parameters for layer in found.layers]
    assert counts == [12, 0, 35, 0, 6, 12, 0, 35, 0, 6]
    free = 1  # actor.log_std belongs to no layer
    assert (found.n_parameters, found.bytes) == (sum(counts) + free, 4 * (sum(counts) + free))
    assert sum(math.prod(p.shape) for p in found.parameters) == found.n_parameters


def test_dead_and_saturated_units_are_counted():
    learner, rollout, _ = played("CartPole-v1", **{"policy.activation": "relu"})
    learner.policy.parameters.views["actor.0.bias"][:] = [-1e3, -1e3, 1e3, 1e3, 1e3, 1e3]
    found = layers_of(learner, rollout)
    assert found["actor.1"].dead == pytest.approx(2 / 6)
    assert found["actor.1"].saturated is None
    learner, rollout, _ = played("CartPole-v1")
    views = learner.policy.parameters.views
    views["actor.0.weight"][:] = views["critic.0.weight"][:] = 0.0
    views["critic.0.bias"][:] = [-1e3, -1e3, 1e3, 0, 0, 0]
    found = layers_of(learner, rollout)
    assert found["critic.1"].saturated == pytest.approx(3 / 6)
    assert found["actor.1"].saturated == 0.0
    assert found["critic.1"].dead is None


def test_gradients_match_finite_differences_of_the_loss_over_the_whole_batch():
    """Computed by finite differences for parameters with one element, whose norm is their slope."""
    learner, rollout, values = played("py:tests.scripted:Match")
    one_step = {"algo.lr": 0, "algo.epochs": 1, "algo.batch_size": "100%"}
    _, _, whole = played("py:tests.scripted:Match", **one_step)

    def loss() -> float:
        return learner.update(rollout, whole, stream(0, "test")).metrics["loss/total"]

    slopes = report.batch_gradient(learner, rollout, values)
    assert slopes is not None
    for name in ("actor.log_std", "critic.4.bias", "actor.4.bias"):
        view, step = learner.policy.parameters.views[name], 1e-2
        view += step
        above = loss()
        view -= 2 * step
        below = loss()
        view += step
        assert float(slopes[name].sum()) == pytest.approx((above - below) / (2 * step), rel=0.02)


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_the_gradient_of_every_algorithm_is_reported_without_changing_the_learner(algo: str):
    learner, rollout, values = played(f"py:tests.scripted:Choose:{algo}")
    before = learner.snapshot()
    slopes = report.batch_gradient(learner, rollout, values)
    assert slopes is not None
    assert all(np.isfinite(slope).all() for slope in slopes.values())
    assert slopes["actor.1.weight"].any()
    after = learner.snapshot()
    for name in ("policy", "arrays"):
        mine, other = getattr(before, name), getattr(after, name)
        assert mine.keys() == other.keys()
        assert all(np.array_equal(mine[key], other[key]) for key in mine)
    assert before.plain == after.plain


@pytest.mark.parametrize("target", ["py:tests.scripted:Choose", "py:tests.scripted:Match"])
def test_a_policy_that_prefers_an_action_is_not_uniform(target: str):
    learner, rollout, _ = played(target)
    obs = rollout.obs.reshape(-1, *rollout.obs.shape[2:])
    assert report.uniformity_report(learner.policy, obs).uniform is True
    last = len(learner.policy.network.actor) - 1
    learner.policy.parameters.views[f"actor.{last}.bias"][0] = 0.5
    assert report.uniformity_report(learner.policy, obs).uniform is False


def test_the_report_describes_the_untrained_network_of_a_preset():
    page = ask("CartPole-v1")
    assert "9,155 parameters, 36.6 kB" in page
    assert "initial policy: entropy 0.6931 of ln 2 = 0.6931 (uniform)" in page
    assert "on a batch of 1,024 steps in 16 environments" in page
    for layer in ("actor.4", "critic.3", "actor.4.weight"):
        assert f"\n{layer} " in page


def test_the_report_of_a_run_describes_the_network_of_its_checkpoint():
    run = train_small("CartPole-v1", {"env.n_envs": 4, "algo.n_steps": 16, "stop.env_steps": 256})
    found = json.loads(ask(f"{run.id}:latest", "--json"))
    stored = checkpoint_arrays(run)
    parameters = found["roles"]["agent"]["parameters"]
    assert not found["fresh"]
    assert len(parameters) == 8
    for entry in parameters:
        weight = stored[f"agent/{entry['name']}"]
        assert entry["norm"] == pytest.approx(float(np.linalg.norm(weight)))
        assert entry["gradient_norm"] >= entry["gradient_max"] > 0
    assert "policy on first observations" in ask(run.id)
    with pytest.raises(UsageError, match="is a run"):
        ask(run.id, "--set", "policy.hidden=[8]")
