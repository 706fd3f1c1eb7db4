"""The Ray cluster that gymnast starts for jobs, and that ends by itself."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from gymnast.jobs.remote import ray_cluster
from gymnast.jobs.remote.ray_cluster import OwnCluster, find_cluster
from gymnast.runs.run import Run
from tests.e2e.commands import read_json, run_here
from tests.e2e.host_processes import descendants, left_folders, still_running
from tests.remote.test_jobs_elsewhere import settings
from tests.waiting import wait_for

IDLE_SECONDS = 1.0


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Returns the directory with the files of clusters, on a machine that belongs to no cluster."""
    for variable in ("HOME", "XDG_STATE_HOME", "RAY_TMPDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    for variable in ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_AUTH_MODE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("gymnast.jobs.remote.provider.RAY_IDLE_SECONDS", IDLE_SECONDS)
    yield tmp_path / "gymnast" / "ray" / os.uname().nodename
    if (left := find_cluster()) is not None:
        psutil.Process(left.pid).kill()


def ray_jobs(*words: str) -> subprocess.Popen[str]:
    """Starts a command of the provider `ray`, which prints its answer."""
    command = [sys.executable, "-m", "gymnast.jobs.remote.ray_jobs", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(command: subprocess.Popen[str]) -> str:
    out, err = command.communicate()
    assert command.returncode == 0, err
    return out.strip()


def addresses(processes: list[psutil.Process]) -> set[str]:
    """Returns the addresses that processes listen at."""
    found = set[str]()
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            for connection in process.net_connections("inet"):
                if connection.status == psutil.CONN_LISTEN:
                    found.add(connection.laddr.ip.removeprefix("::ffff:"))
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("cluster")
def test_seeds_train_in_a_cluster_of_this_machine_of_which_nothing_is_left(
    state: Path, runs_dir: Path
):
    pytest.importorskip("ray")
    words = (
        "train",
        "CartPole-v1",
        *settings({"algo.batch_size": "100%"}),
        "--seeds",
        "2",
        "--jobs-on",
        "ray",
    )
    submitted = run_here(runs_dir, *words, "--name", "seeds", "--max-jobs", "2")
    assert submitted.returncode == 0, submitted.stderr
    hint = submitted.stdout.splitlines()[-1]
    assert "cluster on this machine, 2 jobs at a time" in hint
    assert "ends by itself 1 s after its last job" in hint
    (file,) = state.glob("*.json")
    found = find_cluster()
    assert found is not None
    assert (file.stat().st_mode & 0o777, found.cpus) == (0o600, 2)
    processes = [psutil.Process(found.pid), *descendants(found.pid)]
    assert addresses(processes) == {"127.0.0.1"}

    ended = read_json(runs_dir, "wait", "seeds")
    assert [job["status"] for job in ended] == ["finished"] * 2
    assert {Run(runs_dir / job["id"]).info["seed"] for job in ended} == {0, 1}
    wait_for(lambda: find_cluster() is None)
    assert still_running(processes) == []
    assert left_folders(found.pid) == []
    assert [path.name for path in state.iterdir()] == ["lock"]
    assert not (Path.home() / ".ray").exists(), "Ray's token is nowhere but in the file"


@pytest.mark.slow
def test_commands_at_the_same_moment_share_a_cluster_and_nothing_outlives_its_killed_owner(
    state: Path, tmp_path: Path
):
    pytest.importorskip("ray")
    sleeper = (sys.executable, "-c", "import time; time.sleep(1000)")
    options = (str(tmp_path / "log.txt"), "--no-requeue", "1", str(IDLE_SECONDS), *sleeper)
    submitted = [ray_jobs("submit", "", job, *options) for job in ("first", "second")]
    ids = [answer(command) for command in submitted]
    assert ids == [ray_cluster.remote_id(job) for job in ("first", "second")]
    (file,) = state.glob("*.json")
    found = find_cluster()
    assert found is not None
    listed = answer(ray_jobs("states", "", ",".join(ids))).splitlines()
    assert sorted(line.split()[1] for line in listed) == ["queued", "running"], "it has one core"

    processes = [psutil.Process(found.pid), *descendants(found.pid)]
    assert any("time.sleep" in " ".join(process.cmdline()) for process in processes)
    processes[0].kill()
    assert still_running(processes) == []
    assert left_folders(found.pid) == []
    assert answer(ray_jobs("states", "", ",".join(ids))) == "", "the jobs ended with the cluster"
    assert not file.exists()


def test_the_file_of_a_killed_owner_is_ignored_and_removed(state: Path):
    assert find_cluster() is None
    cluster = OwnCluster("127.0.0.1:1", "token", 1, "/tmp/folder", cpus=2, idle_seconds=3.0)
    file = state / "gymnast-ray-1-x.json"
    file.write_text(json.dumps(asdict(cluster)))
    with file.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # as its owner does until it ends
        assert find_cluster() == cluster
    assert find_cluster() is None
    assert not file.exists()


def test_jobs_of_another_machines_cluster_are_not_taken_for_ended(state: Path):
    command = ray_jobs("states", "", "job@elsewhere")
    _, problem = command.communicate()
    assert command.returncode == 1
    assert "can only be asked for on elsewhere" in problem
    assert not [*state.glob("*.json")], "asking starts no cluster"
