"""Trap 57: engines started by an environment outlived their trainer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.e2e.commands import small_settings
from tests.waiting import wait_for

BACKENDS = """
import json, sys, gymnasium
from gymnasium.vector import SyncVectorEnv
from gymnast.config.episode_limit import ENV_LIMIT
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.open import open_envs
from tests.scripted import Spawns

backend, kwargs = sys.argv[1], json.loads(sys.argv[2])
gymnasium.register("Spawns-v0", vector_entry_point=lambda num_envs, **kwargs: SyncVectorEnv(
    [lambda: Spawns(**kwargs) for _ in range(num_envs)]))
cfg = EnvConfig(id="Spawns-v0" if backend == "vector" else "py:tests.scripted:Spawns",
    kwargs=kwargs, backend=backend, n_envs=2, workers=1)
envs = open_envs(cfg, limit=ENV_LIMIT, on_output=print)
envs.reset(range(2), range(2))
if backend == "process":
    print(envs.workers[0].pid, flush=True)
sys.stdin.read()
"""


def lives(pid: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    return False


def engines(folder: Path) -> list[int]:
    return [int(file.name) for file in folder.iterdir()]


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([sys.executable, *words], **pipes)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("backend", "how", "when"),
    [
        ("inprocess", "program", "init"),
        ("inprocess", "session", "reset"),
        ("inprocess", "fork", "reset"),
        ("process", "program", "reset"),
        ("process", "fork", "init"),
        ("vector", "session", "init"),
    ],
)
def test_57_no_process_of_an_environment_outlives_its_trainer(
    backend: str, how: str, when: str, tmp_path: Path
):
    kwargs = json.dumps({"folder": str(tmp_path), "how": how, "when": when})
    with running("-c", BACKENDS, backend, kwargs) as trainer:
        wait_for(lambda: len(engines(tmp_path)) == 2)
        wait_for(lambda: has_guardian(trainer.pid))
        assert all(lives(pid) for pid in engines(tmp_path))
        trainer.kill()
        wait_for(lambda: not any(lives(pid) for pid in engines(tmp_path)))


def has_guardian(pid: int) -> bool:
    """True if the process, or one of its workers, has a guardian."""
    for child in psutil.Process(pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            if any(word.endswith("guardian.py") for word in child.cmdline()):
                return True
    return False


def test_57_engine_processes_of_a_killed_worker_end_before_the_end_of_training(tmp_path: Path):
    kwargs = json.dumps({"folder": str(tmp_path)})
    with running("-c", BACKENDS, "process", kwargs) as trainer:
        assert trainer.stdout is not None
        os.kill(int(trainer.stdout.readline()), signal.SIGKILL)
        wait_for(lambda: not any(lives(pid) for pid in engines(tmp_path)))
        assert trainer.poll() is None


@pytest.mark.parametrize("verb", ["train", "check"])
def test_57_no_process_of_an_environment_outlives_a_command(verb: str, tmp_path: Path):
    folder, runs = tmp_path / "engines", tmp_path / "runs"
    folder.mkdir()
    words = [verb, "py:tests.scripted:Spawns", "--runs", str(runs)]
    words += ["--set", f"env.kwargs={{folder: {folder}}}"]
    if verb == "train":  # with an evaluation process, whose environments start engines too
        words += ["--env-steps", "50M", *small_settings("eval.every=1 rollouts", "eval.n_envs=2")]
    else:
        words += ["--steps", "100000000"]
    with running("-m", "gymnast", *words) as command:
        wait_for(lambda: len(engines(folder)) >= (7 if verb == "train" else 1))
        wait_for(lambda: has_guardian(command.pid))
        command.kill()
        wait_for(lambda: not any(lives(pid) for pid in engines(folder)))


def test_57_a_fork_that_first_runs_after_the_end_of_its_trainer_ends_too():
    script = (
        "import os, sys, time\n"
        "os.register_at_fork(after_in_child=lambda: time.sleep(0.5))\n"  # before it reports itself
        "from gymnast.processes import guard\n"
        "guard.start()\n"
        "engine = os.fork()\n"
        "while engine == 0:\n"
        "    time.sleep(3600)\n"
        "print(engine, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with running("-c", script) as trainer:
        assert trainer.stdout is not None
        engine = int(trainer.stdout.readline())
        try:
            trainer.kill()
            wait_for(lambda: not lives(engine))
        finally:
            with suppress(ProcessLookupError):
                os.kill(engine, signal.SIGKILL)


@pytest.mark.parametrize("parent", ["lives", "has ended"])
def test_57_a_process_that_hides_its_variables_ends_with_its_trainer(tmp_path: Path, parent: str):
    """Ray's processes overwrite theirs with a title. The folder of a cluster is removed as well."""
    folder = tmp_path / "cluster"
    (folder / "session").mkdir(parents=True)
    script = (
        "import subprocess, sys\n"
        "from pathlib import Path\n"
        "from gymnast.processes import guard\n"
        "guard.start()\n"
        f"guard.remove_at_end(Path({str(folder)!r}))\n"
        'hidden = \'import subprocess, sys, time; sleep = [sys.executable, "-S", "-c", \'\n'
        "hidden += '\"import time; time.sleep(3600)\"]; '\n"
        "hidden += 'print(subprocess.Popen(sleep, env={}).pid, flush=True); time.sleep(3600)'\n"
        "program = [sys.executable, '-S', '-c', hidden]\n"
        "parent = subprocess.Popen(program, stdout=subprocess.PIPE, start_new_session=True)\n"
        "pid = int(parent.stdout.readline())\n"
        "guard.report_descendants()\n"
        f"parent.kill() if {parent!r} == 'has ended' else None\n"
        "print(pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with running("-c", script) as trainer:
        assert trainer.stdout is not None
        hidden = int(trainer.stdout.readline())
        try:
            assert (folder / "session").exists()
            trainer.kill()
            wait_for(lambda: not lives(hidden))
            wait_for(lambda: not folder.exists())
        finally:
            with suppress(ProcessLookupError):
                os.kill(hidden, signal.SIGKILL)


def test_57_processes_meant_to_outlive_a_trainer_do():
    script = (
        "import subprocess, sys\n"
        "from gymnast.processes import guard\n"
        "guard.start()\n"
        "sleep = [sys.executable, '-S', '-c', 'import time; time.sleep(3600)']\n"
        "engine = subprocess.Popen(sleep)\n"
        "film = subprocess.Popen(sleep, env=guard.detached_environ())\n"
        "guard.unmark()\n"
        "later = subprocess.Popen(sleep)\n"
        "print(engine.pid, film.pid, later.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with running("-c", script) as trainer:
        assert trainer.stdout is not None
        engine, *spared = (int(word) for word in trainer.stdout.readline().split())
        try:
            trainer.kill()
            wait_for(lambda: not lives(engine))
            assert all(lives(pid) for pid in spared)
        finally:
            for pid in spared:
                os.kill(pid, signal.SIGKILL)


def test_57_vizdoom_engines_end_with_their_trainer():
    script = (
        "import sys\n"
        "from gymnast.config.sections.env import EnvConfig\n"
        "from gymnast.envs.build.make import make_env\n"
        "env = make_env(EnvConfig(id='VizdoomBasic-v1'))\n"
        "env.reset(seed=0)\n"
        "print('begun', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with running("-c", script) as trainer:
        assert trainer.stdout is not None
        assert trainer.stdout.readline() == b"begun\n"
        started = psutil.Process(trainer.pid).children(recursive=True)
        engine = [child.pid for child in started if child.name() == "vizdoom"]
        assert len(engine) == 1
        trainer.kill()
        wait_for(lambda: not any(lives(child.pid) for child in started))
