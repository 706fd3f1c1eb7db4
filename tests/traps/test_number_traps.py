"""Regression tests for past bugs in metrics. The numbers are those of the list of traps."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest

from gymnast import api
from gymnast.metrics.specs import METRICS, metric_for_key, run_metrics
from gymnast.metrics.store import MetricStore
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.small_runs import evaluations, rows, train_small

N, T = 2, 8
ROLLOUT = N * T
SETTINGS = {
    "env.n_envs": N,
    "algo.n_steps": T,
    "stop.env_steps": 8 * ROLLOUT,
    "eval.every": "3 rollouts",
    "checkpoint.every": "off",
}


def test_27_every_row_has_every_clock_and_each_counts_one_thing():
    run = train_small("Script", SETTINGS | {"env.frames_per_step": 4})
    clock = 0.0
    for row in rows(run):
        assert row["clock/env_steps"] == N * row["clock/vec_steps"] == row["clock/frames"] / 4
        assert row["clock/updates"] == 4 * row["clock/rollouts"]
        assert row["clock/env_steps"] >= clock  # also where a result is of an earlier version
        clock = row["clock/env_steps"]
        if "eval:clock/env_steps" in row:
            assert row["eval:clock/env_steps"] <= clock
    assert evaluations(run)


def test_28_remaining_time_matches_the_rest_of_the_budget():
    run = train_small("Script", SETTINGS)
    learned = [row for row in rows(run) if "policy/loss" in row]
    for row in learned:
        pace = row["clock/env_steps"] / row["clock/seconds"]
        left = 8 * ROLLOUT - row["clock/env_steps"]
        assert row["progress/remaining"] == pytest.approx(left / pace, rel=1e-9)
        assert row["progress/share"] == row["clock/env_steps"] / (8 * ROLLOUT)
    assert learned[-1]["progress/remaining"] == 0.0


def test_29_current_statistics_are_recent():
    """The reward is 0 for the first 500 steps of each copy, then 1: the metrics must follow."""
    settings = {"env.kwargs": {"steps": 500}, "stop.env_steps": 100 * ROLLOUT, "eval.every": "off"}
    settings["facts.deterministic"] = "no"  # else it would be stepped to find out
    run = train_small("Drift", SETTINGS | settings)
    learned = [row for row in rows(run) if "policy/loss" in row]
    turn = next(k for k, row in enumerate(learned) if row["rollout/reward_max"] == 1.0)
    assert turn == 500 // T
    assert learned[turn - 1]["episode/return"] == 0.0
    assert learned[turn + 1]["rollout/reward_mean"] == 1.0  # of this rollout, not since the start
    later = turn + 1 + math.ceil(100 / (ROLLOUT / 4))  # a hundred episodes of four steps
    assert learned[later]["episode/return"] == 4.0
    assert learned[later]["episode/count"] == 100


def test_30_nothing_is_rounded_in_the_record_the_csv_or_the_checkpoint():
    run = train_small("Script", SETTINGS | {"algo.lr": 5e-4, "algo.entropy_coef": 1e-3 / 3})
    last = [row for row in rows(run) if "policy/loss" in row][-1]
    assert last["hyper/lr"] == 5e-4
    assert last["hyper/entropy_coef"] == pytest.approx(1e-3 / 3, rel=1e-12)
    saved = checkpoint.latest(run.path).document("metrics")
    assert all(saved[name] == value for name, value in last.items() if name in saved)
    assert saved["hyper/lr"] == 5e-4
    table = list(csv.DictReader(io.StringIO(api.rows_csv(str(run.path)))))
    for line, row in zip(table, rows(run), strict=True):
        assert all(float(line[name]) == value for name, value in row.items())


def test_31_the_last_reported_metrics_are_recorded_and_every_name_is_declared():
    run = train_small("Script", SETTINGS)
    every = rows(run)
    assert every[-1]["eval:clock/env_steps"] == run.info["clocks"]["env_steps"] == 8 * ROLLOUT
    names = {name.rpartition(":")[2] for row in every for name in row}
    known = run_metrics(run.config())
    assert all(metric_for_key(name, known) for name in names)
    hyper = {name for name in known if name.startswith("hyper/")}
    assert hyper >= {"hyper/lr", "hyper/clip"}
    of_roles = {name for name in METRICS if name.startswith(("match/", "league/"))}
    of_hosts = {name for name in METRICS if name.startswith("hosts/")}
    never = set(METRICS) - names - of_roles - of_hosts
    only_elsewhere = {  # normalizers, Box actions, effects, a curriculum, shaping, ReLU, a trunk, memory
        "policy/log_std",
        "policy/memory_effect",
        "rollout/action_at_limit",
        "rollout/action_effect",
        "rollout/action_offset",
        "rollout/action_spread",
        "episode/shaped_return",
        "network/dead_units",
        "network/dead_units_actor",
        "network/dead_units_critic",
        "optim/grad_norm_shared",
        "optim/param_norm_shared",
        "normalize/value_mean",
        "normalize/value_std",
        "progress/stage",
        "shaping/total",
    }
    assert never == only_elsewhere


def test_32_a_loss_that_falls_is_better_and_one_that_rises_is_worse(runs_dir: Path):
    run = Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={})
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i in range(40):
            row = {"clock/rollouts": float(i), "clock/vec_steps": 10.0 * i}
            store.append(row | {"value/loss": 10.0 - i / 10, "episode/return": -i / 10})
    verdicts = {trend.key: trend.overall.verdict for trend in api.trends(run.id).trends}
    assert verdicts == {"value/loss": "better", "episode/return": "worse"}
