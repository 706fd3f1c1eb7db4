"""Shared by all tests: where runs go, and no skips hidden in green."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from gymnast import compiled

settings.register_profile("shared machine", deadline=None)  # a busy core is not a failure
settings.load_profile("shared machine")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # or no child could be interrupted
os.environ["GYMNAST_FILM"] = "off"  # what a test does not look at is not filmed
os.environ |= {  # and W&B talks to nobody
    "WANDB_MODE": "offline",
    "WANDB_ERROR_REPORTING": "false",
    "WANDB_BASE_URL": "http://127.0.0.1:9",
}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # noqa: ARG001
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("GYMNAST_NO_SKIPS"):
        report.outcome = "failed"
        report.longrepr = f"skipped where skips are not allowed: {report.longrepr}"


@pytest.fixture
def without_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where gymnast was installed without a C++ compiler."""
    monkeypatch.setenv(compiled.HIDDEN, "off")
    compiled.kernels.cache_clear()
    yield
    compiled.kernels.cache_clear()


@pytest.fixture(autouse=True)
def runs_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has its own, empty runs directory."""
    path = tmp_path / "runs"
    monkeypatch.setenv("GYMNAST_RUNS", str(path))
    return path
