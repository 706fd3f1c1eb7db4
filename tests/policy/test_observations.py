"""Observations of every space become one array, and invalid observations are reported."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import (
    Box,
    Dict,
    Discrete,
    Graph,
    MultiBinary,
    MultiDiscrete,
    OneOf,
    Sequence,
    Text,
    Tuple,
)

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.errors import ConfigError, EnvError
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.observations import as_box, blank_obs, non_image_columns
from gymnast.spaces.spaces import (
    BoxObs,
    CompositeObs,
    DiscreteAction,
    DiscreteObs,
    ImageObs,
    MultiDiscreteObs,
)
from tests.identity import OBSERVATIONS, Identity

NESTED = Dict(
    {
        "camera": Box(0, 255, (5, 6, 3), np.uint8),
        "body": Tuple((Box(-1.0, 2.0, (2, 2), np.float64), Discrete(3, start=4))),
        "keys": MultiDiscrete([2, 3], start=[0, 7]),
        "flags": MultiBinary(2),
    }
)
LEAVES = {
    "body.0": BoxObs((2, 2), (-1.0,) * 4, (2.0,) * 4),
    "body.1": DiscreteObs(3, 4),
    "camera": ImageObs((5, 6, 3), 255, "last"),
    "flags": BoxObs((2,), (0.0,) * 2, (1.0,) * 2),
    "keys": MultiDiscreteObs((2,), (2, 3), (0, 7)),
}


def sampled(space: Any, n: int) -> tuple[list[Any], np.ndarray]:
    """Returns observations as an environment returns them, and as rows."""
    known = spaces.convert_obs_space(space)
    space.seed(3)
    given = [space.sample() for _ in range(n)]
    rows = blank_obs(known, n)
    for i, obs in enumerate(given):
        assert known.put(rows, i, obs) is None
    return given, rows


def test_nested_entries_become_fields_of_their_type():
    assert spaces.convert_obs_space(NESTED).leaves == LEAVES


def test_a_record_stores_every_entry_unchanged():
    given, rows = sampled(NESTED, 6)
    assert rows.shape == (6,)
    for row, obs in zip(rows, given, strict=True):
        assert np.array_equal(row["camera"], obs["camera"])
        assert np.array_equal(row["body.0"], obs["body"][0].astype(np.float32))
        assert row["body.1"] == obs["body"][1]
        assert np.array_equal(row["keys"], obs["keys"])
        assert np.array_equal(row["flags"], obs["flags"])


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_every_kind_of_space_is_restored_from_json_and_accepts_its_samples(name: str):
    space = OBSERVATIONS[name]()
    known = spaces.convert_obs_space(space)
    assert spaces.from_json(json.loads(json.dumps(spaces.to_json(known)))) == known
    _, rows = sampled(space, 4)
    assert (rows.shape, rows.dtype) == ((4, *known.shape), known.dtype)
    first = Identity(obs=name).reset(seed=1)[0]
    assert known.put(rows, 0, first) is None


WRONG: dict[str, tuple[Any, str]] = {
    "no dict": ([1, 2], "the observation is a list, not a dict"),
    "key": ({"camera": None}, "the observation lacks the entry body"),
    "no tuple": ({"body": {}}, "entry body is a dict, not a tuple"),
    "short": ({"body": (np.zeros((2, 2)),)}, "entry body lacks the entry 1"),
    "long": (
        {"body": (np.zeros((2, 2)), 4, 5)},
        "entry body has an entry 2 that is not in its space",
    ),
    "extra": ({"more": 1}, "the observation has an entry more that is not in its space"),
    "shape": ({"body": (np.zeros(3), 4)}, r"entry body.0 has shape \(3,\), its space says"),
    "category": ({"body": (np.zeros((2, 2)), 9)}, "entry body.1 is 9, not one of 3"),
    "float image": ({"camera": np.zeros((5, 6, 3))}, "camera is of float64, its space says uint8"),
    "keys": ({"keys": np.array([0, 6])}, r"entry keys is \[0, 6\], not within \[2, 3\]"),
    "fractions": ({"keys": np.array([0.0, 7.0])}, "entry keys is of float64, not whole"),
}


@pytest.mark.parametrize("how", WRONG)
def test_an_invalid_observation_is_reported_with_its_entry(how: str):
    change, text = WRONG[how]
    known = spaces.convert_obs_space(NESTED)
    (good,), rows = sampled(NESTED, 1)
    whole = change if isinstance(change, list) or how == "key" else {**good, **change}
    problem = known.put(rows, 0, whole)
    assert problem is not None
    assert re.search(text, problem), problem


def test_non_finite_numbers_are_found_with_their_position():
    known = spaces.convert_obs_space(NESTED)
    _, rows = sampled(NESTED, 4)
    assert known.not_finite(rows) is None
    rows["body.0"][2, 1, 0] = np.nan
    assert known.not_finite(rows).tolist() == [False, False, True, False]
    assert known.where_not_finite(rows[2]) == "index [1, 0] of entry body.0"


def test_blank_rows_are_valid_observations():
    rows = blank_obs(spaces.convert_obs_space(NESTED), 3)
    assert rows["body.1"].tolist() == [4] * 3
    assert rows["keys"].tolist() == [[0, 7]] * 3
    assert not rows["camera"].any()


def test_records_support_the_same_operations_as_arrays():
    _, rows = sampled(NESTED, 12)
    stacked = np.stack([rows[:6], rows[6:]])
    assert np.array_equal(np.concatenate([stacked[0], stacked[1]]), rows)
    chosen = stacked[np.array([[True, False] * 3, [False] * 6])]
    assert np.array_equal(chosen, rows[:6:2])
    buffer = np.empty((2, 6), rows.dtype)
    buffer[0], buffer[1] = rows[:6], rows[6:]
    assert np.array_equal(buffer, stacked)
    ((other := buffer.copy())["camera"])[1, 2, 0, 0, 0] ^= 1
    assert not np.array_equal(other, buffer)
    assert not np.array_equal(other[1, 2], buffer[1, 2])
    assert np.array_equal(other[1, 1], buffer[1, 1])


def test_categories_are_counted_from_0_vectors_normalized_and_images_unchanged():
    known = spaces.convert_obs_space(NESTED)
    _, rows = sampled(NESTED, 40)
    policy = Policy(known, DiscreteAction(2, 0), PolicyConfig(), NormalizeConfig(obs="running"))
    vectors = np.concatenate([rows["body.0"].reshape(40, 4), rows["flags"]], 1)
    assert np.array_equal(policy.features.concat_vectors(rows), vectors)
    policy.normalizer.update(vectors)
    seen = policy.features(rows).view(known.dtype)[:, 0]
    expected = (vectors - vectors.mean(0)) / vectors.std(0)
    assert np.allclose(seen["body.0"].reshape(40, 4), expected[:, :4], atol=1e-5)
    assert np.allclose(seen["flags"], expected[:, 4:], atol=1e-5)
    assert np.array_equal(seen["camera"], rows["camera"])
    assert np.array_equal(seen["body.1"], rows["body.1"] - 4)
    assert np.array_equal(seen["keys"], rows["keys"] - [0, 7] + [0, 2])  # one table for both
    assert np.array_equal(rows["body.1"], sampled(NESTED, 40)[1]["body.1"])  # unchanged


def test_only_numeric_columns_are_listed_and_only_vectors_are_normalized():
    _, rows = sampled(NESTED, 2)
    assert set(non_image_columns(rows)) == {"body.0", "body.1", "flags", "keys"}
    assert as_box(spaces.convert_obs_space(NESTED)).size == 6
    assert as_box(ImageObs((5, 6, 3), 255, "last")) is None
    assert non_image_columns(np.zeros((3, 5, 6), np.uint8)) == {}


@pytest.mark.parametrize(
    ("shape", "channels", "planes"),
    [
        ((84, 84, 3), "last", (3, 84, 84)),
        ((4, 84, 84), "first", (4, 84, 84)),
        ((8, 8, 3), "last", (3, 8, 8)),
        ((2, 10, 16), "first", (2, 10, 16)),
        ((10, 12), "last", (1, 10, 12)),
    ],
)
def test_the_shorter_end_of_the_shape_is_the_channel_axis(shape, channels, planes):
    image = spaces.convert_obs_space(Box(0, 255, shape, np.uint8))
    known = spaces.with_image_channels(image, "auto")
    assert (known.channels, known.planes) == (channels, planes)


@pytest.mark.parametrize("shape", [(32, 32, 32), (8, 9, 8), (40, 5, 30)])
def test_an_ambiguous_image_shape_needs_image_channels(shape):
    image = spaces.convert_obs_space(Dict({"a": Box(0, 255, shape, np.uint8)}))
    with pytest.raises(ConfigError, match=r"policy\.image_channels") as refused:
        Policy(image, DiscreteAction(2, 0), PolicyConfig(), NormalizeConfig())
    assert "first or last" in refused.value.fix
    configured = Policy(
        image, DiscreteAction(2, 0), PolicyConfig(image_channels="first"), NormalizeConfig()
    )
    assert configured.obs_space.leaves["a"].planes == shape
    assert Policy.from_spec(configured.spec()).obs_space == configured.obs_space


def test_bytes_are_images_and_floats_are_vectors_whatever_their_shape():
    kinds = {
        BoxObs: [Box(0, 1, (8, 8, 3), np.float32), Box(0, 255, (12,), np.uint8)],
        ImageObs: [Box(0, 255, (8, 8, 3), np.uint8), Box(0, 1, (8, 8), np.uint8)],
    }
    for kind, boxes in kinds.items():
        assert all(isinstance(spaces.convert_obs_space(box), kind) for box in boxes)
    assert spaces.convert_obs_space(Box(0, 1, (8, 8), np.uint8)).top == 1


def test_an_unsupported_space_is_rejected_with_the_supported_ones():
    number = Discrete(2)
    for unknown in (Text(5), Graph(number, number), Sequence(number), OneOf([number]), Dict({})):
        with pytest.raises(EnvError, match="supported are Box, Discrete, MultiDiscrete"):
            spaces.convert_obs_space(unknown)
        with pytest.raises(EnvError, match="supported are Discrete"):
            spaces.convert_action_space(unknown)
    with pytest.raises(EnvError, match="Box actions of int64 with more than 1,024 values"):
        spaces.convert_action_space(Box(0, 1024, (2,), np.int64))
    with pytest.raises(EnvError, match="no distinct names"):
        spaces.convert_obs_space(Dict({"a.b": number, "a": Dict({"b": number})}))
    assert isinstance(spaces.convert_obs_space(Tuple((number,))), CompositeObs)
