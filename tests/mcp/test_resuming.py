"""Resuming by MCP: in place with a larger budget, or as a branch from an earlier checkpoint."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gymnast.mcp.options import McpOptions
from tests.mcp.conftest import Trained
from tests.mcp.sessions import ask, failure


@pytest.fixture
def copied(trained: Trained, tmp_path: Path) -> McpOptions:
    """A runs directory that a test may change."""
    shutil.copytree(trained.runs_dir, tmp_path / "runs")
    return McpOptions(tmp_path / "runs")


@pytest.mark.slow
def test_a_run_continues_in_place_with_a_larger_budget_and_gets_the_tag(copied: McpOptions):
    before = ask(copied, "runs", run="first")["run"]
    started = ask(copied, "train", resume="first", overrides={"stop.env_steps": 768})
    assert (started["runs"][0]["id"], "parent" in started) == (before["id"], False)
    ask(copied, "wait", runs=["first"], seconds=120)
    after = ask(copied, "runs", run="first")["run"]
    assert (before["env_steps"], after["env_steps"]) == (512, 768)
    assert (after["status"], after["tags"]) == ("finished", ["assistant"])


@pytest.mark.slow
def test_an_earlier_checkpoint_branches_off_with_a_name(copied: McpOptions):
    run = ask(copied, "runs", run="first", detail="full")["run"]
    earlier = min(run["checkpoints"]["steps"])
    assert earlier < run["checkpoints"]["latest"]
    arguments = {"at": str(earlier), "overrides": {"stop.env_steps": 640}, "name": "again"}
    started = ask(copied, "train", resume="first", **arguments)
    assert started["parent"] == run["id"]
    ask(copied, "wait", runs=[started["runs"][0]["id"]], seconds=120)
    branch = ask(copied, "runs", run="again")["run"]
    assert (branch["status"], branch["env_steps"], branch["tags"]) == (
        "finished",
        640,
        ["assistant"],
    )


def test_a_new_name_for_a_run_that_continues_in_place_is_refused(copied: McpOptions):
    refused = failure(copied, "train", resume="first", name="other")
    assert refused["at"] == "train.name"
    assert "at" in refused["fix"]


def test_the_worst_episode_of_all_is_named_on_the_first_page(trained: Trained):
    listed = ask(trained.options, "episodes", run="first", limit=1)
    every = ask(trained.options, "episodes", run="first", limit=500)["episodes"]
    returns = [episode["return"] for episode in every]
    assert listed["worst"]["return"] == min(returns)
    assert listed["best"]["return"] == max(returns)
    assert len(listed["episodes"]) == 1 < len(returns)


def test_the_step_with_the_lowest_value_is_that_of_the_table(trained: Trained):
    moments = ask(trained.options, "episodes", run="first", view="moments")
    steps = ask(
        trained.options, "episodes", run="first", view="steps", columns=["value_raw"], limit=500
    )
    values = [row[0] for row in steps["rows"]]
    assert values[moments["lowest_value"]["step"]] == min(values)
