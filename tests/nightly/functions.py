"""Functions of jobs for tests, called in child processes."""

# ruff: noqa: ARG001

from __future__ import annotations

import os
import signal
import time

from gymnast.errors import UsageError
from gymnast.nightly.record import JobResult, NightlyFinding
from gymnast.progress import ProgressCallback


def succeed(*, progress: ProgressCallback) -> JobResult:
    progress(1, 1, "all of it")
    return JobResult(3, notes=("All three are fine.",))


def find(title: str, observed: str = "2 + 2 = 5", *, progress: ProgressCallback) -> JobResult:
    return JobResult(1, (NightlyFinding(title, observed, "gymnast config check", "Repair it."),))


def skip(*, progress: ProgressCallback) -> JobResult:
    return JobResult(0, skipped=("Pong: ale-py is not installed",))


def hang(*, progress: ProgressCallback) -> JobResult:
    progress(0, 1, "waiting for nobody")
    while True:
        time.sleep(60)


def crash(*, progress: ProgressCallback) -> JobResult:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def fail(*, progress: ProgressCallback) -> JobResult:
    raise UsageError("the disk is full", at="/home/jane/disk", fix="buy another one")


def interrupt_owner(*, progress: ProgressCallback) -> JobResult:
    os.kill(os.getppid(), signal.SIGINT)
    return hang(progress=progress)
