"""Fixtures of all tests: a runs directory per test, and skips that fail where they are not allowed."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

from gymnast import compiled
from gymnast.import_object import ALLOW_VARIABLE
from gymnast.tasks import runner, worker

settings.register_profile("shared machine", deadline=None)  # a slow machine is not a failure
settings.load_profile("shared machine")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run in parallel
# Without compiled modules, each of the hundreds of processes that tests start would compile them again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # otherwise children inherit SIG_IGN and ignore Ctrl-C
os.environ["GYMNAST_FILM"] = "off"  # no automatic films
os.environ["GYMNAST_SETTINGS"] = os.devnull  # no commands of the user who runs the tests
os.environ |= {  # no network access by W&B
    "WANDB_MODE": "offline",
    "WANDB_ERROR_REPORTING": "false",
    "WANDB_BASE_URL": "http://127.0.0.1:9",
}


MEMORY = Path("/dev/shm")
"""A file system in memory, on Linux."""
SPACE = 2 << 30
"""Free bytes that are enough even if no test removed its files: the fast ones write about one GB."""


def has_space_in_memory() -> bool:
    """Returns whether temporary files fit into memory, and programs among them can be started there."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return False
    return min(shutil.disk_usage(MEMORY).free, psutil.virtual_memory().available) >= SPACE


# Every run calls fsync a hundred times: on a disk, the tests wait for it longer than they compute.
if "TMPDIR" not in os.environ and has_space_in_memory():
    tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # noqa: ARG001
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("GYMNAST_NO_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"skipped where skips are not allowed: {report.longrepr}"


@pytest.fixture
def without_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hides the compiled kernels, as if gymnast was installed without a C++ compiler."""
    monkeypatch.setenv(compiled.NATIVE_VAR, "off")
    compiled.kernels.cache_clear()
    yield
    compiled.kernels.cache_clear()


@pytest.fixture(autouse=True)
def runs_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the empty runs directory of this test."""
    path = tmp_path / "runs"
    monkeypatch.setenv("GYMNAST_RUNS", str(path))
    return path


@pytest.fixture(autouse=True)
def restored_permission() -> Iterator[None]:
    """Restores the permission to import code: a command with --allow-code sets it for its whole process."""
    before = os.environ.get(ALLOW_VARIABLE)
    yield
    os.environ.pop(ALLOW_VARIABLE, None)
    if before is not None:
        os.environ[ALLOW_VARIABLE] = before


@pytest.fixture
def tasks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the functions of tasks in a thread of this process, for tests of what tasks do and not of their
    processes; arguments, results and errors have their JSON forms as usual."""
    monkeypatch.setattr(worker, "separate_env_output", nullcontext)

    def run(job: runner._Job) -> None:
        if job.task._set_running():
            with open(os.devnull, "wb") as progress:
                job.received = worker.run(job.request, worker.Messages(progress.fileno()))
            job._finish(0)

    monkeypatch.setattr(runner._Job, "run", run)
