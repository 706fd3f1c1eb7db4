"""Studies through the tools for runs: started within the limits, shown, waited for, stopped and resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gymnast import api
from gymnast.mcp.options import McpOptions
from gymnast.mcp.tools import studies as studies_tool
from gymnast.runs.run import Run
from gymnast.sweep import launch
from gymnast.sweep import study as studies
from gymnast.sweep.probe import Probe
from gymnast.sweep.study import Study
from tests.mcp.sessions import ask, call, failure, tokens
from tests.sweep.synthetic import synthetic_study, write_study

SMALL = {
    "stop.env_steps": 512,
    "eval.episodes": 2,
    "eval.every": "256 env_steps",
    "env.n_envs": 2,
    "algo.n_steps": 64,
    "policy.hidden": [8],
}
SPACE = """\
parameters:
  algo.lr: {low: 1e-4, high: 1e-2, log: true}
search: {rungs: 1, seeds: 1, sampler: random}
"""


def test_a_study_is_shown_by_its_name_with_its_winner_and_best_trials(tmp_path: Path):
    options = McpOptions(tmp_path / "runs")
    write_study(options.runs_dir, "mine")
    best = api.sweep_best("mine", runs_dir=options.runs_dir)
    assert best.confirmation is not None
    shown = ask(options, "runs", run="mine")
    assert shown["total"] == 41
    assert shown["best"]["trial"] == best.trial.number
    assert shown["verdict"] == best.confirmation.verdict
    assert shown["study"]["status"] == "finished"
    assert [one["number"] for one in shown["trials"][:1]] == [best.trial.number]
    result = call(options, "runs", {"run": "mine"})
    assert tokens(result) <= 1000
    waited = ask(options, "wait", runs=["mine"])
    assert (waited["ended"], waited["runs"][0]["status"]) == (1, "finished")
    assert "is over" in failure(options, "train", resume="mine")["message"]


def test_a_study_that_does_not_run_cannot_be_stopped_and_says_so(tmp_path: Path):
    options = McpOptions(tmp_path / "runs")
    write_study(options.runs_dir, "early", synthetic_study(5, confirmed=False))
    error = failure(options, "control", run="early", action="stop")
    assert "is not running" in error["message"]
    assert failure(options, "runs", run="other")["code"] == "run"


@pytest.mark.parametrize("search", ["nonsense", "- 1\n- 2\n", "a: [\n"])
def test_what_is_no_space_is_an_error(search: str, tmp_path: Path):
    options = McpOptions(tmp_path / "runs")
    error = failure(options, "train", target="CartPole-v1", search=search)
    assert error["code"] == "config"


def test_a_read_only_server_starts_no_study(tmp_path: Path):
    options = replace(McpOptions(tmp_path / "runs"), read_only=True)
    result = call(options, "train", {"target": "CartPole-v1", "search": "default"})
    assert result.is_error


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns the names of the studies whose processes would be started, instead of starting them."""
    names: list[str] = []

    def start(study: Study, **_: object) -> int:
        names.append(study.name)
        return 1

    monkeypatch.setattr(launch, "start_in_background", start)
    monkeypatch.setattr(launch, "measure", lambda *_, **__: Probe(2, 512, 1000.0, 100_000, None))
    monkeypatch.setattr(studies_tool, "START_SECONDS", 0.0)
    return names


def test_a_study_is_started_and_resumed_within_the_limits(tmp_path: Path, started: list[str]):
    options = replace(McpOptions(tmp_path / "runs"), max_minutes=12.0, max_jobs=2)
    arguments: dict[str, Any] = {"target": "CartPole-v1", "search": SPACE, "overrides": SMALL}
    answer = ask(options, "train", **arguments, trials=2, name="mine")
    assert (answer["study"], answer["trials"], answer["minutes_limit"]) == ("mine", 3, 12)
    assert answer["next"] == 'wait(runs=["mine"])'
    study = studies.find("mine", options.runs_dir)
    assert study.space.target == "CartPole-v1"
    assert {key: study.space.settings[key] for key in SMALL} == SMALL
    # a run may take so long that the six runs of the confirmation need half of the time
    chosen = study.plan.options
    assert (chosen.minutes, chosen.trials, chosen.confirm, chosen.confirm_seeds) == (12.0, 2, 1, 3)
    assert chosen.run_minutes == 1.0
    assert "stop.minutes" not in study.space.settings  # nor in the command of the winner
    assert study.jobs == 2
    assert ask(options, "wait", runs=["mine"])["runs"][0]["status"] == "stopped"
    assert ask(options, "train", resume="mine")["study"] == "mine"
    assert started == ["mine", "mine"]


def test_the_default_space_is_that_of_the_algorithm(tmp_path: Path, started: list[str]):
    options = McpOptions(tmp_path / "runs")
    answer = ask(options, "train", target="CartPole-v1:ppo", search="default")
    assert "algo.gamma" in answer["parameters"]
    assert started == [answer["study"]]


def test_a_run_that_names_code_prevents_no_study_of_something_else(
    tmp_path: Path, started: list[str]
):
    options = McpOptions(tmp_path / "runs")
    text = "env: {id: 'py:os:system'}\n"
    facts = {"preset": "py:os:system:ppo", "env": "py:os:system", "algo": "ppo", "seed": 0}
    run = Run.create(options.runs_dir, config_text=text, provenance={}, **facts)
    assert run.config_code()
    answer = ask(options, "train", target="CartPole-v1:ppo", search="default")
    assert started == [answer["study"]]


def test_a_longer_time_per_run_than_allowed_is_cut(tmp_path: Path, started: list[str]):
    options = replace(McpOptions(tmp_path / "runs"), max_minutes=12.0)
    for minutes, expected in ((0.5, 0.5), (600, None), ("off", None)):
        arguments = {"target": "CartPole-v1", "search": SPACE}
        name = ask(options, "train", **arguments, overrides={"stop": {"minutes": minutes}})["study"]
        stored = studies.find(name, options.runs_dir)
        assert stored.space.settings.get("stop.minutes") == expected
        assert stored.plan.options.run_minutes == 1.0
    assert len(started) == 3
