"""Training on a real file system that becomes full."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import small_settings

TRAIN = [
    *("train", "CartPole-v1", "--name", "full", "--env-steps", "20k"),
    *small_settings("checkpoint.every=1k env_steps", "checkpoint.keep=50", "traces.train=100%"),
    *("--set", "stop.solved=off", "--set", "eval.every=off", "--quiet"),
]


def commands(disk: Path) -> str:
    """Returns a shell script: train on a small file system until it is full, enlarge it, resume."""

    def gymnast(*words: str) -> str:
        return shlex.join([sys.executable, "-m", "gymnast", *words, "--runs", str(disk)])

    return f"""
        mount -t tmpfs -o size=1200k tmpfs {shlex.quote(str(disk))} || exit 77
        {gymnast(*TRAIN)}
        echo "exit $?" >&2
        {gymnast("show", "full", "--json")}
        echo ,
        mount -o remount,size=64m {shlex.quote(str(disk))}
        {gymnast("resume", "full", "--quiet")} >&2
        {gymnast("show", "full", "--json")}
    """


@pytest.mark.slow
def test_a_full_disk_ends_training_with_a_checkpoint_and_it_resumes_with_more_space(
    tmp_path: Path,
):
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", commands(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "GYMNAST_FILM": "off"},
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"a file system cannot be mounted here: {done.stderr}")
    full, later = json.loads(f"[{done.stdout}]")
    assert "exit 1" in done.stderr
    assert "No space left on device\n  fix: free disk space" in done.stderr
    assert "Traceback" not in done.stderr
    assert full["status"] == "failed"
    assert "No space left" in full["reason"]
    assert 0 < full["checkpoints"]["latest"]["step"] <= full["clocks"]["env_steps"] < 20_000
    assert later["status"] == "finished"
    assert later["clocks"]["env_steps"] == 20_000
