"""Settings that a W&B server chose become runs with exactly these settings, or errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gymnast.config.resolve import resolve
from gymnast.config.serialize import to_plain
from gymnast.errors import ConfigError, GymnastError, UsageError
from gymnast.jobs.detach import StartedRun
from gymnast.sweep import wandb_runs
from gymnast.sweep.wandb_runs import SweepRuns
from gymnast.sweep.wandb_server import Command, SweepPath
from gymnast.sweep.wandb_sweep import check_config, program_target
from gymnast.training.request import TrainRequest

PATH = SweepPath("team", "proj", "s1")
CHOSEN: list[dict[str, Any]] = [
    {"algo.lr": "3e-4 -> 0", "algo.clip": 0.1},
    {"algo.lr": {"0%": 1e-3, "100%": 0}, "algo": {"clip": "0.2 -> 0.05 @ 10%..80% cosine"}},
    {"algo": {"lr": "1e-3", "n_steps": 128.0}, "env": {"noise": {"sticky": "25%"}}},
    {"policy.hidden": [32, 32], "seed": 7, "stop.env_steps": "20k"},
]


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[TrainRequest]:
    """Returns the requests of the runs that would be started."""
    started: list[TrainRequest] = []

    def start_job(request: TrainRequest, *, runs_dir: Path, **_: object) -> StartedRun:
        started.append(request)
        return StartedRun("abcd1234", "started", 1, str(runs_dir / "abcd1234"))

    monkeypatch.setattr(wandb_runs, "start_job", start_job)
    return started


@pytest.mark.parametrize("chosen", CHOSEN, ids=str)
def test_the_config_of_a_run_has_exactly_the_values_of_the_server(
    chosen: dict[str, Any], requests: list[TrainRequest], runs_dir: Path
):
    runs = SweepRuns(PATH, "CartPole-v1:ppo", runs_dir, {"env.n_envs": 4})
    assert runs.start(Command("run", "r1", chosen)).status == "started"
    (request,) = requests
    trained = resolve(request.target, request.settings()).config
    expected = resolve("CartPole-v1:ppo", {**chosen, "env.n_envs": 4}).config
    assert {**to_plain(trained), "track": ""} == {**to_plain(expected), "track": ""}
    assert trained.track.sweep_config == chosen
    assert (trained.track.run_id, trained.track.sweep) == ("r1", "s1")
    assert (trained.track.entity, trained.track.project) == ("team", "proj")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"algo.learning_rate": 1e-3}, "algo.learning_rate: unknown key; did you mean algo.lr?"),
        ({"policy": {"hidden_dims": [8]}}, "policy.hidden_dims: unknown key"),
        ({"lr": 1e-3}, "lr: unknown key"),
        ({"policy.module": "py:os:system"}, "names code or a path: policy.module"),
        ({"env": {"id": "py:os:system"}}, "names code or a path: env.id"),
        ({"traces.data": "/etc"}, "names code or a path: traces.data"),
        ({"track.project": "other"}, "the sweep sets track.project, and so does the agent"),
        ({"env": {"n_envs": 8}}, "the sweep sets env.n_envs, and so does the agent"),
    ],
    ids=str,
)
def test_settings_that_would_be_lost_or_run_code_are_errors(
    settings: dict[str, Any], message: str, requests: list[TrainRequest], runs_dir: Path
):
    runs = SweepRuns(PATH, "CartPole-v1:ppo", runs_dir, {"env.n_envs": 4})
    with pytest.raises(UsageError) as raised:
        runs.start(Command("run", "r1", settings))
    assert message in str(raised.value)
    assert not requests


def test_settings_that_contradict_each_other_are_an_invalid_run(
    requests: list[TrainRequest], runs_dir: Path
):
    runs = SweepRuns(PATH, "CartPole-v1:ppo", runs_dir)
    run = runs.start(Command("run", "r1", {"algo.lr": -1.0}))
    assert (run.status, run.run) == ("invalid", "")
    assert "algo.lr" in run.reason
    assert not requests


def parameters(**specs: object) -> dict[str, Any]:
    return {"parameters": {key.replace("__", "."): spec for key, spec in specs.items()}}


def test_a_sweep_of_valid_parameters_is_accepted_before_it_starts():
    config = parameters(
        algo__lr={"distribution": "log_uniform_values", "min": "1e-5", "max": 1e-2},
        algo={
            "parameters": {"clip": {"values": ["0.2 -> 0.1", 0.3]}, "epochs": {"min": 2, "max": 9}}
        },
        algo__gamma={"distribution": "beta", "a": 5, "b": 1},
    )
    check_config(config, "CartPole-v1:ppo", PATH)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "has no parameters"),
        (
            parameters(learning_rate={"value": 1}),
            "learning_rate: unknown key; did you mean algo.lr?",
        ),
        (parameters(algo={"parameters": {"ent_coef": {"value": 1}}}), "algo.ent_coef: unknown key"),
        (parameters(hidden_dims={"distribution": "normal"}), "hidden_dims: unknown key"),
        (parameters(algo__lr={"value": "fast"}), "algo.lr: "),
        (parameters(algo__lr={"values": [1e-3, -1]}), "algo.lr: "),
        (parameters(algo__lr=0.1), "algo.lr: is no parameter"),
        (parameters(algo__lr={"min": 1}), "algo.lr: has no values"),
        (parameters(algo__lr={"minimum": 1, "max": 2}), "algo.lr.minimum: unknown key"),
        (parameters(algo__lr={"min": 2, "max": 1}), "algo.lr: min 2 and max 1 are no range"),
        (
            parameters(algo__lr={"distribution": "log_uniform_values", "min": 0, "max": 1}),
            "algo.lr: min 0 and max 1 are no range (0 < min < max)",
        ),
        (
            parameters(algo__lr={"distribution": "uniformly", "min": 0, "max": 1}),
            "unknown distribution 'uniformly' (expected `value:`, `values: [...]`, or `min:` and",
        ),
        (parameters(algo__lr={"values": [1], "probabilities": [0.5, 0.5]}), "has no values"),
        (parameters(policy__module={"values": ["off", "py:os:system"]}), "names code or a path"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_mistakes_in_a_sweep_are_reported_with_their_key(config: dict[str, Any], message: str):
    with pytest.raises(ConfigError) as raised:
        check_config(config, "CartPole-v1:ppo", PATH)
    assert message in str(raised.value)


@pytest.mark.parametrize("text", ["s1", "proj/s1", "team//s1", "a/b/c/d", ""])
def test_a_sweep_needs_its_whole_name(text: str):
    with pytest.raises(UsageError, match="does not name a W&B sweep"):
        SweepPath.parse(text)


@pytest.mark.parametrize(
    "text", ["team/proj/s1", "https://wandb.ai/team/proj/sweeps/s1?nw=me", "team/proj/s1/"]
)
def test_a_sweep_may_be_named_by_the_address_of_its_page(text: str):
    assert SweepPath.parse(text) == PATH


@pytest.mark.parametrize("program", ["", "train.py", "py:os:system"])
def test_the_program_of_a_sweep_must_be_an_environment_without_code(program: str):
    with pytest.raises(GymnastError, match="which is no environment"):
        program_target({"program": program}, PATH)
