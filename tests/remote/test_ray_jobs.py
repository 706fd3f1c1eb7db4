"""Whole runs in a Ray cluster on this machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gymnast.errors import CommandFailed
from gymnast.jobs import record
from gymnast.jobs.remote.call import call_provider
from gymnast.jobs.remote.provider import find_provider
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.e2e.commands import read_json
from tests.remote.test_jobs_elsewhere import preemption, statuses, train, undisturbed, weights
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cluster")]


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Returns the address of a cluster with one core, of which nothing is left after the test."""
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("HOME", str(tmp_path))  # Ray writes files there
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # sockets need a short path
    program = Path(sys.executable).with_name("ray")
    options = ("--num-cpus=1", "--include-dashboard=false", f"--temp-dir={folder}")
    command = [
        program,
        "start",
        "--head",
        "--block",
        "--node-ip-address=127.0.0.1",
        f"--port={port}",
    ]
    head = subprocess.Popen(
        [*command, *options, "--object-store-memory=80000000", "--disable-usage-stats"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: _accepts(port))
        yield f"127.0.0.1:{port}"
    finally:
        left = psutil.Process(head.pid).children(recursive=True)
        left += [process for process in psutil.process_iter() if folder in _command(process)]
        for process in (head, *left):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        head.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _command(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def test_runs_in_ray_wait_for_a_core_survive_signals_and_killed_actors_and_are_stopped(
    address: str, runs_dir: Path, tmp_path: Path
):
    on = ("--jobs-on", f"ray:{address}", "--requeue")
    long = train(runs_dir, *on, **{"stop.env_steps": 50_000_000, "checkpoint.every": "1 rollouts"})
    wait_for(lambda: statuses(runs_dir)[long["id"]] == "running")
    preempted = train(runs_dir, *on, **preemption(tmp_path / "marker", "SIGTERM"))
    assert statuses(runs_dir)[preempted["id"]] == "queued", "the cluster has one core"
    run = Run(runs_dir / long["id"])
    wait_for(lambda: checkpoint.list_checkpoints(run.path))
    trainer = psutil.Process(record.read(record.jobs_dir(runs_dir), run.id).get("pid"))
    trainer.parent().kill()  # the actor; Ray creates it again
    wait_for(lambda: not trainer.is_running() or trainer.status() == psutil.STATUS_ZOMBIE)
    wait_for(lambda: run.info["attempts"] == 2 and statuses(runs_dir)[run.id] == "running")
    (stopped,) = read_json(runs_dir, "stop", run.id)
    assert (stopped["status"], stopped["answered"]) == ("stopped", True)

    (ended,) = read_json(runs_dir, "wait", preempted["id"])
    assert ended["status"] == "finished"
    assert Run(runs_dir / preempted["id"]).info["attempts"] == 2
    assert weights(runs_dir, preempted["id"]) == undisturbed(runs_dir, tmp_path, "SIGTERM")


def test_a_cluster_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(CommandFailed, match="no Ray cluster answers at this machine"):
        call_provider(find_provider("ray"), "status", {"ids": "x"})
    with pytest.raises(CommandFailed, match=r"no Ray cluster answers at 127\.0\.0\.1:9"):
        call_provider(find_provider("ray:127.0.0.1:9"), "status", {"ids": "x"})
