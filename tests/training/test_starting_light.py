"""A command imports modules, reads files and starts processes only when it needs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gymnast.envs.backends.child import Child
from gymnast.import_object import PERMITTED_VARIABLE
from gymnast.training.loop import Loop
from tests.small_runs import train_small

FIRST_STEP = """
import json, os, sys
from gymnast.envs.build.fast_step.cartpole import FastCartPole
from gymnast.cli import main
from gymnast.config.source import Source
from gymnast.envs.backends.child import Child

parsed, started, read = [], [], Source.parse.__func__
Source.parse = classmethod(lambda cls, text, name="": parsed.append(name) or read(cls, text, name))
Child.__init__ = lambda child, module, on_output: started.append(module)

def step(env, action):
    report = {"modules": sorted(sys.modules), "parsed": parsed, "started": started}
    print(json.dumps(report), file=sys.stderr, flush=True)
    os._exit(0)

FastCartPole.step = step
sys.argv = ["gymnast", "train", "CartPole-v1"]
main()
"""


@pytest.fixture(scope="module")
def at_first_step(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns what `gymnast train CartPole-v1 | cat` has done before its first environment step."""
    env = {**os.environ, "GYMNAST_RUNS": str(tmp_path_factory.mktemp("runs"))}
    unset = ("FORCE_COLOR", "COLUMNS", PERMITTED_VARIABLE)
    env = {name: value for name, value in env.items() if name not in unset}
    command = [sys.executable, "-c", FIRST_STEP]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    return json.loads(done.stderr.splitlines()[-1])


def test_training_into_a_pipe_imports_no_unneeded_module(at_first_step):
    elsewhere = {"rich", "pandas", "av", "pygame", "psutil", "multiprocessing.pool"}
    ours = {"gymnast.jobs", "gymnast.insight", "gymnast.film.make", "gymnast.play.session"}
    loaded = set(at_first_step["modules"])
    assert not (elsewhere | ours) & loaded
    assert "gymnast.training.loop" in loaded


def test_only_the_named_preset_is_read_and_only_once(at_first_step):
    assert at_first_step["parsed"] == ["CartPole-v1.yaml"]


def test_no_process_is_started_before_the_first_step(at_first_step):
    assert at_first_step["started"] == []


def test_the_evaluation_process_imports_neither_torch_nor_user_interface_modules():
    code = "import sys, gymnast.evaluation.worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {"torch", "rich", "click", "ruamel.yaml", "pandas", "sqlite3"} & loaded


@pytest.mark.parametrize(("every", "starts"), [("4 rollouts", 1), ("off", 6)])
def test_the_evaluation_process_starts_early_if_it_is_certainly_needed(
    every: str, starts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It starts after `starts` rollouts: the first one, or all six if it only has to confirm."""
    start, started, loops = Child.__init__, list[int](), list[Loop]()

    def recorded_start(child: Child, module: str, on_output: Any) -> None:
        assert module == "gymnast.evaluation.worker"
        started.append(loops[0].session.clock.rollouts)
        start(child, module, on_output)

    train = Loop.train
    monkeypatch.setattr(Loop, "train", lambda loop: loops.append(loop) or train(loop))
    monkeypatch.setattr(Child, "__init__", recorded_start)
    settings = {"eval.mode": "process", "eval.every": every, "stop.rollouts": 6}
    train_small("CartPole-v1", settings | {"algo.n_steps": 8}, runs_dir=tmp_path)
    assert started == [starts]


def test_field_docs_are_those_of_the_class_that_declares_the_field_last():
    from gymnast.config.sections.dqn import DQNConfig
    from gymnast.config.sections.gradient import GradientSection

    assert (
        DQNConfig.field_docs()["gamma"]
        == GradientSection.field_docs()["gamma"]
        == "Discount factor per step."
    )
    assert DQNConfig.field_docs()["name"] == "The algorithm."
    assert GradientSection.field_docs()["name"] != "The algorithm."
