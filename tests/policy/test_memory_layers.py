"""Policies with memory: cells against torch's own, the layout of the state, and misuse."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from gymnast.config.memory_spec import MemorySpec
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.engine.torch.network import TorchNetwork
from gymnast.engine.torch.recurrent import SequenceTensors
from gymnast.errors import ConfigError
from gymnast.policy.cells import CELLS
from gymnast.policy.layers import Recurrent
from gymnast.policy.policy import Policy
from gymnast.spaces.spaces import BoxObs, CompositeObs, DiscreteAction, DiscreteObs, ImageObs

VECTOR = BoxObs((5,), (-1.0,) * 5, (1.0,) * 5)
IMAGE = ImageObs((2, 36, 36), 255, "first")
DICT = CompositeObs("Dict", (("gear", DiscreteObs(3, 1)), ("speed", VECTOR)))
LAYOUTS: dict[str, dict[str, Any]] = {
    "separate": {},
    "shared memory": {"memory_shared": True},
    "shared": {"shared": True},
}


def policy_of(obs: Any = VECTOR, memory: str = "lstm:12", **settings: Any) -> Policy:
    cfg = PolicyConfig.model_validate({"hidden": (8,), "memory": memory, **settings})
    policy = Policy(obs, DiscreteAction(3, 0), cfg, NormalizeConfig(obs="off"))
    policy.initialize(5, "agent")
    rng = np.random.default_rng(0)
    for view in policy.parameters.views.values():
        view += rng.normal(0, 0.3, view.shape).astype(np.float32)
    return policy


def observations(obs: Any, *shape: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    seen = np.zeros((*shape, *obs.shape), obs.dtype)
    if isinstance(obs, BoxObs):
        seen[...] = rng.normal(size=seen.shape)
    elif isinstance(obs, ImageObs):
        seen[...] = rng.integers(256, size=seen.shape)
    else:
        seen["gear"] = rng.integers(1, 4, size=seen["gear"].shape)
        seen["speed"] = rng.normal(size=seen["speed"].shape)
    return seen


@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_computes_what_the_layer_of_torch_computes(kind: str):
    """torch stores weights as [gates * n, n_in], and has two biases per gate."""
    rng, n_in, n, steps = np.random.default_rng(3), 4, 6, 7
    layer = Recurrent(kind, n_in, n)  # type: ignore[arg-type]
    columns = layer.cell.gates * n
    weights = {
        "weight": rng.normal(0, 0.5, (n_in, columns)),
        "recurrent": rng.normal(0, 0.5, (n, columns)),
        "bias": rng.normal(0, 0.5, columns),
    } | {name: rng.normal(0, 0.5, n) for name in layer.cell.extra}
    peer = getattr(torch.nn, kind.upper())(n_in, n, dtype=torch.float64)
    inner = np.zeros(columns)
    if "recurrent_bias" in weights:
        inner[2 * n :] = weights["recurrent_bias"]
    with torch.no_grad():
        peer.weight_ih_l0[:] = torch.from_numpy(weights["weight"].T)
        peer.weight_hh_l0[:] = torch.from_numpy(weights["recurrent"].T)
        peer.bias_ih_l0[:] = torch.from_numpy(weights["bias"])
        peer.bias_hh_l0[:] = torch.from_numpy(inner)
        x = rng.normal(size=(steps, 3, n_in))
        expected = peer(torch.from_numpy(x))[0].numpy()
    state, found = np.zeros((3, layer.state_size)), []
    for row in x:
        state = layer.cell.step(row @ weights["weight"] + weights["bias"], state, weights)
        found.append(state[:, :n])
    assert np.allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("memory", "layout", "obs"),
    list(itertools.product(("lstm:12", "gru:7", "gru:6x2"), LAYOUTS, (VECTOR, DICT, IMAGE))),
)
def test_acting_step_by_step_equals_the_pass_over_sequences_with_resets(
    memory: str, layout: str, obs: Any
):
    policy, length, count = policy_of(obs, memory, **LAYOUTS[layout]), 6, 4
    seen = observations(obs, length, count)
    start = np.random.default_rng(2).random((length, count)) < 0.3
    first = np.random.default_rng(3).normal(size=(count, policy.state_size)).astype(np.float32)
    network = TorchNetwork(policy.network, policy.parameters)
    features = policy.features(seen.reshape(-1, *obs.shape))
    with torch.no_grad():
        state, resets = torch.from_numpy(first), torch.from_numpy(start)
        sequences = SequenceTensors(state, resets, torch.zeros_like(resets))
        outputs, values = network(torch.from_numpy(features), sequences)
    now, dists, found = first.copy(), [], []
    for t in range(length):
        now[start[t]] = 0
        dist, value, now = policy.step(seen[t], now)
        dists.append(dist)
        found.append(value)
    expected = policy.dist_from_output(outputs.numpy(), None)
    assert np.allclose(np.concatenate(dists), expected, atol=2e-5)
    assert np.allclose(np.concatenate(found), values, atol=2e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_state_has_one_part_per_layer_in_the_order_shared_actor_critic(layout: str):
    policy = policy_of(memory="lstm:12x2", **LAYOUTS[layout])
    owners = [name.partition(".")[0] for name in policy.network.state_slices]
    assert owners == {"separate": ["actor"] * 2 + ["critic"] * 2}.get(layout, ["shared"] * 2)
    spans = list(policy.network.state_slices.values())
    assert spans[0].start == 0
    assert all(a.stop == b.start for a, b in itertools.pairwise(spans))
    assert spans[-1].stop == policy.state_size == 24 * len(spans)


def test_the_states_of_an_episode_lead_to_the_decisions_of_its_steps():
    policy, seen = policy_of(), observations(VECTOR, 9)
    states = policy.unroll(seen)
    assert states.shape == (10, policy.state_size)
    assert not states[0].any()
    state = policy.initial_state(1)
    for t in range(9):
        assert np.array_equal(states[t], state[0])
        state = policy.step(seen[t : t + 1], state)[2]
    middle = policy.unroll(seen[4:], states[4])
    assert np.array_equal(middle, states[4:])


def test_a_forgotten_or_foreign_state_is_an_error_and_not_an_empty_memory():
    policy, seen = policy_of(), observations(VECTOR, 3)
    for call in (policy.dist, policy.value):
        with pytest.raises(ValueError, match="this policy has memory"):
            call(seen)
    with pytest.raises(ValueError, match=r"state of shape \(3, 48\), not one of shape \(2, 48\)"):
        policy.step(seen, policy.initial_state(2))


def test_a_policy_without_memory_has_an_empty_state_that_costs_nothing():
    cfg = PolicyConfig(hidden=(8,))
    policy = Policy(VECTOR, DiscreteAction(3, 0), cfg, NormalizeConfig(obs="off"))
    policy.initialize(0, "agent")
    seen, empty = observations(VECTOR, 3), policy.initial_state(3)
    assert empty.shape == (3, 0)
    dist, value, after = policy.step(seen, empty)
    assert after is empty
    assert np.array_equal(dist, policy.dist(seen))
    assert np.array_equal(value, policy.value(seen))


@pytest.mark.parametrize("kind", CELLS)
def test_initial_weights_are_orthogonal_for_each_gate_and_an_lstm_remembers(kind: str):
    cfg = PolicyConfig.model_validate({"memory": f"{kind}:8"})
    policy = Policy(VECTOR, DiscreteAction(3, 0), cfg, NormalizeConfig(obs="off"))
    policy.initialize(0, "agent")
    weights = policy.parameters.views
    for gate in np.split(weights["actor.0.recurrent"], CELLS[kind].gates, axis=1):  # type: ignore[index]
        assert np.allclose(gate.T @ gate, np.eye(8), atol=1e-6)
    for gate in np.split(weights["actor.0.weight"], CELLS[kind].gates, axis=1):  # type: ignore[index]
        assert np.allclose(gate @ gate.T, np.eye(5), atol=1e-6)
    expected = np.repeat([0, 1, 0, 0], 8) if kind == "lstm" else np.zeros(24)
    assert np.array_equal(weights["actor.0.bias"], expected)


def test_a_stored_policy_with_memory_is_restored_from_its_description():
    policy, seen = policy_of(memory="gru:6x2"), observations(VECTOR, 4)
    again = Policy.from_spec(policy.spec())
    again.load(policy.arrays())
    state = policy.unroll(seen)[1:]
    assert np.array_equal(again.dist(seen, None, state), policy.dist(seen, None, state))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lstm:128", MemorySpec("lstm", 128)),
        ("GRU:64x2", MemorySpec("gru", 64, 2)),
        (" lstm:1 ", MemorySpec("lstm", 1)),
    ],
)
def test_a_memory_is_written_as_cell_units_and_layers(text: str, expected: MemorySpec):
    assert MemorySpec.parse(text) == expected
    assert MemorySpec.parse(str(expected)) == expected


@pytest.mark.parametrize("text", ["lstm", "lstm:0", "rnn:8", "gru:8x0", "gru:8x9", "lstm:-3", 64])
def test_anything_else_is_refused_with_what_was_expected(text: object):
    with pytest.raises(ValueError, match="expected"):
        MemorySpec.parse(text)


def test_memory_next_to_a_module_of_the_user_is_refused():
    with pytest.raises(ConfigError, match="a module of your own"):
        policy_of(module="tests.engine.own_nets:Plain")


def test_memory_of_q_values_is_refused():
    cfg = PolicyConfig.model_validate({"memory": "gru:4"})
    with pytest.raises(ConfigError, match="replays single steps"):
        Policy(VECTOR, DiscreteAction(3, 0), cfg, NormalizeConfig(obs="off"), "epsilon_greedy")
