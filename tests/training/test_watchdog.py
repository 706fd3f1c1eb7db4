"""A call of an in-process environment that hangs is reported and interrupted, or the process ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gymnast import api
from gymnast.envs.backends.active_calls import CONSTRUCTOR, START_SECONDS, ActiveCall
from gymnast.errors import EnvError
from gymnast.insight.page import run_page, runs_table
from gymnast.runs import checkpoint, store
from gymnast.training.live.watchdog import PreparationReport, Watchdog
from tests.e2e.run_differences import differences
from tests.scripted import Stuck
from tests.small_runs import SMALL, resume_run, train_small
from tests.waiting import PATIENCE

SETTINGS = {
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.rollouts": 2,
    "eval.every": "1 rollouts",
    "facts.deterministic": "yes",  # it is not tried out: the environment counts its calls
    "env.timeout": 0.5,
}


@pytest.fixture
def stuck_until() -> Iterator[Callable[[Callable[[], bool]], None]]:
    def use(until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        Stuck.calls, Stuck.until = 0, staticmethod(lambda: until() or time.monotonic() > deadline)

    yield use
    Stuck.until = staticmethod(lambda: True)


@pytest.mark.parametrize(
    ("where", "at", "copy", "step"),
    [("step", 10, 1, 5), ("reset", 5, 1, 0), ("step", 2 * 8 + 3, 2, 1)],
    ids=["step", "reset", "step of an inline evaluation"],
)
def test_a_call_that_hangs_is_reported_while_it_hangs_and_cleared_when_it_returns(
    where: str, at: int, copy: int, step: int, stuck_until, runs_dir: Path
):
    pages: list[str] = []

    def is_marked() -> bool:
        (run,) = api.runs().runs
        if pages:  # the calls after it wait until the watchdog has noticed that it returned
            return any(event.kind == "stall ended" for event in api.events(run.id).events)
        if run.status == "stalled" and any(runs_dir.glob("*/events.jsonl")):
            pages.append(runs_table([run]) + run_page(api.show(run.id)))
        return bool(pages)

    stuck_until(is_marked)
    kwargs = {"where": where, "at": at, "stubborn": True}
    run = train_small("Stuck", SETTINGS | {"env.kwargs": kwargs})
    assert run.info["status"] == "finished"
    (event,) = [event for event in run.events() if event["kind"] == "stalled"]
    assert (event["copy"], event["step"]) == (copy, step)
    assert "in wait_for_the_simulator" in event["traceback"]
    call = f"step() {step} of its episode" if step else "reset()"
    assert f"stalled: copy {copy} has been in {call} for more than 0.5 s" in pages[0]
    (ended,) = [event for event in run.events() if event["kind"] == "stall ended"]
    assert ended["lasted"] >= 0.5
    log = (run.path / "log.txt").read_text()
    assert "in wait_for_the_simulator" in log
    assert "training continues" in log


def test_a_call_that_is_interrupted_costs_its_episode(stuck_until):
    stuck_until(lambda: Stuck.calls != 10)  # only this call hangs
    run = train_small("Stuck", SETTINGS | {"env.kwargs": {"at": 10}})
    assert run.info["status"] == "finished"
    (fault,) = [event for event in run.events() if event["kind"] == "fault"]
    assert "CallTimedOut: took longer than env.timeout (0.5 s), in " in fault["what"]
    assert (fault["copy"], fault["step"]) == (1, 5)


def test_training_stops_at_a_call_that_hangs_if_it_must_not_restart_copies(stuck_until):
    stuck_until(lambda: Stuck.calls != 10)
    settings = SETTINGS | {"env.kwargs": {"at": 10}, "env.on_fault": "stop"}
    with pytest.raises(EnvError, match=r"took longer than env\.timeout"):
        train_small("Stuck", settings)
    assert api.runs().runs[0].status == "failed"


def test_a_call_that_hangs_before_there_is_a_run_ends_the_command(stuck_until, runs_dir: Path):
    stuck_until(lambda: False)
    settings = SETTINGS | {
        "env.kwargs": {"where": "reset", "at": 1},
        "facts.deterministic": "unknown",
    }
    with pytest.raises(EnvError, match=r"took longer than env\.timeout"):
        train_small("Stuck", settings)
    assert not runs_dir.exists()


@pytest.mark.parametrize("step", [CONSTRUCTOR, 0, 1])
def test_only_constructors_have_the_longer_limit_for_starting(step: int):
    limit = Watchdog(2.0, PreparationReport())._limit(ActiveCall("Stuck", None, step, 1))
    assert limit == (START_SECONDS if step == CONSTRUCTOR else 2.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "code", "status"),
    [("C code", 1, "failed"), ("C code with the interpreter lock", -signal.SIGKILL, "lost")],
)
def test_a_run_that_hangs_in_c_code_ends_and_continues_exactly_in_worker_processes(
    where: str, code: int, status: str, runs_dir: Path, tmp_path: Path
):
    trap = tmp_path / "trap"
    trap.touch()
    kwargs = {"where": where, "at": 60, "trap": str(trap)}
    settings = SMALL | SETTINGS | {"stop.rollouts": 6, "checkpoint.every": "1 rollouts"}
    settings["env.kwargs"] = json.dumps(kwargs)
    words = [f"--set={key}={value}" for key, value in settings.items()]
    command = [sys.executable, "-m", "gymnast", "train", "py:tests.scripted:Stuck", *words]
    ended = subprocess.run(
        [*command, "--name=hung", f"--runs={runs_dir}"], capture_output=True, text=True
    )
    assert ended.returncode == code, ended.stderr
    assert "error: " in ended.stderr
    hung, _ = store.resolve("hung", runs_dir)
    assert hung.status == status
    assert "wait_for_the_simulator" in (hung.path / "log.txt").read_text()
    assert checkpoint.latest(hung.path).step > 0
    trap.unlink()
    resume_run(hung, {"env.backend": "process"})
    (resumed,) = [event for event in hung.events() if event["kind"] == "resumed"]
    assert resumed["bit_exact"]
    fresh = train_small("Stuck", settings | {"env.kwargs": kwargs})
    assert not differences(hung, fresh)
