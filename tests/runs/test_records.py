"""Records, one per observation of a Dict, are stored and come back as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from gymnast.runs import checkpoint
from gymnast.runs.tensors import pack, unpack
from gymnast.runs.trace import Trace, read_traces, write_traces

DTYPE = np.dtype([("camera", np.uint8, (5, 3, 2)), ("a.b", np.float32, (2,)), ("k", np.int64)])
RNG = np.random.default_rng(5)


def records(*shape: int) -> np.ndarray:
    rows = np.zeros(shape, DTYPE)
    rows["camera"] = RNG.integers(256, size=(*shape, 5, 3, 2))
    rows["a.b"] = RNG.normal(size=(*shape, 2))
    rows["k"] = RNG.integers(-9, 9, size=shape)
    return rows


def test_arrays_and_records_of_any_shape_come_back_from_bytes():
    arrays = {
        "rows": records(4, 3),
        "turned": records(4, 3).T,
        "one": records(),
        "none": records(0),
        "plain": np.arange(6.0).reshape(2, 3).T,
    }
    back = unpack(pack(arrays))
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert (back[name].dtype, back[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(back[name], array)


def test_without_records_a_file_is_as_plain_as_ever():
    from safetensors.numpy import save

    arrays = {"a": np.arange(3.0)}
    assert pack(arrays) == save(arrays)


def test_a_checkpoint_keeps_records(tmp_path: Path):
    rows = records(8)
    checkpoint.write(tmp_path, 7, tensors={"collector": {"obs": rows}}, reason="test")
    back = checkpoint.read(tmp_path / "000000000007").tensors("collector")["obs"]
    assert back.dtype == DTYPE
    assert np.array_equal(back, rows)


def test_a_trace_keeps_records_and_those_without_observations_beside_them(tmp_path: Path):
    seen = Trace(
        seed=1,
        action=np.array([[0, 1], [1, 1]]),
        reward=np.array([0.5, 1.0]),
        value=np.zeros(2, np.float32),
        dist=np.zeros((2, 5), np.float32),
        obs=records(3),
        terminated=True,
        truncated=False,
        raw_return=1.5,
        env=0,
        version=9,
    )
    write_traces(tmp_path / "t", [seen, replace(seen, obs=None), seen], {"kind": "eval"})
    first, second, third = read_traces(tmp_path / "t")
    assert second.obs is None
    for trace in (first, third):
        assert trace.obs.dtype == DTYPE
        assert np.array_equal(trace.obs, seen.obs)
