"""Whatever the table declares, a run of some kind tells; and both engines tell the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.measure.components import action_components, action_options, has_components
from gymnast.metrics.families.components import MOST
from gymnast.metrics.metric import Limits, Part
from gymnast.metrics.specs import METRICS, declared, in_order, spec
from gymnast.rl.experience import experience
from gymnast.spaces.spaces import BoxAction, BoxObs, DiscreteAction
from gymnast.training.session import open_collector, task_limits
from tests.algos.practice import BOTH_ENGINES, ENGINES
from tests.small_runs import exact, rows, trained

N, T = 3, 8
EVERY = {"env.n_envs": N, "stop.rollouts": 3, "checkpoint.every": "2 rollouts"}
SHAPED = {"shaping.mine": {"term": "py:tests.shaping.own_terms:brightness", "weight": 0.5}}
STAGES = [{"tasks": ["one"], "promote": "one:episode/return >= -99 for 1"}, {"tasks": ["two"]}]
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "choices by ReLU, scored, normalised, shaped": (
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
"""Settings of runs in which roles meet."""
EVERY_RUN = {name: ("Script", *told) for name, told in RUNS.items()} | {
    name: ("tag", "ppo", MATCHES | settings) for name, settings in ROLES.items()
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[dict[str, float]]]]:
    """Rows by engine and run."""
    found: dict[str, dict[str, list[dict[str, float]]]] = {}
    for engine in ENGINES:
        found[engine] = {}
        for name, (env, algo, settings) in EVERY_RUN.items():
            if (engine, algo) != ("native", "dqn"):  # which that engine does not compute
                given = EVERY | settings | {"engine": engine}
                run = trained(env, given, algo=algo, runs_dir=tmp_path_factory.mktemp("runs"))
                found[engine][name] = rows(run)
    return found


@BOTH_ENGINES
def test_every_metric_of_the_table_is_told_by_some_run(told, engine: str):
    names = {key.rpartition(":")[2] for run in told[engine].values() for row in run for key in row}
    assert not set(METRICS) - names


@pytest.mark.parametrize("name", [name for name in EVERY_RUN if name != "dqn"])
def test_engines_tell_the_same_numbers(told, name: str):
    native, torch = (told[engine][name] for engine in ENGINES)
    assert [row.keys() for row in native] == [row.keys() for row in torch]
    for one, other in zip(native[:2], torch[:2], strict=True):
        other = exact(other)
        for key, value in exact(one).items():
            assert value == pytest.approx(other[key], rel=2e-3, abs=2e-5), key


@BOTH_ENGINES
def test_what_is_told_lies_within_its_bounds(told, engine: str):
    for run in told[engine].values():
        for row in run:
            for key, value in row.items():
                metric = METRICS.get(key.rpartition(":")[2])
                low, high = metric.bounds_for(Limits()) if metric else (-np.inf, np.inf)
                assert low - 1e-6 <= value <= high + 1e-6, key


@BOTH_ENGINES
def test_shares_of_time_are_those_of_the_whole_row(told, engine: str):
    parts = ("env", "inference", "update", "rest")
    apart = ("evaluate_wait", "checkpoint")
    for run in told[engine].values():
        for row in (row for row in run if "time/rest" in row):
            total = sum(row[f"time/{part}"] for part in (*parts, *apart))
            for part in parts:
                assert row[f"time/{part}_share"] == pytest.approx(row[f"time/{part}"] / total)
            assert 0 < row["system/memory_now"] <= row["system/memory"] + 1


def test_parts_of_spaces_bear_their_labels_and_ranges():
    cfg = resolve("CartPole-v1").config
    collector = open_collector(cfg)
    metrics = declared(cfg, task_limits(collector, cfg))
    collector.close()
    assert "action 1 (push right)" in metrics["rollout/action_share.1"].description
    assert metrics["rollout/action_share.1"].bounds == (0, 1)
    assert "rollout/action_share.2" not in metrics
    angle = metrics["rollout/obs_mean.2"]
    assert "component 2 (pole angle)" in angle.description
    assert angle.bounds == pytest.approx((-0.41887903, 0.41887903))
    assert metrics["rollout/obs_mean.1"].bounds == (-np.inf, np.inf)


def test_amounts_are_bounded_by_their_own_range():
    limits = Limits(amounts=(Part("", -1.0, 1.0), Part("gas", 0.0, 3.0)))
    metrics = declared(resolve("CartPole-v1").config, limits)
    assert metrics["rollout/action_mean.1"].bounds == (0.0, 3.0)
    assert metrics["rollout/action_std.1"].bounds == (0.0, 1.5)
    assert "dimension 1 (gas)" in metrics["rollout/action_std.1"].description


def test_spaces_of_many_parts_have_no_metric_for_each():
    many = MOST + 1
    wide = BoxObs((many,), (-1.0,) * many, (1.0,) * many)
    free = BoxAction((many,), (-np.inf,) * many, (np.inf,) * many)
    zeros = np.zeros((4, 1, many), np.float32)
    assert not has_components(wide)
    assert not action_options(DiscreteAction(many, 0))
    assert not action_components(free, zeros, None)
    limits = Limits(options=("",) * many, components=(Part("", 0, 1),) * many)
    assert not [m for m in declared(resolve("CartPole-v1").config, limits) if m.endswith(".32")]


def test_steps_that_do_not_count_are_left_out():
    keep = np.array([[True, False], [True, True]])
    chosen = np.array([[0, 1], [2, 2]])
    rest = np.zeros((2, 2)), np.zeros((2, 2), np.float32), np.zeros((2, 2), bool)
    found = experience(rest[0], chosen, *rest[1:], rest[2], None, keep, options=3)
    shares = action_components(DiscreteAction(3, 0), chosen, keep, found.chosen)
    assert list(shares.values()) == pytest.approx([1 / 3, 0, 2 / 3])
    amounts = np.array([[[1.0], [9.0]], [[0.5], [-1.0]]], np.float32)
    row = action_components(BoxAction((1,), (-1.0,), (1.0,)), amounts, keep)
    assert row["rollout/action_at_limit"] == pytest.approx(2 / 3)
    assert row["rollout/action_mean.0"] == pytest.approx(0.5 / 3)


def test_only_limits_that_exist_can_be_reached():
    half = BoxAction((2,), (0.0, -np.inf), (np.inf, np.inf))
    amounts = np.array([[[0.0, 0.0]], [[1.0, 5.0]]], np.float32)
    assert action_components(half, amounts, None)["rollout/action_at_limit"] == 0.5


def test_parts_are_in_order_of_their_place():
    keys = [f"rollout/obs_mean.{k}" for k in (10, 2, 0)] + ["rollout/reward_mean"]
    places = ["rollout/obs_mean.0", "rollout/obs_mean.2", "rollout/obs_mean.10"]
    assert in_order(keys) == ["rollout/reward_mean", *places]
    assert spec("eval:rollout/obs_mean.10").name == "rollout/obs_mean.K"
