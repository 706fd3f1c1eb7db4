"""Tuple and Dict actions: their forms, masks and distributions."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Text, Tuple
from gymnasium.vector.utils import batch_space, iterate
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast.engine.torch.distributions import distribution
from gymnast.errors import ConfigError, EnvError
from gymnast.policy.actions import head_for
from gymnast.spaces import spaces
from gymnast.spaces.spaces import CompositeAction, convert_action_space
from tests.engine.native.problems import ACTIONS, Problem
from tests.engine.native.reference import composite

COMPOSITE = [name for name, (space, _) in ACTIONS.items() if isinstance(space, CompositeAction)]
SPACE = Dict(
    aim=Box(np.float32([-2, 0]), np.float32([6, 1])),
    inner=Tuple((Discrete(4, start=2), MultiBinary(2))),
    turn=MultiDiscrete([[3], [2]], start=[[1], [0]]),
)
LEAVES = st.one_of(
    st.builds(Discrete, st.integers(1, 5), start=st.integers(-3, 3)),
    st.lists(st.integers(1, 4), min_size=1, max_size=3).map(MultiDiscrete),
    st.integers(1, 3).map(MultiBinary),
    st.integers(1, 3).map(lambda n: Box(-2.0, 3.0, (n,), np.float32)),
)
COMPOSITES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(Tuple),
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1).map(Dict),
    ),
    max_leaves=6,
).filter(lambda space: isinstance(space, Tuple | Dict))


def random_masks(space: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """Returns masks that allow at least one option of every element."""
    masks = [rng.random((n, k)) < 0.4 for k in space.options]
    for own in masks:
        own[np.arange(n), rng.integers(own.shape[1], size=n)] = True
    return np.concatenate(masks, -1) if masks else np.ones((n, 0), bool)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("action", COMPOSITE)
def test_numpy_and_torch_agree_with_the_sums_over_the_parts(action: str, masked: bool):
    problem = Problem.make(action=action, masked=masked, rows=200)
    policy, batch, head = problem.policy, problem.batch, problem.policy.head
    output = policy.inference.actor(np.asarray(batch.features))
    new, old = policy.dist_from_output(output, batch.mask), batch.dist
    mask = None if batch.mask is None else torch.from_numpy(batch.mask)
    views = policy.parameters.views
    weights = {name: torch.from_numpy(view) for name, view in views.items()}
    twin = distribution(head, torch.from_numpy(output), weights, mask)
    log_std = weights["actor.log_std"].double() if "actor.log_std" in weights else None
    acted = torch.from_numpy(batch.action)
    tensors = (
        torch.from_numpy(output).double(),
        log_std,
        mask,
        acted,
        torch.from_numpy(old).double(),
    )
    expected = composite(policy.action_space, *tensors, squash=policy.cfg.squash)
    ours = head.logprob(new, batch.action), head.entropy(new), head.kl(old, new)
    theirs = twin.logprob(acted), twin.entropy(), twin.kl_from(torch.from_numpy(old))
    for numpy_term, torch_term, term in zip(ours, theirs, expected, strict=True):
        np.testing.assert_allclose(numpy_term, term.numpy(), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(torch_term.numpy(), term.numpy(), rtol=1e-4, atol=1e-4)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(space=COMPOSITES, seed=st.integers(0, 10**6))
def test_no_action_violates_its_mask_and_every_action_is_in_the_space(space: Any, seed: int):
    rng, n = np.random.default_rng(seed), 16
    kind = convert_action_space(space)
    head, mask = head_for(kind, -0.5), random_masks(kind, n, rng)
    extra = np.zeros(head.n_outputs, np.float32)
    output = rng.normal(0, 3, (n, head.n_outputs)).astype(np.float32)
    dist = head.dist_parameters(output, extra, mask)
    noise = head.noise(rng, (n,))
    noise[0, ~kind.is_continuous] = 0.0  # the lowest noise must not select a masked option
    for action in (head.sample(dist, noise), head.mode(dist)):
        rows = head.for_env(action)
        assert all(kind.is_allowed(row, own) for row, own in zip(rows, mask, strict=True))
        assert all(space.contains(one) for one in kind.unpack_each(rows))
    drawn = kind.random((n,), rng, mask)
    assert all(kind.is_allowed(row, own) for row, own in zip(drawn, mask, strict=True))
    probability = head.option_probabilities(dist)
    assert probability.shape == mask.shape
    assert (probability[~mask] == 0).all()
    assert probability.sum(-1) == pytest.approx(len(kind.options), rel=1e-5)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(space=COMPOSITES, seed=st.integers(0, 10**6))
def test_every_form_of_an_action_has_the_same_numbers(space: Any, seed: int):
    space.seed(seed)
    kind, n = convert_action_space(space), 5
    assert spaces.from_json(spaces.to_json(kind)) == kind
    actions = [space.sample() for _ in range(n)]
    rows = np.stack([kind.pack(action) for action in actions])
    assert rows.shape == (n, *kind.row_spec.shape)
    assert rows.dtype == kind.row_spec.dtype
    assert len(kind.elements) == rows.shape[1] == len(kind.names())
    for action, again in zip(actions, kind.unpack_each(rows), strict=True):
        assert space.contains(again)
        assert same(action, again)
    batch: Any = kind.unpack_batch(rows)
    for action, again in zip(actions, iterate(batch_space(space, n), batch), strict=True):
        assert same(action, again)
    for flat in kind.extremes(64):
        assert space.contains(kind.unpack(kind.unflatten(flat)))
    assert space.contains(kind.unpack(kind.unflatten(kind.idle)))


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return np.array_equal(one, other)


def test_elements_are_named_by_their_path():
    kind = convert_action_space(SPACE)
    names = ("aim.0", "aim.1", "inner.0", "inner.1.0", "inner.1.1", "turn.0", "turn.1")
    assert kind.names() == names
    assert kind.names(tuple("abcdefg")) == tuple("abcdefg")
    action = {
        "aim": np.float32([0.5, 1]),
        "inner": (3, np.int8([0, 1])),
        "turn": np.array([[1], [1]]),
    }
    text = "aim.0 +0.50, aim.1 +1.00, inner.0 3, inner.1.0 0, inner.1.1 1, turn.0 1, turn.1 1"
    assert kind.action_text(action) == text
    assert kind.text == "(aim (2,), inner (0 1 of 4, 1 (2,)), turn 1 each of 3, 2)"


def test_a_mask_may_be_one_array_or_have_the_form_of_the_action():
    kind = convert_action_space(SPACE)
    switches, turn = np.int8([2, 1]), ((np.int8([1, 0, 1]),), (np.int8([0, 1]),))
    expected = [1, 0, 1, 1, *(1, 1, 0, 1), *(1, 0, 1, 0, 1)]
    whole = {"aim": None, "inner": (np.int8([1, 0, 1, 1]), switches), "turn": turn}
    for given_mask in (
        whole,
        {k: whole[k] for k in ("inner", "turn")},
        np.array(expected),
        expected,
    ):
        assert spaces.as_masks(kind, [given_mask])[0].tolist() == [bool(x) for x in expected]
    assert spaces.as_masks(kind, [None, {}]).all()
    SPACE.sample(mask=whole)  # the form is the one of Gymnasium


@pytest.mark.parametrize(
    ("mask", "problem"),
    [
        ({"inne": None}, "one entry per option"),
        ({"aim": np.ones(2)}, "one entry per option"),
        ({"inner": (np.ones(3), None)}, "one entry per option"),
        ({"inner": (np.ones(4),)}, "one entry per option"),
        ({"inner": (None, np.ones(2, bool))}, "one entry per option"),
        (np.ones(12), "one entry per option"),
        ("all", "one entry per option"),
        ({"turn": (np.ones(3), np.zeros(2))}, "allows nothing for element turn.1"),
        ({"inner": (np.zeros(4), None)}, "allows nothing for element inner.0"),
    ],
)
def test_a_wrong_mask_is_explained(mask: Any, problem: str):
    with pytest.raises(EnvError, match=problem):
        spaces.as_masks(convert_action_space(SPACE), [mask])


@pytest.mark.parametrize(
    ("space", "problem"),
    [
        (Dict(a=Discrete(2), b=Text(5)), r"entry b: Text actions \(.*\) are not supported"),
        (Tuple((Box(0, 5000, (2,), np.int64),)), "entry 0: Box actions of int64"),
        (Tuple(()), "Tuple actions"),
        (Dict({"a.0": Discrete(2), "a": MultiDiscrete([2, 2])}), "no distinct names"),
        (Dict({1: Discrete(2)}), "must be text"),
    ],
)
def test_an_unsupported_entry_is_one_clear_line(space: gym.Space[Any], problem: str):
    with pytest.raises(EnvError, match=problem) as refusal:
        convert_action_space(space)
    assert "\n" not in refusal.value.message


def test_q_values_need_discrete_actions_and_squashing_needs_bounds():
    with pytest.raises(ConfigError, match="needs Discrete actions; these are Dict actions"):
        head_for(convert_action_space(SPACE), action_selection="epsilon_greedy")
    open_ended = Tuple((Discrete(2), Box(-np.inf, np.inf, (1,))))
    with pytest.raises(ConfigError, match=r"policy\.squash"):
        head_for(convert_action_space(open_ended), squash=True)


def test_entropy_has_a_maximum_only_without_continuous_elements():
    assert convert_action_space(SPACE).max_entropy is None
    only_options = convert_action_space(Tuple((Discrete(4), MultiBinary(2))))
    assert only_options.max_entropy == pytest.approx(np.log(16))
    allowed = np.array([[1, 1, 0, 0, 1, 1, 1, 0]], bool)
    assert only_options.highest_masked_entropy(allowed) == pytest.approx(np.log(4))


@pytest.mark.parametrize("squash", [False, True])
@given(space=st.one_of(LEAVES, COMPOSITES), seed=st.integers(0, 9))
@settings(max_examples=60)
def test_a_single_sample_is_that_row_of_a_batch(space: Any, seed: int, squash: bool):
    kind = convert_action_space(space)
    head, rng = head_for(kind, squash=squash), np.random.default_rng(seed)
    output = rng.standard_normal((3, head.n_outputs)).astype(np.float32)
    extra = np.zeros(sum(size for _, size, _ in head.extra_parameters), np.float32)
    dist = head.dist_parameters(output, extra if len(extra) else None, None)
    streams = [np.random.default_rng(seed + i) for i in range(3)]
    noise = [head.noise(stream, ()) for stream in streams]
    batch = head.sample(dist, np.stack(noise))
    for row in range(3):
        one = head.sample(dist[row], noise[row])
        assert np.array_equal(one, batch[row])
        assert np.array_equal(head.for_env(one), head.for_env(batch)[row])
        assert np.allclose(head.logprob(dist[row], one), head.logprob(dist, batch)[row])
        assert np.allclose(head.entropy(dist[row]), head.entropy(dist)[row])
