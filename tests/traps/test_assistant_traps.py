"""Trap 40 in the MCP server: a training that it starts has an id at once, and its end is stored data."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymnast.mcp.options import McpOptions
from gymnast.runs.run import Run
from tests.mcp.sessions import ask
from tests.small_runs import SMALL

SETTINGS = SMALL | {"env.n_envs": 4, "algo.n_steps": 32, "stop.env_steps": 256, "eval.every": "off"}


@pytest.mark.slow
def test_40_an_assistant_knows_the_id_of_a_training_at_once_and_why_it_ended_without_its_log(
    runs_dir: Path,
):
    options = McpOptions(runs_dir)
    started = ask(options, "train", target="CartPole-v1", overrides=SETTINGS, name="short")
    run_id = started["runs"][0]["id"]
    assert (runs_dir / run_id).is_dir()
    assert ask(options, "runs", run=run_id)["run"]["id"] == run_id
    ended = ask(options, "wait", runs=[run_id], seconds=60)["runs"][0]
    run = Run(runs_dir / run_id)
    (run.path / "log.txt").write_text("Early stopping! the run has failed\n")
    assert ended["reason"] == run.info["reason"] == "budget of 256 env steps spent"
    again = ask(options, "wait", runs=["short"], seconds=0)["runs"][0]
    assert (again["id"], again["status"], again["reason"]) == (run_id, "finished", ended["reason"])
    assert ask(options, "diagnose", run=run_id)["outcome"] != "crashed"


@pytest.mark.slow
def test_40_a_training_that_exceeds_the_limit_of_the_server_stops_itself_and_says_why(
    runs_dir: Path,
):
    options = McpOptions(runs_dir, max_minutes=0.01)
    started = ask(
        options, "train", target="CartPole-v1", overrides=SETTINGS | {"stop.env_steps": "50M"}
    )
    run_id = started["runs"][0]["id"]
    ended = ask(options, "wait", runs=[run_id], seconds=60)["runs"][0]
    assert "seconds" in ended["reason"] or "minutes" in ended["reason"]
    assert Run(runs_dir / run_id).info["reason"] == ended["reason"]


@pytest.mark.slow
def test_40_seeds_beyond_the_limit_of_the_server_wait_and_all_have_ids(runs_dir: Path):
    options = McpOptions(runs_dir, max_jobs=1, max_minutes=5)
    endless = SETTINGS | {"stop.env_steps": "50M"}
    started = ask(options, "train", target="CartPole-v1", overrides=endless, seeds=3, name="three")
    assert [run["status"] for run in started["runs"]] == ["started", "queued", "queued"]
    assert len({run["id"] for run in started["runs"]}) == started["started"] == 3
    waiting = ask(options, "wait", runs=["three"], seconds=0)
    assert (waiting["ended"], waiting["training"]) == (0, 3)
    stopped = ask(options, "control", run="three", action="stop")
    assert {run["status"] for run in stopped["runs"]} == {"stopped"}
    assert ask(options, "wait", runs=["three"], seconds=60)["ended"] == 3
