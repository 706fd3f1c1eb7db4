"""Trap 65: a comparison reported "identical" where one side could not be read. Unknown is not equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from wandb.proto import wandb_internal_pb2

from gymnast import api
from gymnast.foreign.hyperparameters import flat, from_wandb_yaml, lookup
from gymnast.mcp.options import McpOptions
from gymnast.runs import layout
from gymnast.runs.run import Run
from tests.cli_output import cli_output
from tests.fixtures.foreign.make_wandb import append
from tests.foreign.runs import CLEANRL, EVENTS, LARGE_LR, PPO, SB3, opened
from tests.mcp.sessions import call
from tests.small_runs import train_small

RECORD: Any = wandb_internal_pb2.Record  # pyright: ignore[reportAttributeAccessIssue]
HISTORY = [{"clock/env_steps": 100.0 * i, "eval:episode/return": 10.0 * i} for i in range(1, 5)]


@pytest.fixture
def run(runs_dir: Path) -> Run:
    return train_small("CartPole-v1", {"stop.env_steps": 256, "algo.lr": 1e-6}, runs_dir=runs_dir)


def wandb_folder(
    folder: Path, config: dict[str, object], rows: list[dict[str, float]] = HISTORY
) -> Path:
    """Returns the folder of an offline run of W&B with this config and history."""
    record = RECORD()
    record.run.run_id = "abc"
    for key, value in config.items():
        item = record.run.config.update.add()
        item.key, item.value_json = key, json.dumps(value)
    data = append(b":W&B\xe1\xbe\x00", record.SerializeToString())
    for row in rows:
        logged = RECORD()
        for key, value in row.items():
            entry = logged.history.item.add()
            entry.key, entry.value_json = key, json.dumps(value)
        data = append(data, logged.SerializeToString())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run-abc.wandb").write_bytes(data)
    return folder


def test_a_nested_config_of_wandb_is_compared(run: Run, runs_dir: Path, tmp_path: Path):
    values = run.config_values()
    same = wandb_folder(tmp_path / "same", values)
    other = wandb_folder(tmp_path / "other", values | {"algo": {**values["algo"], "lr": 1e-3}})  # type: ignore[dict-item]
    found = api.compare([run.id, str(other)], runs_dir=runs_dir)
    assert [(entry.key, entry.values) for entry in found.config] == [("algo.lr", [1e-6, 1e-3])]
    assert api.compare([run.id, str(same)], runs_dir=runs_dir).config == []
    text = cli_output("compare", run.id, str(other), "--runs", str(runs_dir))
    assert "algo.lr" in text
    assert "identical" not in text


def test_a_setting_that_a_run_does_not_record_is_unknown_and_never_equal(
    run: Run, runs_dir: Path, tmp_path: Path
):
    empty = wandb_folder(tmp_path / "empty", {})
    found = api.compare([run.id, str(empty)], runs_dir=runs_dir)
    assert found.config == []
    assert {"algo.lr", "algo.gamma", "env.n_envs"} <= {*found.config_unknown}
    for other in (empty, LARGE_LR, PPO):
        text = cli_output("compare", run.id, str(other), "--runs", str(runs_dir))
        assert "identical" not in text
        assert "unknown, because not all runs record it: " in text


def test_a_run_whose_config_cannot_be_read_is_never_called_identical(
    run: Run, runs_dir: Path, tmp_path: Path
):
    other = train_small("CartPole-v1", {"stop.env_steps": 256}, runs_dir=runs_dir)
    layout.CONFIG.path(other.path).write_text("algo: [")
    for refs in ([run.id, other.id], [other.id, str(wandb_folder(tmp_path / "w", {}))]):
        found = api.compare(refs, runs_dir=runs_dir)
        assert found.config_problem
        text = cli_output("compare", *refs, "--runs", str(runs_dir))
        assert "configs cannot be compared" in text
        assert "identical" not in text
    answer = call(McpOptions(runs_dir), "compare", {"runs": [run.id, other.id]})
    assert "the settings cannot be compared" in str(answer.content)


def test_hyperparameters_in_sections_are_found_unless_they_contradict_each_other(tmp_path: Path):
    nested = flat({"ppo": {"learning_rate": "1e-6", "gamma": 0.9}, "critic": {"gamma": 0.8}})
    assert lookup(nested, "learning_rate") == "1e-6"
    assert lookup(nested, "gamma") is None
    rows = [{"global_step": 10.0 * i, "charts/episodic_return": 1.0} for i in range(1, 4)]
    folder = wandb_folder(tmp_path / "w", {}, rows)
    (folder / "files").mkdir()
    (folder / "files" / "config.yaml").write_text(
        "_wandb: {value: {}}\nagent:\n  value: {learning_rate: 1e-6, clip_coef: 0.3}\n"
        "gamma: {desc: null, value: 0.97}\n"
    )
    assert opened(folder).settings == {"algo.lr": 1e-6, "algo.clip": 0.3, "algo.gamma": 0.97}
    (folder / "files" / "config.yaml").write_text("[" * 100_000)
    assert from_wandb_yaml(folder / "files" / "config.yaml") == {}


def test_a_rate_that_changed_during_training_is_not_compared_as_a_constant(runs_dir: Path):
    """CleanRL records the first learning rate only, and whether it falls."""
    run = train_small("CartPole-v1", {"stop.env_steps": 256, "algo.lr": 2.5e-4}, runs_dir=runs_dir)
    found = api.compare([run.id, str(CLEANRL)], runs_dir=runs_dir)
    assert "algo.lr" in found.config_unknown
    assert "algo.gamma" in {entry.key for entry in found.config}


def test_single_precision_makes_no_difference(runs_dir: Path):
    settings = {"stop.env_steps": 256, "algo.lr": 3e-4, "algo.clip": 0.2}
    run = train_small("CartPole-v1", settings, runs_dir=runs_dir)
    found = api.compare([run.id, str(EVENTS)], runs_dir=runs_dir)
    assert not {"algo.lr", "algo.clip"} & {*(entry.key for entry in found.config)}
    assert not {"algo.lr", "algo.clip"} & {*found.config_unknown}


def test_runs_without_any_common_setting_are_not_called_the_same(run: Run, runs_dir: Path):
    monitored = str(SB3 / "ppo" / "monitor.csv")
    for refs in ([run.id, monitored], [str(SB3 / "dqn"), monitored]):
        assert api.compare(refs, runs_dir=runs_dir).config_problem
        text = cli_output("compare", *refs, "--runs", str(runs_dir))
        assert "configs cannot be compared: no setting is recorded by all runs" in text
        assert "unknown, because not all runs record it: algo.batch_size" in text
