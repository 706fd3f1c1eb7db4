"""Fixtures of remote jobs: stand-ins of other hosts on the PATH, and a directory with the user's code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.remote import stand_ins


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Sets up the stand-ins of `ssh` and SLURM and a working directory with the module `own_env`; returns the
    directory with their state. All processes that they started are ended after the test."""
    state, bin_dir, work = tmp_path / "cluster", tmp_path / "bin", tmp_path / "work"
    stand_ins.install("ssh", bin_dir, state / "ssh")
    for program in stand_ins.SLURM:
        stand_ins.install(program.__name__, bin_dir, state / "slurm")
    work.mkdir()
    (work / "own_env.py").write_text(stand_ins.ENV_MODULE)
    monkeypatch.chdir(work)
    monkeypatch.setenv("PATH", str(bin_dir), prepend=":")
    for constant in ("MAX_AGE", "WAIT_AGE"):
        monkeypatch.setattr(f"gymnast.jobs.remote.refresh.{constant}", 0.0)
    yield state
    _end_processes(tmp_path)


def _end_processes(folder: Path) -> None:
    """Kills the processes whose command line names a directory: jobs, and the nodes that run them."""
    for process in psutil.process_iter(["cmdline"]):
        names_it = any(str(folder) in word for word in process.info["cmdline"] or ())
        if names_it and process.pid != os.getpid():
            with suppress(psutil.NoSuchProcess):
                process.kill()
