"""Frame stacks stored with every frame once: reading returns exactly what was recorded."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.config.sections.policy import PolicyConfig
from gymnast.engine.torch.rows import row_reader
from gymnast.images import ImageRecorder, Images, as_arrays, concatenate, from_arrays
from gymnast.policy.architecture import network_for
from gymnast.rollout import Episodes, Rollout
from gymnast.runs.trace import Trace, read_traces, write_traces
from gymnast.spaces.observations import ImageObs

SIZE = (4, 6)
N = 3
MOVES = ("next", "next", "next", "still", "start", "anything")
"""How an observation may change from one step to the next."""

Played = tuple[str, int, int, int, list[list[str]]]
played = st.tuples(
    st.sampled_from(["first", "last"]),
    st.integers(1, 4),  # frames
    st.sampled_from([1, 1, 3]),  # colors
    st.integers(0, 2**32 - 1),
    st.lists(st.lists(st.sampled_from(MOVES), min_size=N, max_size=N), max_size=12),
)


def stacks(how: Played) -> np.ndarray:
    """Returns observations [T, N, ...] with all kinds of changes between steps."""
    channels, frames, colors, seed, moves = how
    rng = np.random.default_rng(seed)

    def some(n: int) -> np.ndarray:  # few values, so that some planes are equal by chance
        return rng.integers(0, 2, (n, *SIZE), dtype=np.uint8)

    def moved(now: np.ndarray, move: str) -> np.ndarray:
        if move == "next":
            return np.concatenate([now[colors:], some(colors)])
        if move == "start":
            return np.concatenate([np.zeros_like(now[colors:]), some(colors)])
        return now.copy() if move == "still" else some(len(now))

    obs = [np.stack([some(frames * colors) for _ in range(N)])]
    for step in moves:
        obs.append(np.stack([moved(*pair) for pair in zip(obs[-1], step, strict=True)]))
    rows = np.stack(obs)
    return rows if channels == "first" else np.ascontiguousarray(np.moveaxis(rows, 2, -1))


def recorded(rows: np.ndarray, channels, capacity: int = 4) -> Images:
    book, obs = ImageRecorder(rows[0], channels, capacity), np.empty_like(rows[0])
    for t, row in enumerate(rows):
        obs[...] = row  # environments reuse the memory of their observations
        assert np.array_equal(book.record(t, obs), row)
    return book[: len(rows)]


def same(images, rows: np.ndarray) -> None:
    assert images.shape == rows.shape
    assert images.ndim == rows.ndim
    assert images.dtype == rows.dtype
    assert len(images) == len(rows)
    assert np.array_equal(np.asarray(images), rows)


@settings(max_examples=60, deadline=None)
@given(played, st.data())
def test_recorded_images_can_be_read_whole_and_in_parts(how: Played, data: st.DataObject):
    rows, channels = stacks(how), how[0]
    images = recorded(rows, channels)
    same(images, rows)
    cut = data.draw(st.integers(0, len(rows)))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=N, max_size=N)))
    for key in (slice(cut, None), (slice(None, cut), 1), (slice(None), mask)):
        same(images[key], rows[key])
        same(images[key].copy(), rows[key])
    same(images.reshape(-1, *rows.shape[2:]), rows.reshape(-1, *rows.shape[2:]))
    same(concatenate([images[cut:, 0], rows[:cut, 1], images[:, 2]]),
         np.concatenate([rows[cut:, 0], rows[:cut, 1], rows[:, 2]]))  # fmt: skip
    same(from_arrays(as_arrays({"obs": images[cut:]}))["obs"], rows[cut:])


@settings(max_examples=40, deadline=None)
@given(played)
def test_next_observations_are_found_in_the_frames_stored_once(how: Played):
    rows, channels = stacks(how), how[0]
    rows = rows if len(rows) > 1 else np.concatenate([rows, rows])
    steps, images = len(rows) - 1, recorded(rows, channels)
    cut = stacks((channels, *how[1:3], how[3] // 2, []))[0][:1]
    at = np.array([steps - 1]), np.array([1])
    plain, once = (_rollout(obs, rows[-1], cut, at) for obs in (rows[:-1], images[:-1]))
    same(once.next_obs(), plain.next_obs())
    again = Rollout.from_arrays(once.arrays())
    same(again.obs, rows[:-1])
    same(again.next_obs(), plain.next_obs())
    assert all(a.dtype != object for a in once.arrays().values())


@pytest.mark.parametrize("channels", ["first", "last"])
@pytest.mark.parametrize("n", [2, 4, 12])
def test_a_minibatch_has_the_same_pixels_and_memory_layout_as_plain_arrays(channels, n: int):
    rng = np.random.default_rng(1)
    shape = (n, 40, 36) if channels == "first" else (40, 36, n)
    rows = rng.integers(0, 256, (20, *shape), dtype=np.uint8)
    network = network_for(
        ImageObs(shape, 255, channels), 2, PolicyConfig(), extra_parameters=(), critic=True
    )
    index = torch.tensor([3, 3, 19, 0, 7])
    plain = row_reader(network, rows)(index)
    once = row_reader(network, Images.from_array(rows, channels))(index)
    assert torch.equal(plain, once)
    assert plain.stride() == once.stride()
    assert np.array_equal(once.numpy(), rows[index.numpy()])


def test_frame_stacks_of_an_atari_rollout_take_a_quarter_of_the_memory():
    rng = np.random.default_rng(1)
    frames = rng.integers(0, 256, (132, 8, 84, 84), dtype=np.uint8)
    rows = np.stack([frames[t : t + 4] for t in range(129)]).swapaxes(1, 2)
    assert rows.shape == (129, 8, 4, 84, 84)
    images = recorded(rows, "first", capacity=129)
    same(images, rows)
    assert images.nbytes < 0.26 * rows.nbytes
    assert images.plane.base is None or images.plane.base.nbytes < 0.27 * rows.nbytes


def test_frames_that_repeat_or_have_colors_are_stored_once():
    grey = stacks(("first", 4, 1, 1, [["still"] * N] * 5))
    assert len(recorded(grey, "first").plane) == 4 * N
    colors = stacks(("last", 4, 3, 1, [["next"] * N] * 5))
    assert len(recorded(colors, "last").plane) == (12 + 5 * 3) * N


def test_only_several_large_enough_frames_count_as_a_stack():
    assert ImageObs((4, 84, 84), 255, "first").is_stack
    assert ImageObs((84, 84, 12), 255, "last").is_stack
    for shape in ((84, 84, 3), (84, 84, 1), (84, 84), (10, 10, 6)):
        assert not ImageObs(shape, 255, "last").is_stack


def test_traces_store_each_frame_once(tmp_path):
    rows = stacks(("first", 4, 1, 1, [["next"] * N] * 6))
    images = recorded(rows, "first")
    steps = len(rows) - 1
    numbers = {"action": np.zeros(steps), "reward": np.zeros(steps)}
    numbers |= {"value": np.zeros(steps, np.float32), "dist": np.zeros((steps, 2), np.float32)}
    more = {"seed": 1, "env": 0, "terminated": True, "truncated": False}
    traces = [
        Trace(**numbers, **more, obs=images[:, copy], raw_return=0.0, version=0)
        for copy in range(N)
    ]
    write_traces(tmp_path / "traces", traces, {})
    for copy, trace in enumerate(read_traces(tmp_path / "traces")):
        same(trace.obs, rows[:, copy])


def test_invalid_reshapes_and_views_are_rejected():
    images = Images.from_array(np.zeros((6, 4, *SIZE), np.uint8), "first")
    with pytest.raises(ValueError, match="cannot be reshaped"):
        images.reshape(2, 3, 2, 8, 6)
    with pytest.raises(ValueError, match="copied"):
        np.asarray(images, copy=False)


def _rollout(obs, last_obs, final_obs, final_at) -> Rollout:
    numbers = np.zeros(obs.shape[:2])
    names = ("action", "dist", "logprob", "value", "reward", "next_value")
    names += ("terminated", "done", "start", "valid")
    return Rollout(
        obs=obs,
        last_obs=last_obs,
        final_obs=final_obs,
        final_at=final_at,
        **dict.fromkeys(names, numbers),
        mask=None,
        memory=None,
        episodes=Episodes.empty(),
    )
