"""Worker processes that die, hang or cannot start are named, restarted and never left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.backends.process import ProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError
from tests.envs.backends import (
    follows_script,
    no_action,
    process_backend,
    reset_all,
    step_repeatedly,
)
from tests.scripted import faulty_seeds
from tests.waiting import wait_for


@dataclass
class Hasty:
    """Workers with a timeout of 1.5 seconds, and what their environments print."""

    envs: ProcessBackend
    printed: list[str]
    trap: Path
    """While this file exists, no copy can be created."""


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hasty]:
    trap, printed = tmp_path_factory.mktemp("trap") / "trap", list[str]()
    envs = process_backend(kwargs={"trap": str(trap)}, timeout=1.5, on_output=printed.append)
    yield Hasty(envs, printed, trap)
    envs.close()


def works_again(envs: Any, copies: list[int]) -> None:
    assert envs.reset(copies, [30 + copy for copy in copies]) == ()
    step = envs.step(no_action(envs))
    assert step.faults == ()
    assert all(follows_script(step, copy, 30 + copy, 1) for copy in copies)


# ---- crashes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "cause"),
    {
        "killed": "its worker process was killed by SIGKILL "
        "(signal 9: by a user, or by the kernel when memory ran out)",
        "os._exit": "its worker process exited with code 3",
        "segfault": "its worker process was killed by SIGSEGV",
    }.items(),
)
def test_a_worker_that_dies_is_a_fault_of_each_copy_and_is_restarted(
    workers: Any, how: str, cause: str
):
    seeds = faulty_seeds(how, 3)
    assert reset_all(workers, seeds) == ()
    step = step_repeatedly(workers, 3)
    assert all(follows_script(step, i, seeds[i], 3) for i in (0, 1))
    guilty, other = step.faults
    assert (guilty.copy, guilty.step, guilty.message) == (2, 3, cause)
    assert (guilty.is_bystander, other.is_bystander) == (False, True)
    assert (other.copy, other.message) == (3, f"{cause}; it was running copy 2")
    assert ("scripted.py" in guilty.traceback) == (how == "segfault")
    assert not (step.terminated | step.truncated).any()
    works_again(workers, [2, 3])
    assert np.array_equal(workers.obs[0], step.obs[0])


def test_a_worker_killed_while_idle_is_noticed_by_the_next_step(workers: Any):
    reset_all(workers, faulty_seeds("slow", 40))
    os.kill(workers.workers[1].pid, signal.SIGKILL)
    faults = workers.step(no_action(workers)).faults
    assert [fault.copy for fault in faults] == [2, 3]
    assert all("was killed by SIGKILL" in fault.message for fault in faults)
    works_again(workers, [2, 3])


def test_a_copy_lost_in_the_reset_of_another_is_reported_by_its_next_step(workers: Any):
    reset_all(workers, [10, 11, 12, 13])
    (guilty,) = workers.reset([2], [faulty_seeds("killed", 0)[2]])
    assert (guilty.copy, guilty.step) == (2, 0)
    assert workers.reset([2], [44]) == ()
    step = workers.step(no_action(workers))
    (other,) = step.faults
    assert (other.copy, other.step) == (3, 0)
    assert "; it was running copy 2" in other.message
    assert follows_script(step, 0, 10, 1)
    assert follows_script(step, 2, 44, 1)
    works_again(workers, [3])


def test_signals_to_the_trainer_do_not_reach_workers(workers: Any):
    seeds = faulty_seeds("slow", 40)
    reset_all(workers, seeds)
    for worker in workers.workers:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            os.kill(worker.pid, number)
    step = workers.step(no_action(workers))
    assert step.faults == ()
    assert all(follows_script(step, i, seeds[i], 1) for i in range(4))


# ---- hangs -----------------------------------------------------------------------------------


def test_a_worker_that_hangs_is_killed_and_its_stack_reported(hasty: Hasty):
    seeds = faulty_seeds("hangs", 2)
    reset_all(hasty.envs, seeds)
    step = step_repeatedly(hasty.envs, 2)
    cause = "its worker process took longer than env.timeout (1.5 s) and was killed"
    assert [(fault.copy, fault.step) for fault in step.faults] == [(2, 2), (3, 2)]
    assert step.faults[0].message == cause
    assert "in _happen" in step.faults[0].traceback
    assert all(follows_script(step, i, seeds[i], 2) for i in (0, 1))
    works_again(hasty.envs, [2, 3])


def test_workers_that_hang_together_are_all_named_and_get_their_full_timeout_afterwards(
    hasty: Hasty,
):
    hangs, slow = faulty_seeds("hangs", 1)[2], faulty_seeds("slow", 1)[2]
    reset_all(hasty.envs, [hangs, 11, hangs, 13])
    assert len(hasty.envs.step(no_action(hasty.envs)).faults) == 4
    reset_all(hasty.envs, [slow, 11, slow, 13])
    assert hasty.envs.step(no_action(hasty.envs)).faults == ()


def test_a_worker_that_dies_does_not_shorten_the_timeout_of_another(workers: Any):
    dies, slow = faulty_seeds("os._exit", 1)[2], faulty_seeds("slow", 1)[2]
    reset_all(workers, [dies, 11, slow, 13])
    step = workers.step(no_action(workers))
    assert [fault.copy for fault in step.faults] == [0, 1]
    assert follows_script(step, 2, slow, 1)
    works_again(workers, [0, 1])


def test_a_slow_copy_is_not_a_fault(hasty: Hasty):
    seeds = faulty_seeds("slow", 2)
    reset_all(hasty.envs, seeds)
    step = step_repeatedly(hasty.envs, 2)
    assert step.faults == ()
    assert all(follows_script(step, i, seeds[i], 2) for i in range(4))


# ---- creation --------------------------------------------------------------------------------


def test_a_copy_that_cannot_be_recreated_stays_broken_until_it_can(hasty: Hasty):
    envs = hasty.envs
    reset_all(envs, faulty_seeds("raises", 1))
    assert [fault.copy for fault in step_repeatedly(envs, 1).faults] == [2]
    hasty.trap.touch()
    (fault,) = envs.reset([2], [50])
    assert (fault.copy, fault.step) == (2, 0)
    assert "cannot be created: RuntimeError: no room for another" in fault.message
    hasty.trap.unlink()
    works_again(envs, [2])


def test_a_worker_that_cannot_be_restarted_is_a_fault_until_it_can(hasty: Hasty):
    envs = hasty.envs
    reset_all(envs, faulty_seeds("os._exit", 1))
    assert len(step_repeatedly(envs, 1).faults) == 2
    hasty.trap.touch()
    faults = envs.reset([2, 3], [50, 51])
    assert [fault.copy for fault in faults] == [2, 3]
    assert all("RuntimeError: no room for another" in fault.message for fault in faults)
    assert "scripted.py" in faults[0].traceback
    hasty.trap.unlink()
    works_again(envs, [2, 3])


@pytest.mark.parametrize(
    ("id", "kwargs"),
    [
        ("py:tests.scripted:Script", {"color": "red"}),
        ("py:tests.scripted:Shaky", {"trap": __file__}),
    ],
)
def test_environments_that_cannot_be_created_are_refused_as_in_process(id: str, kwargs: dict):
    cfg = EnvConfig(id=id, kwargs=kwargs, n_envs=1)
    with pytest.raises(EnvError) as here:
        InProcessBackend(lambda: make_env(cfg), 1, id)
    with pytest.raises(EnvError) as there:
        ProcessBackend(cfg, on_output=print)
    assert str(there.value) == str(here.value)


def test_a_worker_that_dies_while_creating_copies_is_named():
    with pytest.raises(EnvError, match="cannot be created: its worker process exited with code 7"):
        ProcessBackend(EnvConfig(id="py:tests.scripted:Stillborn", n_envs=1), on_output=print)


# ---- communication ---------------------------------------------------------------------------


def test_the_output_of_an_environment_is_passed_on(hasty: Hasty):
    reset_all(hasty.envs, faulty_seeds("prints", 0))
    wait_for(lambda: any("the pole is loose" in line for line in list(hasty.printed)))
    assert "environment worker 1: hello from the environment" in hasty.printed


def test_an_environment_may_keep_its_action_array():
    envs = process_backend("py:tests.scripted:Remembers", n_envs=2, workers=1)
    envs.reset([0, 1], [1, 2])
    given = np.arange(20, dtype=np.float32).reshape(5, 2, 2) / 10
    for t, action in enumerate(given):
        assert np.array_equal(envs.step(action).obs, given[t - 1] if t else np.zeros((2, 2)))
    envs.close()
    envs.close()


def test_no_worker_outlives_a_killed_trainer_even_if_it_hangs():
    script = (
        "from tests.envs.backends import process_backend, reset_all, step_repeatedly\n"
        "from tests.scripted import faulty_seeds\n"
        "envs = process_backend()\n"
        "reset_all(envs, faulty_seeds('hangs', 1))\n"
        "print(*(worker.pid for worker in envs.workers), flush=True)\n"
        "step_repeatedly(envs, 1)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as trainer:
        assert trainer.stdout is not None
        pids = [int(word) for word in trainer.stdout.readline().split()]
        trainer.kill()
    assert len(pids) == 2
    wait_for(lambda: not any(psutil.pid_exists(pid) for pid in pids))
