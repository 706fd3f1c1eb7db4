"""A budget in vector steps: training ends there, and progress, remaining time and schedules refer to it."""

from __future__ import annotations

import pytest

from gymnast.cli.train import train
from gymnast.metrics.sinks.plain import row_line
from gymnast.metrics.specs import run_metrics
from gymnast.runs.store import read_summary
from gymnast.training.lifecycle.prepare import prepare
from tests.small_runs import rows, train_small

COPIES, STEPS, TOTAL = 3, 8, 40


@pytest.mark.parametrize("n_envs", [1, COPIES])
def test_progress_remaining_time_and_schedules_refer_to_vector_steps(n_envs: int):
    settings = {
        "env.n_envs": n_envs,
        "algo.n_steps": STEPS,
        "algo.batch_size": "50%",
        "algo.lr": "1e-3 -> 0",
        "stop.vec_steps": TOTAL,
        "eval.every": "off",
        "eval.confirm_episodes": 1,
    }
    run = train_small("Script", settings)
    recorded = rows(run)
    vec = [row["clock/vec_steps"] for row in recorded]
    assert vec == [STEPS * k for k in range(1, TOTAL // STEPS + 1)]
    assert [row["clock/env_steps"] for row in recorded] == [n_envs * x for x in vec]
    assert [row["progress/share"] for row in recorded] == [x / TOTAL for x in vec]
    # Each update has the learning rate at the start of its rollout.
    assert [row["hyper/lr"] for row in recorded] == pytest.approx(
        [1e-3 * (1 - (x - STEPS) / TOTAL) for x in vec]
    )
    assert recorded[-1]["progress/remaining"] == 0
    assert all(row.get("progress/remaining", 1) > 0 for row in recorded[:-1])
    summary = read_summary(run.path)
    assert summary.progress == 1
    assert "40 vec steps" in summary.reason
    line = row_line(recorded[0], run_metrics(run.config()), clock="vec_steps")
    assert f"{STEPS} vec steps" in line
    assert "env steps  " not in line


def test_the_option_replaces_the_budget_of_the_preset_and_warns_if_it_is_too_small():
    assert "--vec-steps" in {name for option in train.params for name in option.opts}
    prepared = prepare("CartPole-v1", {"stop.vec_steps": 40})
    prepared.collector.close()
    assert prepared.preflight().budget == {"vec_steps": 40}
    assert "the budget (40) is less than one rollout (64 vec steps)" in prepared.warnings()
