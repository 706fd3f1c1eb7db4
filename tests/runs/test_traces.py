"""Trace files: episodes are restored exactly, and invalid files are rejected."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gymnast.errors import RunError
from gymnast.runs.trace import Trace, read_meta, read_traces, write_traces


def episode(rng: np.random.Generator, length: int, *, action_shape=(), obs: bool = True) -> Trace:
    continuous = action_shape != ()
    return Trace(
        seed=int(rng.integers(2**31)),
        action=rng.normal(size=(length, *action_shape)).astype(np.float32)
        if continuous
        else rng.integers(4, size=length),
        reward=rng.normal(size=length),
        value=rng.normal(size=length).astype(np.float32),
        dist=rng.random((length, 4)).astype(np.float32),
        obs=rng.normal(size=(length + 1, 3)).astype(np.float32) if obs else None,
        terminated=bool(rng.integers(2)),
        truncated=bool(rng.integers(2)),
        raw_return=float(rng.normal()),
        env=int(rng.integers(8)),
        version=int(rng.integers(10**9)),
    )


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("action_shape", [(), (2,)], ids=["discrete", "box"])
def test_episodes_are_restored_exactly(tmp_path: Path, action_shape: tuple[int, ...]):
    rng = np.random.default_rng(1)
    written = [
        episode(rng, n, action_shape=action_shape, obs=seen)
        for n, seen in ((1, True), (200, False), (17, True), (1, False))
    ]
    file = tmp_path / "traces" / "eval-000000000512.safetensors"
    write_traces(file, written, {"kind": "eval", "share": 0.1})
    back = read_traces(file)
    assert [len(e) for e in back] == [1, 200, 17, 1]
    for a, b in zip(written, back, strict=True):
        assert all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(Trace))
    assert read_meta(file) == {"kind": "eval", "share": 0.1}


def test_a_file_may_have_no_episodes(tmp_path: Path):
    write_traces(tmp_path / "t.safetensors", [], {})
    assert read_traces(tmp_path / "t.safetensors") == []


def test_the_same_episodes_give_the_same_bytes(tmp_path: Path):
    written = [episode(np.random.default_rng(2), 9)]
    contents = []
    for name in ("a", "b"):
        write_traces(tmp_path / name, written, {"b": 1, "a": 2})
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_arrays_of_different_lengths_are_rejected_before_anything_is_written(tmp_path: Path):
    good = episode(np.random.default_rng(3), 9)
    bad = Trace(**{**vars(good), "value": good.value[:-1]})
    with pytest.raises(ValueError, match="value has 8 entries for 9 steps"):
        write_traces(tmp_path / "t", [bad], {})
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("content", [b"", b"garbage" * 9, b"\xff" * 64])
def test_a_file_that_is_not_a_trace_file_is_rejected(tmp_path: Path, content: bytes):
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(RunError, match="not a trace file"):
        read_traces(tmp_path / "t")


def test_a_truncated_file_and_an_unknown_format_are_rejected(tmp_path: Path):
    file = tmp_path / "t"
    write_traces(file, [episode(np.random.default_rng(4), 9)], {})
    content = file.read_bytes()
    file.write_bytes(content[:-10])
    with pytest.raises(RunError, match="damaged"):
        read_traces(file)
    file.write_bytes(content.replace(rb"\"version\": 1", rb"\"version\": 9"))
    with pytest.raises(RunError, match="unknown trace format 9"):
        read_traces(file)


def test_numbers_from_the_last_info_are_restored_per_episode(tmp_path: Path):
    rng = np.random.default_rng(1)
    numbers: list[dict[str, float]] = [
        {"env/gravity": -7.25},
        {},
        {"env/gravity": -4.0, "env/x": 0.1},
    ]
    written = [replace(episode(rng, 3, action_shape=(), obs=False), numbers=n) for n in numbers]
    write_traces(tmp_path / "t.safetensors", written, {})
    assert [trace.numbers for trace in read_traces(tmp_path / "t.safetensors")] == numbers
