"""A policy is restored from its stored form and acts as before."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.policy.policy import Policy
from gymnast.spaces import spaces
from gymnast.spaces.observations import leaves_of
from gymnast.spaces.spaces import (
    BoxAction,
    BoxObs,
    CompositeObs,
    DiscreteAction,
    DiscreteObs,
    ImageObs,
    MultiBinaryAction,
    MultiDiscreteAction,
    MultiDiscreteObs,
)

RNG = np.random.default_rng(4)
VECTOR = BoxObs((2, 2), (-1.0, -np.inf, 0.0, 0.0), (1.0, np.inf, 3.0, 1.0))
OBSERVATIONS = [
    VECTOR,
    DiscreteObs(5, -2),
    MultiDiscreteObs((2,), (3, 4), (0, -1)),
    ImageObs((6, 7, 2), 255, "last"),
    CompositeObs(
        "Dict", (("a", VECTOR), ("b", CompositeObs("Tuple", (("0", DiscreteObs(3, 1)),))))
    ),
    CompositeObs("Dict", (("eye", ImageObs((6, 7), 255, "last")), ("a", VECTOR))),
]
KINDS = ["vector", "category", "categories", "image", "parts", "parts with image"]
ACTIONS = [
    DiscreteAction(3, 1),
    MultiDiscreteAction((2,), (3, 2), (0, 1)),
    MultiBinaryAction((3,)),
    BoxAction((2,), (-1.0, -np.inf), (1.0, np.inf)),
]


def trained(obs, action, **more) -> Policy:
    """Returns a policy with weights and statistics that differ from those of a new one."""
    cfg = PolicyConfig(hidden=(8,), layer_norm=True, log_std=-0.3, **more)
    policy = Policy(obs, action, cfg, NormalizeConfig(obs="running", value="popart"))
    policy.initialize(7, "agent")
    policy.parameters.flat += RNG.normal(0, 0.1, policy.parameters.flat.size).astype(np.float32)
    if policy.normalizer is not None:
        policy.normalizer.update(RNG.normal(3, 2, (50, 4)).astype(np.float32))
    last = len(policy.network.critic) - 1
    views = policy.parameters.views
    target = RNG.normal(40, 5, 100)
    policy.value_scale.update(target, views[f"critic.{last}.weight"], views[f"critic.{last}.bias"])
    return policy


def seen_by(obs) -> np.ndarray:
    rows = spaces.blank_obs(obs, 9)
    for name, leaf in leaves_of(obs).items():
        part = rows[name] if name else rows
        if isinstance(leaf, BoxObs):
            part[:] = RNG.normal(3, 2, part.shape)
        elif isinstance(leaf, ImageObs):
            part[:] = RNG.integers(256, size=part.shape)
        else:
            part[:] += RNG.integers(np.reshape(leaf.n, leaf.shape), size=part.shape)
    return rows


@pytest.mark.parametrize("obs", OBSERVATIONS, ids=KINDS)
@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: type(a).__name__)
def test_a_policy_is_restored_from_its_json_and_arrays_bit_for_bit(obs, action):
    policy, seen = trained(obs, action), seen_by(obs)
    again = Policy.from_spec(json.loads(json.dumps(policy.spec())))
    again.load(policy.arrays())
    assert np.array_equal(again.dist(seen), policy.dist(seen))
    assert np.array_equal(again.value(seen), policy.value(seen))
    assert again.spec() == policy.spec()
    assert again.parameters.shapes == policy.parameters.shapes


def test_saved_arrays_do_not_change_with_the_policy():
    policy = trained(VECTOR, ACTIONS[0])
    arrays = policy.arrays()
    before = {name: array.copy() for name, array in arrays.items()}
    policy.parameters.flat += 1
    policy.normalizer.update(seen_by(VECTOR))
    policy.value_scale.update(np.arange(50.0), np.ones((8, 1)), np.zeros(1))
    assert all(np.array_equal(before[name], array) for name, array in arrays.items())


def test_loaded_weights_do_not_change_with_their_source():
    policy, seen = trained(VECTOR, ACTIONS[0]), seen_by(VECTOR)
    arrays = policy.arrays()
    again = Policy.from_spec(policy.spec())
    again.load(arrays)
    before = again.dist(seen)
    for array in arrays.values():
        array += 1
    assert np.array_equal(again.dist(seen), before)


def test_compatible_layers_are_loaded_and_the_others_are_named():
    source, seen = trained(VECTOR, ACTIONS[0]), seen_by(VECTOR)
    other = Policy(
        VECTOR,
        DiscreteAction(5, 0),  # another number of actions: the actor's last layer does not fit
        PolicyConfig(hidden=(8,), layer_norm=True),
        NormalizeConfig(obs="running", value="popart"),
    )
    other.initialize(1, "agent")
    fresh = {name: view.copy() for name, view in other.parameters.views.items()}
    taken, kept = other.load_compatible(source.arrays())
    assert set(kept) == {"actor.3.weight", "actor.3.bias"}
    assert set(taken) == set(source.arrays()) - set(kept)
    assert all(np.array_equal(other.parameters.views[n], fresh[n]) for n in kept)
    assert np.array_equal(other.value(seen), source.value(seen))


def test_no_layer_of_another_kind_of_policy_is_loaded():
    other = Policy(
        DiscreteObs(3, 0), DiscreteAction(2, 0), PolicyConfig(hidden=(16,)), NormalizeConfig()
    )
    taken, _ = other.load_compatible({"something": np.zeros(3)})
    assert taken == []


@pytest.mark.parametrize("space", [*OBSERVATIONS, *ACTIONS], ids=lambda s: type(s).__name__)
def test_spaces_are_restored_from_json(space):
    assert spaces.from_json(json.loads(json.dumps(spaces.to_json(space)))) == space


def test_spaces_are_distinguished_by_type():
    from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete

    assert spaces.convert_obs_space(Discrete(4, start=2)) == DiscreteObs(4, 2)
    assert spaces.convert_action_space(Discrete(4, start=2)) == DiscreteAction(4, 2)
    one = Box(np.float32(-1), np.float32(1), (1,))
    assert spaces.convert_obs_space(one) == BoxObs((1,), (-1.0,), (1.0,))
    assert spaces.convert_action_space(one) == BoxAction((1,), (-1.0,), (1.0,))
    several = MultiDiscrete([[2, 3]], start=[[0, 1]])
    assert spaces.convert_obs_space(several) == MultiDiscreteObs((1, 2), (2, 3), (0, 1))
    assert spaces.convert_action_space(several) == MultiDiscreteAction((1, 2), (2, 3), (0, 1))
    assert spaces.convert_action_space(MultiBinary((2, 2))) == MultiBinaryAction((2, 2))
    assert spaces.convert_obs_space(MultiBinary(3)) == BoxObs((3,), (0.0,) * 3, (1.0,) * 3)
