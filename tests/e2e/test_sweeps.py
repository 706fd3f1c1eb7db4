"""Sweeps from the command line with real runs: start, kills, resume, and what is left of a study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import GymnastError
from gymnast.runs import store
from gymnast.runs.checkpoint import list_checkpoints
from gymnast.runs.run import Run
from tests.e2e.sweep_kills import kill_and_compare

SPACE = """
target: CartPole-v1:ppo
settings: {stop.env_steps: 1280, stop.eval_return: off, env.n_envs: 4, algo.n_steps: 16,
  algo.batch_size: 50%, policy.hidden: [8], eval.every: 25%, eval.episodes: 4, eval.n_envs: 4}
parameters:
  algo.lr: {low: 1e-3, high: 1e-1, log: true}
search: {trials: 3, seeds: 1, rungs: 2, eta: 3, confirm_seeds: 1, sampler: random}
"""


def gymnast(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.mark.slow
def test_a_sweep_is_the_same_after_kills_of_its_process_and_of_its_trials(tmp_path: Path):
    report = kill_and_compare(20, seed=3, folder=tmp_path, trials=4)
    assert report.holds, report
    assert report.kills_of_parent > 0
    assert report.kills_of_trials > 0


@pytest.mark.slow
def test_a_sweep_from_its_start_to_its_removal(tmp_path: Path, runs_dir: Path):
    file = tmp_path / "space.yaml"
    file.write_text(SPACE)
    started = gymnast("sweep", "start", str(file), "--name", "small", "--jobs", "2", "--json")
    assert started.exit_code == 0, started.output
    best = json.loads(started.stdout)
    assert best["confirmation"]["verdict"]
    listed = json.loads(gymnast("sweep", "list", "--json").stdout)
    assert [(one["name"], one["status"], one["trials"]) for one in listed] == [
        ("small", "finished", 4)
    ]

    # Trials are ordinary runs, which pause at their rungs; those of losers keep no checkpoint.
    status = api.sweep_status("small")
    runs = {run.name: run for run in store.list_runs(runs_dir, "tag=small")}
    for trial in status.trials:
        (seed,) = trial.seeds
        assert runs[seed.name].id == seed.run
        assert seed.env_steps in status.rungs or seed.env_steps == trial.env_steps
        kept = list_checkpoints(Path(runs[seed.name].path))
        assert bool(kept) == (trial.rank == 1), trial
    winner = min(status.trials, key=lambda trial: trial.rank)
    configured = Run(Path(runs[winner.seeds[0].name].path)).config()
    for key, value in winner.overrides.items():
        assert key == "algo.lr"
        assert configured.algo.lr.highest == value  # pyright: ignore[reportAttributeAccessIssue]

    # A larger number of trials continues a study that was over, with the same first trials.
    resumed = gymnast("sweep", "resume", "small", "--trials", "4", "--json")
    assert resumed.exit_code == 0, resumed.output
    more = api.sweep_status("small")
    assert len(more.trials) == 5
    assert [t.assignment for t in more.trials[:4]] == [t.assignment for t in status.trials]
    for words in (["status"], ["best"], ["list"], ["best", "--patch"]):
        shown = gymnast("sweep", *words)
        assert shown.exit_code == 0, shown.output
    assert gymnast("sweep", "rm", "small", "--with-runs", "--yes").exit_code == 0
    assert api.sweep_list() == []
    assert not store.list_runs(runs_dir, "tag=small")


@pytest.mark.slow
def test_members_of_a_population_continue_from_the_checkpoint_that_they_copy(
    tmp_path: Path, runs_dir: Path
):
    file = tmp_path / "space.yaml"
    file.write_text(SPACE.replace("trials: 3", "population: 3, generations: 2"))
    started = gymnast("sweep", "start", str(file), "--pbt", "--name", "pop", "--json")
    assert started.exit_code == 0, started.output
    status = api.sweep_status("pop")
    assert [trial.state for trial in status.trials] == ["complete"] * 6
    runs = {run.name: run for run in store.list_runs(runs_dir, "tag=pop")}
    for trial in status.trials[3:]:
        assert trial.source is not None
        parent = runs[status.trials[trial.source].seeds[0].name]
        info = Run(Path(runs[trial.seeds[0].name].path)).info
        assert parent.id in str(info["parent"])
    refused = gymnast("sweep", "start", str(file), "--pbt", "--trials", "3")
    assert isinstance(refused.exception, GymnastError)
    assert "population-based training has no number of trials" in str(refused.exception)


def test_a_wrong_space_is_an_error_before_anything_is_written(tmp_path: Path, runs_dir: Path):
    file = tmp_path / "space.yaml"
    file.write_text(SPACE.replace("algo.lr", "algo.learning_rate"))
    result = gymnast("sweep", "start", str(file))
    assert isinstance(result.exception, GymnastError)
    assert "space.yaml:6: algo.learning_rate: unknown key; did you mean algo.lr?" in str(
        result.exception
    )
    missing = gymnast("sweep", "start", str(tmp_path / "nothing.yaml"))
    assert isinstance(missing.exception, GymnastError)
    assert "cannot be read" in str(missing.exception)
    assert api.sweep_list() == []
    assert not runs_dir.exists() or not store.list_runs(runs_dir)


def test_a_dry_run_says_what_a_search_takes_and_writes_nothing(tmp_path: Path):
    file = tmp_path / "space.yaml"
    file.write_text(SPACE)
    plan = json.loads(gymnast("sweep", "start", str(file), "--dry-run", "--json").stdout)
    assert plan["trials"] == 4
    assert plan["rungs"] == [320, 1280]  # rungs are evaluation points
    assert plan["env_steps"] >= 4 * 320 + 1280
    assert plan["minutes"] > 0
    assert 0 < plan["bytes"] < plan["free_bytes"]
    assert api.sweep_list() == []
