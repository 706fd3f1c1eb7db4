"""Every declared metric is reported by some run, and both engines report the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.config.resolve import resolve
from gymnast.measure.components import action_components, action_options, has_components
from gymnast.measure.limits import metric_limits
from gymnast.metrics.families.components import MAX_COMPONENTS
from gymnast.metrics.metric import Dimension, Limits
from gymnast.metrics.specs import METRICS, metric_for_key, run_metrics, sort_keys
from gymnast.rl.rollout_stats import rollout_stats
from gymnast.spaces.spaces import BoxAction, BoxObs, DiscreteAction
from gymnast.training.collectors import open_collector
from tests.algos.harness import BOTH_ENGINES, ENGINES
from tests.small_runs import exact_metrics, rows, train_small

N, T = 3, 8
EVERY = {"env.n_envs": N, "stop.rollouts": 3, "checkpoint.every": "2 rollouts"}
SHAPED = {"shaping.mine": {"term": "py:tests.shaping.own_terms:brightness", "weight": 0.5}}
STAGES = [{"tasks": ["one"], "promote": "one:episode/return >= -99 for 1"}, {"tasks": ["two"]}]
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "discrete actions with ReLU, evaluated, normalized, shaped": (
        "ppo",
        {
            **SHAPED,
            "algo.n_steps": T,
            "algo.kl_coef": 0.1,
            "policy.activation": "relu",
            "normalize.obs": "running",
            "normalize.reward": "running",
            "normalize.value": "popart",
            "eval.every": "2 rollouts",
        },
    ),
    "amounts, one trunk": (
        "ppo",
        {"env.kwargs": {"box": True}, "algo.n_steps": T, "policy.shared": "on"},
    ),
    "a2c through a curriculum": (
        "a2c",
        {
            "algo.n_steps": T,
            "env.tasks": {"one": {"kwargs": {"length": 3}}, "two": {"kwargs": {"length": 4}}},
            "env.curriculum": STAGES,
        },
    ),
    "memory": ("ppo", {"algo.n_steps": T, "policy.memory": "gru:6"}),
    "hosts": ("ppo", {"algo.n_steps": T, "collect.on": "local", "collect.hosts": N}),
    "hosts that do not wait": (
        "ppo",
        {"algo.n_steps": T, "collect.on": "local", "collect.hosts": N, "collect.mode": "async"},
    ),
    "reinforce": ("reinforce", {"algo.episodes": 2}),
    "dqn": ("dqn", {"algo.n_steps": T, "algo.warmup": 8}),
}
"""Algorithm and settings, on the scripted environment."""
MATCHES = {
    "env.kwargs": {"time_limit": 3},
    "algo.n_steps": T,
    "eval.every": "2 rollouts",
    "league.opponents": ["weak"],
}
ROLES: dict[str, dict[str, Any]] = {
    "seekers and hiders": {"league.live_share": "10%", "league.snapshot": "1 rollouts"},
    "a ladder": {"roles.seeker.plays": ["random", "scripted:weak"]},
}
"""Settings of runs with several roles."""
CARTPOLE = {"algo.n_steps": T, "algo.batch_size": "100%"}
EVERY_RUN = {name: ("Script", *settings) for name, settings in RUNS.items()} | {
    name: ("tag", "ppo", MATCHES | settings) for name, settings in ROLES.items()
}
EVERY_RUN["actions that have an effect"] = ("CartPole-v1", "ppo", CARTPOLE)


@pytest.fixture(scope="module")
def reported(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Returns engine -> run -> its rows."""
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for engine in ENGINES:
        found[engine] = {}
        for name, (env, algo, settings) in EVERY_RUN.items():
            if (engine, algo) != ("native", "dqn"):  # which that engine does not compute
                given = EVERY | settings | {"engine": engine}
                run = train_small(env, given, algo=algo, runs_dir=tmp_path_factory.mktemp("runs"))
                found[engine][name] = rows(run)
    return found


@BOTH_ENGINES
def test_every_declared_metric_is_reported_by_some_run(reported, engine: str):
    names = {
        key.rpartition(":")[2] for run in reported[engine].values() for row in run for key in row
    }
    assert set(METRICS) - names == set()


NOT_COMPARABLE = ("dqn", "hosts that do not wait")
"""Runs that only one engine computes, or that differ each time."""


@pytest.mark.parametrize("name", [name for name in EVERY_RUN if name not in NOT_COMPARABLE])
def test_both_engines_report_the_same_numbers(reported, name: str):
    native, torch = (reported[engine][name] for engine in ENGINES)
    assert [row.keys() for row in native] == [row.keys() for row in torch]
    for one, other in zip(native[:2], torch[:2], strict=True):
        other = exact_metrics(other)
        for key, value in exact_metrics(one).items():
            assert value == pytest.approx(other[key], rel=2e-3, abs=2e-5), key


@BOTH_ENGINES
def test_reported_metrics_are_within_their_bounds(reported, engine: str):
    for run in reported[engine].values():
        for row in run:
            for key, value in row.items():
                metric = METRICS.get(key.rpartition(":")[2])
                low, high = metric.bounds_for(Limits()) if metric else (-np.inf, np.inf)
                assert low - 1e-6 <= value <= high + 1e-6, key


@BOTH_ENGINES
def test_shares_of_time_refer_to_the_time_of_the_whole_row(reported, engine: str):
    parts = ("env", "inference", "update", "rest")
    apart = ("evaluate_wait", "checkpoint")
    for run in reported[engine].values():
        for row in (row for row in run if "time/rest" in row):
            total = sum(row[f"time/{part}"] for part in (*parts, *apart))
            for part in parts:
                assert row[f"time/{part}_share"] == pytest.approx(row[f"time/{part}"] / total)
            assert 0 < row["system/memory_now"] <= row["system/memory"] + 1


def test_component_metrics_have_the_labels_and_ranges_of_the_space():
    cfg = resolve("CartPole-v1").config
    collector = open_collector(cfg)
    metrics = run_metrics(cfg, metric_limits(collector, cfg))
    collector.close()
    assert "action 1 (push right)" in metrics["rollout/action_share.1"].description
    assert metrics["rollout/action_share.1"].bounds == (0, 1)
    assert "rollout/action_share.2" not in metrics
    angle = metrics["rollout/obs_mean.2"]
    assert "component 2 (pole angle)" in angle.description
    assert angle.bounds == pytest.approx((-0.41887903, 0.41887903))
    assert metrics["rollout/obs_mean.1"].bounds == (-np.inf, np.inf)


def test_box_action_metrics_are_bounded_by_the_range_of_their_component():
    limits = Limits(action_dims=(Dimension("", -1.0, 1.0), Dimension("gas", 0.0, 3.0)))
    metrics = run_metrics(resolve("CartPole-v1").config, limits)
    assert metrics["rollout/action_mean.1"].bounds == (0.0, 3.0)
    assert metrics["rollout/action_std.1"].bounds == (0.0, 1.5)
    assert "dimension 1 (gas)" in metrics["rollout/action_std.1"].description


def test_spaces_with_many_components_have_no_metric_per_component():
    many = MAX_COMPONENTS + 1
    wide = BoxObs((many,), (-1.0,) * many, (1.0,) * many)
    free = BoxAction((many,), (-np.inf,) * many, (np.inf,) * many)
    zeros = np.zeros((4, 1, many), np.float32)
    assert not has_components(wide)
    assert not action_options(DiscreteAction(many, 0))
    assert not action_components(free, zeros, None)
    limits = Limits(action_labels=("",) * many, obs_dims=(Dimension("", 0, 1),) * many)
    assert not [m for m in run_metrics(resolve("CartPole-v1").config, limits) if m.endswith(".32")]


def test_invalid_steps_are_left_out_of_component_metrics():
    keep = np.array([[True, False], [True, True]])
    chosen = np.array([[0, 1], [2, 2]])
    rest = np.zeros((2, 2)), np.zeros((2, 2), np.float32), np.zeros((2, 2), bool)
    found = rollout_stats(rest[0], chosen, *rest[1:], rest[2], None, keep, n_actions=3)
    shares = action_components(DiscreteAction(3, 0), chosen, keep, found.action_counts)
    assert list(shares.values()) == pytest.approx([1 / 3, 0, 2 / 3])
    amounts = np.array([[[1.0], [9.0]], [[0.5], [-1.0]]], np.float32)
    row = action_components(BoxAction((1,), (-1.0,), (1.0,)), amounts, keep)
    assert row["rollout/action_at_limit"] == pytest.approx(2 / 3)
    assert row["rollout/action_mean.0"] == pytest.approx(0.5 / 3)


def test_only_finite_action_bounds_count_for_action_at_limit():
    half = BoxAction((2,), (0.0, -np.inf), (np.inf, np.inf))
    amounts = np.array([[[0.0, 0.0]], [[1.0, 5.0]]], np.float32)
    assert action_components(half, amounts, None)["rollout/action_at_limit"] == 0.5


@given(
    low=st.floats(-1e3, 1e3),
    width=st.floats(1e-2, 1e3),
    seed=st.integers(0, 99),
)
def test_uniform_actions_have_the_offset_0_and_the_spread_1(low: float, width: float, seed: int):
    rng = np.random.default_rng(seed)
    space = BoxAction((3,), (low, -np.inf, low), (low + width, np.inf, low + width))
    uniform = (low + width * rng.random((500, 4, 3))).astype(np.float32)
    row = action_components(space, uniform, None)
    assert row["rollout/action_offset"] < 0.04
    assert row["rollout/action_spread"] == pytest.approx(1, abs=0.05)
    ends = np.full_like(uniform, low)
    ends[::2] = low + width
    assert action_components(space, ends, None)["rollout/action_spread"] == pytest.approx(
        3**0.5, rel=1e-2
    )
    assert action_components(space, ends[::2], None)["rollout/action_offset"] == pytest.approx(
        0.5, abs=1e-2
    )


def test_component_metrics_are_in_the_order_of_their_index():
    keys = [f"rollout/obs_mean.{k}" for k in (10, 2, 0)] + ["rollout/reward_mean"]
    places = ["rollout/obs_mean.0", "rollout/obs_mean.2", "rollout/obs_mean.10"]
    assert sort_keys(keys) == ["rollout/reward_mean", *places]
    assert metric_for_key("eval:rollout/obs_mean.10").name == "rollout/obs_mean.K"
