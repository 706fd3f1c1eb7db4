"""A process that an environment forks ends instead of training on, and the original is not affected."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from gymnast.envs.backends.backend import Backend
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.vector import VectorBackend
from tests.envs.backends import no_action, process_backend, reset_all
from tests.scripted import Forks
from tests.small_runs import train_small


def open_backend(kind: str, raises: bool) -> Backend:
    if kind == "process":
        return process_backend("py:tests.scripted:Forks", n_envs=2, kwargs={"raises": raises})
    if kind == "inprocess":
        return InProcessBackend(lambda: Forks(raises), 2, "Forks")
    copies = [lambda: Forks(raises)] * 2
    return VectorBackend(lambda: SyncVectorEnv(copies, autoreset_mode=AutoresetMode.DISABLED), "F")


@pytest.mark.skipif(sys.platform != "linux", reason="waits for forked processes")
@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("kind", ["inprocess", "vector", "process"])
def test_a_forked_process_that_returns_from_the_environment_ends(kind: str, raises: bool):
    envs = open_backend(kind, raises)
    try:
        assert reset_all(envs, [0, 1]) == ()
        envs.step(no_action(envs))
        step = envs.step(no_action(envs))
        assert step.faults == ()
        assert step.reward.tolist() == [1.0, 1.0]  # the exit codes of the forked processes
    finally:
        envs.close()


def test_an_environment_that_changes_the_working_directory_does_not_move_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    settings = {"env.kwargs": {"folder": str(elsewhere)}, "stop.rollouts": 2, "env.n_envs": 2}
    run = train_small("Wanders", settings | {"algo.n_steps": 16}, runs_dir="relative")
    assert run.path.parent == tmp_path / "relative"
    assert run.info["status"] == "finished"
    assert list(elsewhere.iterdir()) == []


def test_commands_work_with_closed_standard_streams(tmp_path: Path):
    code = "import os, sys; os.closerange(0, 2); os.execv(sys.executable, sys.argv[1:])"
    command = [sys.executable, "-m", "gymnast", "train", "CartPole-v1", "--quiet"]
    command += ["--rollouts", "1", "--runs", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", code, *command], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
