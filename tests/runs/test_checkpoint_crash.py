"""A crash or full disk during a save leaves a checkpoint that loads: the previous or the new one."""

from __future__ import annotations

import errno
import os
import random
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.errors import CheckpointError
from gymnast.runs import checkpoint, durable
from tests.waiting import PATIENCE

InChild = Fork = Callable[[Callable[[], Any]], int]
SYSCALLS = ("fsync", "rename", "mkdir", "open")


def save(run_dir: Path, step: int, value: float, size: int = 64) -> Path:
    return checkpoint.write(
        run_dir / "checkpoints",
        step,
        tensors={"policy": {"w": np.full(size, value)}, "optimizer": {"m": np.full(size, value)}},
        documents={"state": {"value": value}},
        texts={"rollout.csv": f"value\n{value}\n"},
        reason="cadence",
    )


def value_of(found: checkpoint.Checkpoint) -> float:
    """Returns the value that the checkpoint was written with and asserts that all of its files have it."""
    value = found.document("state")["value"]
    for stem in ("policy", "optimizer"):
        for array in found.tensors(stem).values():
            assert (array == value).all()
    assert found.text("rollout.csv") == f"value\n{value}\n"
    return value


def die_at(n: int, moment: str) -> None:
    """Ends this process at its n-th file system call, as kill -9 or a power failure would."""
    calls = 0

    def fatal(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls < n:
                return real(*args, **kwargs)
            if moment == "after":
                real(*args, **kwargs)
            if moment == "torn" and name == "fsync":  # data that was not synced is half lost
                size = os.fstat(args[0]).st_size
                if not os.path.isdir(f"/proc/self/fd/{args[0]}"):
                    os.ftruncate(args[0], size // 2)
            os._exit(9)

        return call

    for name in SYSCALLS:
        setattr(os, name, fatal(getattr(os, name), name))


@pytest.mark.parametrize("moment", ["before", "after", "torn"])
@pytest.mark.parametrize("step", [200, 100], ids=["a new step", "replacing the only one"])
def test_a_crash_at_any_system_call_of_a_save_leaves_a_checkpoint_that_loads(
    tmp_path: Path, in_child: InChild, moment: str, step: int
):
    deaths = 0
    for n in range(1, 200):
        run_dir = tmp_path / str(n)
        save(run_dir, 100, 1.0)

        def work(run_dir: Path = run_dir, n: int = n) -> None:
            die_at(n, moment)
            save(run_dir, step, 2.0)

        code = in_child(work)
        assert code in (0, 9)
        found = checkpoint.latest(run_dir)
        assert found.skipped_errors == ()  # no half-written checkpoint is visible
        assert (value_of(found), found.step) in ((1.0, 100), (2.0, step))
        if code == 0:
            assert value_of(found) == 2.0
            break
        deaths += 1
        assert value_of(checkpoint.read(save(run_dir, 300, 3.0))) == 3.0
        left = {p.name for p in (run_dir / "checkpoints").iterdir()}
        assert left <= {f"{s:012d}" for s in (100, 200, 300)}
    assert deaths >= 10


def test_kill_9_at_random_moments_of_saving_never_leaves_an_unloadable_latest(
    tmp_path: Path, fork: Fork
):
    draw = random.Random(0)
    save(tmp_path, 0, 0.0)

    def work() -> None:
        for i in range(1, 100_000):
            save(tmp_path, i % 7, float(i), size=20_000)
            checkpoint.prune(tmp_path, 3)

    for _ in range(10):
        pid = fork(work)
        time.sleep(0.03 + 0.1 * draw.random())
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        found = checkpoint.latest(tmp_path)
        assert found.skipped_errors == ()
        value_of(found)


def test_a_full_disk_leaves_the_previous_checkpoint_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    save(tmp_path, 100, 1.0)
    real = durable.write
    for n in range(5):  # policy, optimizer, state, rollout, manifest
        written: list[Path] = []

        def full(path: Path, content: bytes, n: int = n, written: list[Path] = written) -> None:
            if len(written) == n:
                path.write_bytes(content[: len(content) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            written.append(path)
            real(path, content)

        monkeypatch.setattr(durable, "write", full)
        for step in (100, 200):
            written.clear()
            with pytest.raises(CheckpointError, match="No space left"):
                save(tmp_path, step, 2.0)
            found = checkpoint.latest(tmp_path)
            assert (found.step, value_of(found), found.skipped_errors) == (100, 1.0, ())
            assert [p.name for p in (tmp_path / "checkpoints").iterdir()] == ["000000000100"]


def test_a_real_write_error_in_the_middle_of_a_file_leaves_the_previous_checkpoint(
    tmp_path: Path, in_child: InChild
):
    save(tmp_path, 100, 1.0)

    def work() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        with pytest.raises(CheckpointError, match="not saved"):
            save(tmp_path, 200, 2.0, size=10_000)

    assert in_child(work) == 0
    assert value_of(checkpoint.latest(tmp_path)) == 1.0


def test_a_reader_concurrent_with_a_writer_always_gets_a_complete_checkpoint(
    tmp_path: Path, fork: Fork
):
    save(tmp_path, 0, 0.0)

    def work() -> None:
        for i in range(1, 100_000):
            save(tmp_path, i, float(i))
            checkpoint.prune(tmp_path, 1)

    fork(work)
    seen = set()
    deadline = time.monotonic() + PATIENCE
    while len(seen) < 50:
        found = checkpoint.latest(tmp_path)
        seen.add(value_of(found))
        assert found.skipped_errors == ()
        assert time.monotonic() < deadline
