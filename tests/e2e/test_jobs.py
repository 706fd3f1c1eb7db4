"""Background jobs and the commands that control them.

The commands run within this process, which saves their startup time; the jobs are real processes.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gymnast.jobs import status
from gymnast.runs import checkpoint, lock
from gymnast.runs.run import Run
from tests.e2e.commands import read_json, run_here, small_settings
from tests.small_runs import train_small
from tests.waiting import wait_for

CHEAP = small_settings("eval.mode=inline", "stop.solved=off")


def refused(runs: Path, code: int, said: str, *words: str) -> None:
    done = run_here(runs, *words)
    assert (done.returncode, said in done.stderr) == (code, True), done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2
    assert "Traceback" not in done.stderr


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Path]:
    """Returns a runs directory; its jobs are killed after the test."""
    yield tmp_path
    for job in status.live_jobs(tmp_path):
        os.kill(job.pid, signal.SIGKILL)


def detach(runs: Path, steps: str, *more: str) -> Any:
    goal = ("--set", "stop.eval_return=off")  # it must not end when it reaches the goal
    words = ("--env-steps", steps, "--max-jobs", "1", *CHEAP, *goal, *more)
    return read_json(runs, "train", "CartPole-v1", "--detach", *words)


def status_of(job: dict[str, Any]) -> str:
    return status.read_status(Path(job["path"])).status


def test_jobs_are_queued_controlled_killed_and_waited_for(runs: Path):
    long, victim = detach(runs, "50M", "--name", "long"), detach(runs, "50M", "--name", "victim")
    never, group = detach(runs, "512", "--name", "never"), detach(runs, "512", "--seeds", "2")
    last = group["runs"]
    statuses = [job["status"] for job in (long, victim, never, *last)]
    assert statuses == ["started", *["queued"] * 4]
    assert os.getsid(long["pid"]) == long["pid"], "closing a terminal does not stop it"
    ids = [job["id"] for job in (*last[::-1], never, victim, long)]
    assert [job["id"] for job in read_json(runs, "jobs")] == ids
    train = ("train", "CartPole-v1", "--detach")
    refused(runs, 2, f"is taken by job {victim['id']}", *train, "--name", "victim")
    refused(runs, 1, "does not train yet", "set", "victim", "algo.lr=1")
    assert "removed from the queue" in run_here(runs, "stop", "never").stdout
    wait_for(lambda: not Path(never["path"]).exists())

    wait_for(lambda: status_of(long) == "running")
    assert [job["status"] for job in read_json(runs, "wait", "long", "--timeout", "0", code=1)] == [
        "running"
    ]
    _send_every_command(runs)
    assert [stopped["status"] for stopped in read_json(runs, "stop", "long")] == ["stopped"]
    assert not lock.has_writer(Path(long["path"])), "it can be resumed at once"
    refused(runs, 1, "is stopped (stopped by command)", "stop", "long")

    wait_for(lambda: status_of(victim) == "running")
    os.kill(victim["pid"], signal.SIGKILL)
    (lost,) = read_json(runs, "wait", victim["id"][:6], code=1)
    assert lost["status"] == "lost"
    followed = run_here(runs, "logs", "-f", last[0]["id"])
    assert followed.returncode == 0
    lines = followed.stdout.splitlines(keepends=True)
    assert "gymnast show" in lines[-2]
    assert lines[-1] == run_here(runs, "logs", last[0]["id"], "-n", "1").stdout
    ended = read_json(runs, "wait", "long", "never", group["group"])
    statuses = {job["id"]: job["status"] for job in ended}
    assert statuses == {
        long["id"]: "stopped",
        never["id"]: "stopped",
        **{job["id"]: "finished" for job in last},
    }
    listed = read_json(runs, "runs", f"group={group['group']}")["runs"]
    assert sorted(run["seed"] for run in listed) == [0, 1]
    codes = wait_for(lambda: _exit_codes(runs))
    assert codes == [0, 0, 0, None, 0]


def _send_every_command(runs: Path) -> None:
    result = read_json(runs, "set", "long", "algo.lr=1e-4 -> 0", "algo.target_kl=0.02")
    assert [change["key"] for change in result["changes"]] == ["algo.lr", "algo.target_kl"]
    assert read_json(runs, "show", "long")["live"] == {
        "algo.lr": "0.0001 -> 0",
        "algo.target_kl": 0.02,
    }
    refused(runs, 2, "did you mean algo.lr", "set", "long", "algo.lrr=1")
    refused(runs, 2, "algo.lr", "set", "long", "algo.lr=fast")
    refused(runs, 2, "algo.lr", "set", "long", "algo.lr=.nan")
    refused(runs, 2, "settings that can: algo.", "set", "long", "env.n_envs=3")
    refused(runs, 1, "is not paused", "unpause", "long")
    refused(runs, 1, "no run is called", "stop", "nobody")
    assert read_json(runs, "eval", "long", "--live")["score"]["episodes"] == 4
    saved = read_json(runs, "checkpoint", "long")["env_steps"]
    assert saved in read_json(runs, "show", "long")["checkpoints"]["steps"]
    assert read_json(runs, "pause", "long")["status"] == "paused"
    assert read_json(runs, "jobs")[-1]["status"] == "paused"
    assert read_json(runs, "unpause", "long")["status"] == "running"


def _exit_codes(runs: Path) -> list[int | None] | None:
    """Returns the exit codes of all jobs, None until each job that can has recorded its own."""
    found = [job["exit_code"] for job in read_json(runs, "jobs")]
    return found if found.count(None) == 1 else None


@pytest.mark.usefixtures("tasks_here")
def test_an_invalid_job_is_rejected_at_once_and_leaves_no_files(runs: Path):
    for words, code in (
        (("CartPole-v1", "--set", "algo.lrr=1"), 2),
        (("NoSuchThing-v9",), 1),
        (("CartPole-v1", "--from", "nothing"), 1),
        (("CartPole-v1", "--name", "a/b"), 1),
    ):
        refused(runs, code, "error:", "train", *words, "--detach")
    planned = read_json(runs, "train", "CartPole-v1", "--detach", "--seeds", "2", "--dry-run")
    assert planned["seeds"] == [0, 1]
    assert read_json(runs, "jobs") == []
    assert not list(runs.glob("[a-z]*"))


FRAGILE = """
import os, gymnasium as gym
class Fragile(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(2)
    def __init__(self):
        if os.path.exists(os.environ["FRAGILE"]):
            raise RuntimeError("made of glass")
    def reset(self, seed=None, options=None): return 0, {}
    def step(self, action): return 0, 0.0, False, True, {}
"""


def test_a_job_that_fails_before_it_has_a_run_keeps_its_error_message(
    runs: Path, monkeypatch: pytest.MonkeyPatch
):
    """The environment fails only in the job: once the runs directory exists."""
    (runs / "fragile_environment.py").write_text(FRAGILE)
    monkeypatch.setenv("FRAGILE", str(runs / "here" / ".jobs"))
    monkeypatch.syspath_prepend(str(runs))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    target = "py:fragile_environment:Fragile"
    job = read_json(runs / "here", "train", target, "--detach")
    waited = run_here(runs / "here", "wait", job["id"])
    assert (waited.returncode, "failed" in waited.stdout) == (1, True)
    (listed,) = read_json(runs / "here", "jobs")
    assert (listed["status"], listed["exit_code"]) == ("failed", 1)
    assert "made of glass" in listed["words"]
    assert "made of glass" in run_here(runs / "here", "logs", job["id"]).stdout
    assert not Path(job["path"]).exists()


def test_a_name_cannot_be_used_twice(runs_dir: Path):
    run = train_small("CartPole-v1", {"stop.rollouts": 1}, name="mine")
    for taken in ("mine", run.id):
        refused(runs_dir, 1, "gymnast resume", "train", "CartPole-v1", "--name", taken)
    assert [info["id"] for info in read_json(runs_dir, "runs")["runs"]] == [run.id]


@pytest.mark.slow
def test_killing_the_launcher_of_a_group_ends_its_children_with_a_checkpoint(tmp_path: Path):
    words = ["train", "CartPole-v1", "--seeds", "2", "--jobs", "2", "--env-steps", "50M"]
    words += [*CHEAP, "--runs", str(tmp_path)]
    launcher = subprocess.Popen([sys.executable, "-m", "gymnast", *words], stdout=subprocess.PIPE)
    try:
        found = wait_for(lambda: _going(tmp_path))
    finally:
        launcher.kill()
        launcher.communicate()
    for run in found:
        wait_for(lambda run=run: run.status == "stopped")
        assert run.info["reason"] == "interrupted by SIGHUP"
        assert checkpoint.latest(run.path).step == run.info["clocks"]["env_steps"] > 0


def _going(runs: Path) -> list[Run]:
    found = [Run(file.parent) for file in runs.glob("*/run.json")]
    going = [run for run in found if run.info["clocks"].get("rollouts", 0) > 0]
    return going if len(going) == 2 else []
