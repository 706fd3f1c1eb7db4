"""Structured arrays (observations of a Dict space) are stored and restored exactly."""

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


def test_structured_and_plain_arrays_of_any_shape_are_restored():
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


def test_without_structured_arrays_a_file_is_plain_safetensors():
    from safetensors.numpy import save

    arrays = {"a": np.arange(3.0)}
    assert pack(arrays) == save(arrays)


def test_a_checkpoint_restores_structured_arrays(tmp_path: Path):
    rows = records(8)
    checkpoint.write(tmp_path, 7, tensors={"collector": {"obs": rows}}, reason="test")
    back = checkpoint.read(tmp_path / "000000000007").tensors("collector")["obs"]
    assert back.dtype == DTYPE
    assert np.array_equal(back, rows)


def test_traces_with_structured_observations_and_without_any_are_restored_from_one_file(
    tmp_path: Path,
):
    episode = Trace(
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
    write_traces(tmp_path / "t", [episode, replace(episode, obs=None), episode], {"kind": "eval"})
    first, second, third = read_traces(tmp_path / "t")
    assert second.obs is None
    for trace in (first, third):
        assert trace.obs.dtype == DTYPE
        assert np.array_equal(trace.obs, episode.obs)
