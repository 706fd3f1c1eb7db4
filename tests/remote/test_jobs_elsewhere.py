"""Whole jobs on stand-ins of other hosts: submitted, listed, followed, stopped, preempted, continued."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from gymnast.jobs import record, status
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from tests.e2e.commands import read_json, run_here
from tests.waiting import wait_for

ROLLOUT = 2 * 8
SMALL = {
    "facts.deterministic": "yes",
    "eval.every": "off",
    "eval.mode": "inline",
    "eval.confirm_episodes": 2,
    "policy.hidden": "[16]",
    "env.n_envs": 2,
    "algo.n_steps": 8,
    "stop.solved": "off",
    "stop.env_steps": 5 * ROLLOUT,
}

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cluster")]


def settings(more: dict[str, object]) -> list[str]:
    return [
        word for key, value in {**SMALL, **more}.items() for word in ("--set", f"{key}={value}")
    ]


def train(runs: Path, *words: str, **more: object) -> Any:
    return read_json(runs, "train", "py:own_env:Preempted:ppo", *settings(more), *words)


def preemption(marker: Path, number: str) -> dict[str, object]:
    """Returns the settings of an environment that sends a signal in its third rollout, unless the file
    `marker` exists."""
    kwargs = {"marker": str(marker), "after": 2 * ROLLOUT + 3, "number": number}
    return {"env.kwargs": json.dumps(kwargs)}


def weights(runs: Path, job: str) -> str:
    """Returns the SHA-256 of the policy in the last checkpoint of a run."""
    saved = checkpoint.latest(runs / job)
    return hashlib.sha256((saved.path / "policy.safetensors").read_bytes()).hexdigest()


def statuses(runs: Path) -> dict[str, str]:
    return {job["id"]: job["status"] for job in read_json(runs, "jobs")}


def undisturbed(runs: Path, tmp_path: Path, number: str) -> str:
    """Returns the weights of a run with the same settings on this machine that no signal ended."""
    marker = tmp_path / "marker"
    assert marker.exists(), "the signal was sent"
    (job,) = [train(runs, "--detach", **preemption(marker, number))]
    assert [ended["status"] for ended in read_json(runs, "wait", job["id"])] == ["finished"]
    return weights(runs, job["id"])


def test_a_group_trains_on_a_host_with_the_users_code_and_is_found_again(
    cluster: Path, runs_dir: Path
):
    words = [sys.executable, "-m", "gymnast", "train", "py:own_env:Preempted:ppo", *settings({})]
    words += ["--seeds", "2", "--jobs-on", "ssh:box", "--name", "far", "--json"]
    submitted = subprocess.run(words, capture_output=True, text=True)  # a process that ends at once
    assert submitted.returncode == 0, submitted.stderr
    group = json.loads(submitted.stdout)
    assert [(run["on"], run["pid"]) for run in group["runs"]] == [("ssh:box", None)] * 2
    listed = read_json(runs_dir, "jobs")
    assert {job["on"] for job in listed} == {"ssh:box"}
    ended = read_json(runs_dir, "wait", group["group"])
    assert [job["status"] for job in ended] == ["finished"] * 2
    there = cluster / "ssh" / "box" / "gymnast-runs"
    for job in group["runs"]:
        run = Run(runs_dir / job["id"])
        assert weights(runs_dir, run.id) == weights(there, run.id), "the run was copied back"
        assert run.status == "finished"
        assert "gymnast show" in run_here(runs_dir, "logs", run.id).stdout
    (here,) = [train(runs_dir, "--detach", "--seed", "1")]
    read_json(runs_dir, "wait", here["id"])
    assert weights(runs_dir, here["id"]) == weights(runs_dir, group["runs"][1]["id"])


def test_a_job_on_a_host_is_shown_while_it_trains_and_is_stopped_with_a_checkpoint(
    runs_dir: Path,
):
    job = train(runs_dir, "--jobs-on", "ssh:box", **{"stop.env_steps": 50_000_000})
    wait_for(lambda: statuses(runs_dir)[job["id"]] == "running")
    shown = wait_for(lambda: read_json(runs_dir, "show", job["id"])["clocks"].get("env_steps"))
    assert shown > 0, "its numbers are copied while it trains"
    assert not checkpoint.list_checkpoints(runs_dir / job["id"]), "its checkpoints are not"
    refused = run_here(runs_dir, "pause", job["id"])
    assert "reads no commands from here" in refused.stderr
    refused = run_here(runs_dir, "resume", job["id"])
    assert refused.returncode == 1, "it trains elsewhere"
    (stopped,) = read_json(runs_dir, "stop", job["id"])
    assert (stopped["status"], stopped["answered"]) == ("stopped", True)
    steps = checkpoint.latest(runs_dir / job["id"]).step
    assert steps == stopped["env_steps"] > 0
    refused = run_here(runs_dir, "resume", job["id"], "--requeue")
    assert "needs --jobs-on" in refused.stderr
    read_json(runs_dir, "resume", job["id"], "--jobs-on", "ssh:box")
    wait_for(lambda: statuses(runs_dir)[job["id"]] == "running")
    (again,) = read_json(runs_dir, "stop", job["id"])
    assert again["env_steps"] > steps, "its copy here was older than its second attempt"


@pytest.mark.parametrize("number", ["SIGTERM", "SIGUSR1"])
def test_a_preempted_job_is_continued_by_wait_and_ends_with_the_same_weights(
    runs_dir: Path, tmp_path: Path, number: str
):
    where = "local" if number == "SIGTERM" else "ssh:box"
    preempted = preemption(tmp_path / "marker", number)
    job = train(runs_dir, "--jobs-on", where, "--requeue", **preempted)
    (ended,) = read_json(runs_dir, "wait", job["id"])
    assert ended["status"] == "finished"
    run = Run(runs_dir / job["id"])
    assert run.info["attempts"] == 2
    (resumed,) = [event for event in run.events() if event["kind"] == "resumed"]
    assert resumed["bit_exact"]
    assert weights(runs_dir, run.id) == undisturbed(runs_dir, tmp_path, number)


def test_without_requeue_a_preempted_job_stays_stopped_until_it_is_resumed_there(
    cluster: Path, runs_dir: Path, tmp_path: Path
):
    preempted = preemption(tmp_path / "marker", "SIGTERM")
    job = train(runs_dir, "--jobs-on", "ssh:box", **preempted)
    (ended,) = read_json(runs_dir, "wait", job["id"])
    assert (ended["status"], ended["reason"]) == ("stopped", "interrupted by SIGTERM")
    shutil.rmtree(cluster / "ssh" / "box")  # the run is here now, and is sent there again
    assert read_json(runs_dir, "resume", job["id"], "--jobs-on", "ssh:box")["on"] == "ssh:box"
    (ended,) = read_json(runs_dir, "wait", job["id"])
    assert ended["status"] == "finished"
    assert weights(runs_dir, job["id"]) == undisturbed(runs_dir, tmp_path, "SIGTERM")
    Run(runs_dir / job["id"]).trusted_config()  # trained with code of the user, and signed here too


def test_slurm_requeues_a_preempted_job_which_ends_with_the_same_weights(
    runs_dir: Path, tmp_path: Path
):
    job = train(
        runs_dir, "--jobs-on", "slurm", "--requeue", **preemption(tmp_path / "marker", "SIGUSR1")
    )
    (ended,) = read_json(runs_dir, "wait", job["id"])
    assert ended["status"] == "finished"
    run = Run(runs_dir / job["id"])
    assert run.info["attempts"] == 2
    kinds = [event["kind"] for event in run.recorded_events()]
    assert [kind for kind in kinds if "requeued" in kind] == ["requeued"]
    (stopping, *_) = [event for event in run.recorded_events() if event["kind"] == "stopping"]
    assert stopping["reason"] == "interrupted by SIGUSR1", "SLURM's own SIGTERM is no second signal"
    assert record.read(record.jobs_dir(runs_dir), run.id).get("remote_id") == "1"
    assert weights(runs_dir, run.id) == undisturbed(runs_dir, tmp_path, "SIGUSR1")


def test_jobs_in_the_queue_of_slurm_are_cancelled_and_running_ones_take_commands(
    cluster: Path, runs_dir: Path
):
    long = train(runs_dir, "--jobs-on", "slurm", **{"stop.env_steps": 50_000_000})
    wait_for(lambda: statuses(runs_dir)[long["id"]] == "running")
    assert read_json(runs_dir, "pause", long["id"])["status"] == "paused"
    assert [answer["status"] for answer in read_json(runs_dir, "stop", long["id"])] == ["stopped"]
    (cluster / "slurm" / "full").touch()
    waiting = train(runs_dir, "--jobs-on", "slurm")
    assert statuses(runs_dir)[waiting["id"]] == "queued"
    (answer,) = read_json(runs_dir, "stop", waiting["id"])
    assert (answer["status"], answer["dequeued"]) == ("stopped", True)
    assert (cluster / "slurm" / "2.state").read_text() == "CANCELLED"
    assert not (runs_dir / waiting["id"]).exists()


def test_a_host_with_other_versions_is_refused_before_anything_is_submitted(
    runs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    python = tmp_path / "other-python"
    python.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{OTHER_VERSIONS}' \"$@\"\n")
    python.chmod(0o755)
    file = tmp_path / "settings.yaml"
    file.write_text(f"providers:\n  box: {{like: ssh, host: box, python: {python}}}\n")
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    done = run_here(runs_dir, "train", "CartPole-v1", "--jobs-on", "box")
    assert done.returncode == 1
    assert f"numpy: {version('numpy')} here, 0.1 there" in done.stderr
    assert not list((runs_dir / ".jobs").glob("*"))
    assert not list(runs_dir.glob("[a-z]*"))
    checked = check_host("box", code=1)
    assert {"torch", "numpy"} <= {difference["what"] for difference in checked["differences"]}
    assert check_host("ssh:box", code=0)["differences"] == []


OTHER_VERSIONS = """
import runpy, sys
import gymnast.hosts
gymnast.hosts.installed_version = lambda name: "0.1"
sys.argv = sys.argv[2:]
runpy.run_module(sys.argv[0], run_name="__main__")
"""
"""A Python interpreter that says that it has other packages."""


def check_host(provider: str, code: int) -> Any:
    words = [sys.executable, "-m", "gymnast", "host", "check", provider, "--json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_a_job_refuses_a_host_that_has_other_user_code_and_says_so(cluster: Path, runs_dir: Path):
    (cluster / "slurm" / "full").touch()  # it is only submitted
    job = train(runs_dir, "--jobs-on", "slurm")
    Path("own_env.py").write_text("# changed before the job started\n")
    words = (cluster / "slurm" / "1.words").read_text().splitlines()
    done = subprocess.run(["sh", "-c", words[-1]], capture_output=True, text=True)
    assert done.returncode == 1
    assert "own_env: " in done.stderr
    (failed,) = [one for one in read_json(runs_dir, "jobs") if one["id"] == job["id"]]
    assert "own_env" in failed["words"]


def test_a_host_that_does_not_answer_is_named_and_delays_nobody_beyond_its_deadline(
    cluster: Path, runs_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "settings.yaml"
    file.write_text("providers:\n  box: {like: ssh, host: box, timeout: 20}\n")
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))
    job = train(runs_dir, "--jobs-on", "box", **{"stop.env_steps": 50_000_000})
    wait_for(lambda: statuses(runs_dir)[job["id"]] == "running")
    (cluster / "ssh" / "hangs").touch()
    file.write_text("providers:\n  box: {like: ssh, host: box, timeout: 0.5}\n")
    (late,) = read_json(runs_dir, "jobs")
    assert late["status"] == "running", "the last known status"
    assert "box did not answer within 0.5 s" in late["reason"]
    (cluster / "ssh" / "hangs").unlink()
    (cluster / "ssh" / "down").touch()
    file.write_text("providers:\n  box: {like: ssh, host: box}\n")
    (late,) = read_json(runs_dir, "jobs")
    assert "No route to host" in late["reason"]
    monkeypatch.setattr("gymnast.jobs.remote.state.PATIENCE_SECONDS", 0.0)
    (lost,) = read_json(runs_dir, "wait", job["id"], code=1)
    assert lost["status"] == "lost", "waiting for a host that is gone has an end"
    monkeypatch.undo()
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))


def test_a_job_that_a_template_submits_is_seen_through_its_run(runs_dir: Path):
    job = train(runs_dir, "--jobs-on", "sh -c '{command} >{log} 2>&1'", "--name", "by hand")
    assert job["on"] == "template"
    (ended,) = read_json(runs_dir, "wait", job["id"])
    assert ended["status"] == "finished"
    assert status.jobs(runs_dir)[0].on == "template"
