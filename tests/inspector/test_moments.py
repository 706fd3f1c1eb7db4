"""Key moments: spikes that were put into a series are found once, and nothing in a series without any."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.inspector.moments import MAX_PER_KIND, KeyMoment, key_moments

Array = np.ndarray
Table = dict[str, Array]
T = 400


def quiet(seed: int = 0, steps: int = T) -> Table:
    """Returns the table of an episode in which nothing special happens, with noise in every column. The noise
    is bounded and large enough to be noticeable: only outliers are events."""
    rng = np.random.default_rng(seed)
    value = 10 + rng.uniform(-0.2, 0.2, steps)
    ends = np.arange(steps) == steps - 1
    return {
        "reward_raw": np.ones(steps),
        "reward_learned": np.ones(steps),
        "reward_so_far_raw": np.arange(1.0, steps + 1),
        "value_learned": value.astype(np.float32),
        "value_raw": (2 * value).astype(np.float32),
        "value_error_learned": rng.uniform(-0.5, 0.5, steps),
        "td_error_learned": rng.uniform(-0.5, 0.5, steps),
        "logprob": np.log(rng.uniform(0.4, 0.6, steps)).astype(np.float32),
        "entropy": np.full(steps, np.log(2), np.float32),
        "action": np.array(["left", "right"], object)[rng.integers(2, size=steps)],
        "terminated": ends,
        "truncated": np.zeros(steps, bool),
    }


def of_kind(table: Table, kind: str) -> list[KeyMoment]:
    return [moment for moment in key_moments(table) if moment.kind == kind]


def put_td_error(table: Table, t: int, size: float) -> None:
    table["td_error_learned"][t] = -size


def put_value_error(table: Table, t: int, size: float) -> None:
    table["value_error_learned"][t] = size


def put_reward(table: Table, t: int, size: float) -> None:
    table["reward_raw"][t] += size


def put_drop(table: Table, t: int, size: float) -> None:
    table["value_learned"][t + 1 : t + 9] -= size  # recovers after 8 steps
    table["value_raw"][t + 1 : t + 9] -= 2 * size


def put_surprise(table: Table, t: int, size: float) -> None:
    table["logprob"][t] = -np.log(2) - size


PUTS: dict[str, Callable[[Table, int, float], None]] = {
    "td_error": put_td_error,
    "value_error": put_value_error,
    "reward": put_reward,
    "value_drop": put_drop,
    "surprise": put_surprise,
}


@pytest.mark.parametrize("kind", PUTS)
@settings(max_examples=20)
@given(
    places=st.lists(st.integers(0, 18), min_size=1, max_size=7, unique=True), seed=st.integers(0, 9)
)
def test_spikes_are_found_once_and_at_their_steps(kind: str, places: list[int], seed: int):
    """The spikes are 20 steps apart; the k-th is the k-th largest."""
    table, at = quiet(seed), [20 * place + 3 for place in places]
    for k, t in enumerate(at):
        PUTS[kind](table, t, 5.0 - 0.25 * k)
    found = of_kind(table, kind)
    assert len(found) == min(len(at), MAX_PER_KIND)
    # A drop may be seen from a step before the last one of the old height.
    slack = 5 if kind == "value_drop" else 0
    nearest = [min(at, key=lambda t, m=moment: abs(t - m.step)) for moment in found]
    assert all(abs(t - m.step) <= slack for t, m in zip(nearest, found, strict=True))
    if kind != "value_drop":  # the noise may change the order of drops
        assert {m.step for m in found} == set(at[:MAX_PER_KIND])
    assert max(moment.size for moment in found) == 1.0
    assert all(0 < moment.size <= 1 for moment in found)


@pytest.mark.parametrize("kind", PUTS)
def test_a_wide_spike_has_one_mark(kind: str):
    table = quiet()
    for offset, size in enumerate([2.0, 3.0, 4.0, 3.5, 2.5, 2.0]):
        PUTS[kind](table, 200 + offset, size if kind != "value_drop" else 0.7)
    assert len(of_kind(table, kind)) == 1


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), steps=st.integers(30, 300))
def test_nothing_is_marked_but_the_end_where_nothing_happens(seed: int, steps: int):
    assert [m.kind for m in key_moments(quiet(seed, steps))] == ["end"]


@settings(max_examples=20)
@given(value=st.floats(1, 100), steps=st.integers(1, 50))
def test_constant_series_have_no_marks(value: float, steps: int):
    table = quiet(steps=steps)
    for name, column in table.items():
        if column.dtype.kind == "f":
            table[name] = np.full(steps, value, column.dtype)
    # ten times the rounding errors of float32
    table["value_learned"] += np.random.default_rng(1).uniform(0, 1e-6, steps).astype(np.float32)
    table["logprob"], table["entropy"] = np.full(steps, -1.0), np.full(steps, 1.0)
    assert [m.kind for m in key_moments(table)] == ["end"]


def test_unknown_numbers_are_no_moments():
    table = quiet()
    table["td_error_learned"][-1] = np.nan
    table["logprob"][:50] = np.nan
    assert [m.kind for m in key_moments(table)] == ["end"]


def test_texts_are_in_units_of_the_reward_where_a_factor_exists():
    table = quiet()
    put_drop(table, 100, 5.0)
    put_surprise(table, 50, 3.0)
    table["action"][50] = "left"
    texts = {m.kind: m.text for m in key_moments(table)}
    assert texts["value_drop"].startswith("the value falls from 20")
    assert texts["surprise"] == "left was taken with probability 2.5 %"
    assert texts["end"] == "terminated after 400 steps with a return of 400"
    del table["value_raw"]
    assert of_kind(table, "value_drop")[0].text.endswith("(learned units)")


def test_the_end_says_how_the_episode_ended():
    table = quiet(steps=1)
    assert key_moments(table)[0].text == "terminated after 1 step with a return of 1"
    table["terminated"][:] = False
    assert key_moments(table)[0].text.startswith("the recording ends")
    table["truncated"][:] = True
    assert key_moments(table)[0].text.startswith("truncated")


def test_next_to_a_large_reward_a_small_one_is_no_event():
    table = quiet()
    put_reward(table, 7, 0.01)
    assert [moment.step for moment in of_kind(table, "reward")] == [7]
    put_reward(table, 300, 2.0)
    assert [moment.step for moment in of_kind(table, "reward")] == [300]


def test_a_table_without_a_critic_has_rewards_and_the_end():
    kept = ("reward_raw", "reward_so_far_raw", "terminated", "truncated")
    table = {name: column for name, column in quiet().items() if name in kept}
    put_reward(table, 7, 3.0)
    assert [(m.kind, m.step) for m in key_moments(table)] == [("reward", 7), ("end", T - 1)]
