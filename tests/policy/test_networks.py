"""Networks as data: NumPy and torch give the same outputs, on the same aligned memory."""

from __future__ import annotations

import itertools
from typing import get_args

import numpy as np
import pytest
import torch

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import ActivationName, PolicyConfig
from gymnast.engine.torch.network import TorchNetwork
from gymnast.policy.layers import Embedding, Linear
from gymnast.policy.parameters import Parameters, aligned_zeros
from gymnast.policy.policy import Policy
from gymnast.policy.weights import orthogonal
from gymnast.seeds import stream
from gymnast.spaces.spaces import BoxAction, BoxObs, DiscreteAction, DiscreteObs

VECTOR = BoxObs((6,), (-1.0,) * 6, (1.0,) * 6)
CATEGORY = DiscreteObs(7, 0)
KINDS = list(
    itertools.product(
        get_args(ActivationName),
        (False, True),
        (False, True),
        (VECTOR, CATEGORY),
        ((), (24, 17)),
    )
)


def policy_of(obs, activation="tanh", layer_norm=False, shared=False, hidden=(24, 17), action=None):
    cfg = PolicyConfig(
        hidden=hidden, activation=activation, layer_norm=layer_norm, shared=shared, embedding=9
    )
    policy = Policy(obs, action or DiscreteAction(3, 0), cfg, NormalizeConfig())
    policy.initialize(5, "agent")
    rng = np.random.default_rng(0)  # away from the near-zero heads and the zero biases
    for view in policy.parameters.views.values():
        view += rng.normal(0, 0.3, view.shape).astype(np.float32)
    return policy


def observations(obs, n: int = 33) -> np.ndarray:
    rng = np.random.default_rng(1)
    if isinstance(obs, DiscreteObs):
        return rng.integers(obs.first, obs.first + obs.n, size=n)
    return rng.normal(0, 2, (n, *obs.shape)).astype(np.float32)


@pytest.mark.parametrize(("activation", "layer_norm", "shared", "obs", "hidden"), KINDS)
def test_numpy_and_torch_give_the_same_outputs_for_every_kind_of_network(
    activation, layer_norm, shared, obs, hidden
):
    policy = policy_of(obs, activation, layer_norm, shared, hidden)
    seen = observations(obs)
    network = TorchNetwork(policy.network, policy.parameters)
    with torch.no_grad():
        output, value = network(torch.from_numpy(policy.features(seen)))
    assert np.allclose(policy.dist(seen), output.numpy(), rtol=1e-5, atol=1e-5)
    assert np.allclose(policy.value(seen), value.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("obs", [VECTOR, CATEGORY], ids=["vector", "category"])
def test_the_network_matches_a_plain_mlp(obs):
    """Embedding, linear, layer norm, tanh and linear are written out in float64."""
    policy = policy_of(obs, layer_norm=True, hidden=(24,))
    w = {name: view.astype(np.float64) for name, view in policy.parameters.views.items()}
    seen = observations(obs)
    first = 0
    x = seen.astype(np.float64)
    if obs is CATEGORY:
        x, first = w["actor.0.weight"][seen], 1
    x = x @ w[f"actor.{first}.weight"] + w[f"actor.{first}.bias"]
    x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    x = x * w[f"actor.{first + 1}.scale"] + w[f"actor.{first + 1}.bias"]
    x = np.tanh(x) @ w[f"actor.{first + 3}.weight"] + w[f"actor.{first + 3}.bias"]
    assert np.allclose(policy.dist(seen), x, rtol=1e-4, atol=1e-4)


def test_a_forward_pass_changes_neither_observations_nor_weights():
    policy = policy_of(VECTOR, hidden=())
    seen, weights = observations(VECTOR), policy.parameters.flat.copy()
    before = seen.copy()
    policy.act(seen, None)
    policy.value(seen)
    assert np.array_equal(seen, before)
    assert np.array_equal(policy.parameters.flat, weights)


def test_the_output_for_an_observation_does_not_depend_on_the_batch():
    policy = policy_of(VECTOR)
    seen = observations(VECTOR)
    alone = np.concatenate([policy.dist(one[None]) for one in seen])
    assert np.allclose(alone, policy.dist(seen), rtol=1e-5, atol=1e-6)


def test_categories_are_counted_from_the_first_of_their_space():
    late = policy_of(DiscreteObs(7, first=-3))
    early = policy_of(DiscreteObs(7, first=0))
    seen = np.arange(7)
    assert np.array_equal(late.dist(seen - 3), early.dist(seen))


def test_observations_are_flattened_in_row_major_order():
    square = policy_of(BoxObs((2, 3), (-1.0,) * 6, (1.0,) * 6))
    flat = policy_of(VECTOR)
    seen = observations(VECTOR)
    assert np.array_equal(square.dist(seen.reshape(-1, 2, 3)), flat.dist(seen))


@pytest.mark.parametrize("shared", [False, True], ids=["two trunks", "one trunk"])
def test_separate_trunks_share_nothing_and_a_shared_one_is_counted_once(shared: bool):
    policy = policy_of(VECTOR, shared=shared)
    trunk = 6 * 24 + 24 + 24 * 17 + 17
    heads = 17 * 3 + 3 + 17 + 1
    assert policy.parameters.count == trunk * (1 if shared else 2) + heads


def test_every_parameter_starts_on_a_64_byte_line_and_the_gaps_stay_zero():
    parameters = Parameters({"a": (3,), "b": (5, 7), "c": (1,), "d": (16,)})
    flat = parameters.flat
    assert flat.dtype == np.float32
    assert flat.ctypes.data % 64 == 0
    for view in parameters.views.values():
        assert view.ctypes.data % 64 == 0
        assert np.shares_memory(view, flat)
        view[:] = 1.0
    assert flat.sum() == parameters.count == 3 + 35 + 1 + 16


@pytest.mark.parametrize("size", [1, 15, 16, 17, 1000])
def test_aligned_memory_is_aligned(size: int):
    array = aligned_zeros(size)
    assert (array.size, array.dtype, array.any()) == (size, np.float32, np.False_)
    assert array.ctypes.data % 64 == 0


def test_a_part_contains_all_of_its_parameters_and_no_others():
    policy = policy_of(VECTOR, action=BoxAction((2,), (-1.0,) * 2, (1.0,) * 2))
    parameters = policy.parameters
    for part in ("actor.", "critic."):
        marks = np.zeros_like(parameters.flat)
        for name, view in parameters.views_of(marks).items():
            view[:] = name.startswith(part)
        chosen = np.zeros_like(marks)
        chosen[parameters.prefix_slice(part)] = 1
        chosen_names = {n for n, v in parameters.views_of(chosen).items() if v.any()}
        assert chosen_names == {n for n in parameters.shapes if n.startswith(part)}
        assert (chosen >= marks).all()
    assert parameters.prefix_slice("shared.") == slice(0, 0)


def test_engine_and_policy_share_memory_and_gradients_are_one_flat_vector():
    policy = policy_of(VECTOR)
    network = TorchNetwork(policy.network, policy.parameters)
    for name, tensor in network.tensors.items():
        assert tensor.data_ptr() == policy.parameters.views[name].ctypes.data
        assert np.shares_memory(tensor.grad.numpy(), network.gradient)
    seen = observations(VECTOR)
    output, value = network(torch.from_numpy(seen))
    (output.sum() + value.sum()).backward()
    assert network.gradient[policy.parameters.prefix_slice("actor.")].any()
    assert network.gradient[policy.parameters.prefix_slice("critic.")].any()

    policy.parameters.flat[:] = 0.0
    with torch.no_grad():
        assert not network(torch.from_numpy(seen))[0].any()


def test_initial_weights_are_orthogonal_and_scaled_by_their_gain():
    policy = Policy(VECTOR, DiscreteAction(3, 0), PolicyConfig(hidden=(24, 17)), NormalizeConfig())
    policy.initialize(0, "agent")
    for part, stack in policy.network.stacks():
        for i, layer in enumerate(stack):
            if isinstance(layer, Linear):
                weight = policy.parameters.views[f"{part}.{i}.weight"].astype(np.float64)
                gram = weight.T @ weight if layer.n_in >= layer.n_out else weight @ weight.T
                assert np.allclose(gram, layer.gain**2 * np.eye(len(gram)), atol=1e-5)
                assert not policy.parameters.views[f"{part}.{i}.bias"].any()


def test_orthogonal_matrices_have_no_preferred_direction():
    """QR without the sign correction favors one half of the sphere."""
    draws = np.array([orthogonal((4, 4), stream(seed, "m")) for seed in range(2000)])
    assert np.abs(draws.mean(0)).max() < 4 * np.sqrt(0.25 / 2000)


def test_weights_are_a_function_of_seed_role_and_name():
    def weights(seed: int, role: str, hidden: tuple[int, ...] = (24, 17)) -> dict:
        policy = Policy(
            VECTOR, DiscreteAction(3, 0), PolicyConfig(hidden=hidden), NormalizeConfig()
        )
        policy.initialize(seed, role)
        return policy.parameters.views

    same, other = weights(3, "agent"), weights(4, "agent")
    assert all(np.array_equal(same[n], v) for n, v in weights(3, "agent").items())
    assert not np.array_equal(same["actor.0.weight"], other["actor.0.weight"])
    assert not np.array_equal(same["actor.0.weight"], weights(3, "seeker")["actor.0.weight"])
    assert not np.array_equal(same["actor.0.weight"], same["critic.0.weight"])
    deeper = weights(3, "agent", (24, 17, 5))
    assert np.array_equal(same["actor.0.weight"], deeper["actor.0.weight"])


def test_a_category_is_embedded_and_a_vector_is_not():
    assert isinstance(policy_of(CATEGORY).network.actor[0], Embedding)
    assert isinstance(policy_of(VECTOR).network.actor[0], Linear)
