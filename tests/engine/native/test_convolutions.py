"""Convolutions in compiled code against float64, NumPy and torch."""

from __future__ import annotations

from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast import _native
from gymnast.config.sections.policy import ActivationName
from gymnast.engine.adam import Adam
from gymnast.engine.batch import MAX_MONITORING_ROWS, MinibatchPlan
from gymnast.engine.native.plan import MAX_CHANNELS, unsupported_reason
from gymnast.engine.objective import LOSSES, Objective
from gymnast.images import Images
from gymnast.policy import architecture
from gymnast.policy.layers import Activation, Conv, Flatten, Layer, Linear
from gymnast.policy.policy import Policy
from gymnast.spaces.spaces import ImageObs
from tests.engine.native.problems import IMAGES, PLAIN, Problem, act_in_place, random_obs
from tests.engine.native.reference import gradient_of
from tests.engine.native.test_gradients import EVERYTHING, far

NETWORKS: dict[str, dict[str, Any]] = {
    "apart": {"hidden": (24, 12)},
    "none hidden": {"hidden": ()},
    "shared": {"shared": True, "hidden": (20,), "layer_norm": True},
}


@pytest.fixture(autouse=True)
def one_thread_again():
    yield
    _native.set_threads(1)
    _native.use_instruction_set(_native.instruction_sets()[-1])


def images(obs: str = "image", rows: int = 20, **more: Any) -> Problem:
    return Problem.make(obs, **{"rows": rows, "hidden": (16,), "weight_noise": 0.02, **more})


def kept_once(problem: Problem) -> Problem:
    rows = problem.batch.features
    assert isinstance(rows, np.ndarray)
    last = problem.policy.network.shared[0].channels == "last"  # type: ignore[union-attr]
    return problem.with_columns(features=Images.from_array(rows, "last" if last else "first"))


def right(problem: Problem, objective: Objective = EVERYTHING, *, within: float = 1e-6) -> None:
    """Asserts that the gradient matches the definition within this, or within torch's own error."""
    expected, _ = gradient_of(problem.policy, problem.batch, objective)
    by_torch, _ = problem.run_update(objective, engine="torch")
    native, result = problem.run_update(objective)
    assert far(native, expected) < max(within, 2 * far(by_torch, expected))
    norm = result.losses[0][LOSSES.index("optim/grad_norm")]
    assert norm == pytest.approx(np.linalg.norm(expected), rel=1e-5)


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("obs", IMAGES)
def test_gradients_match_the_definition(obs: str, network: dict[str, Any]):
    right(images(obs, **network))


@pytest.mark.parametrize("instructions", _native.instruction_sets())
def test_gradients_are_right_with_every_instruction_set(instructions: str):
    _native.use_instruction_set(instructions)
    right(images("channels last"))


@pytest.mark.parametrize("rows", [1, 9, 128, 129, 300])
def test_gradients_are_right_for_every_size_of_batch(rows: int):
    right(images(rows=rows, seed=1))


def test_gradients_of_atari_images_are_right():
    with patch.dict(IMAGES, atari=ImageObs((4, 84, 84), 255, "first")):
        right(images("atari", rows=6))


Geometry = tuple[int, int, int, list[tuple[int, int, int, str]]]


@st.composite
def geometries(draw: st.DrawFn) -> Geometry:
    """Channels, height and width of images; output channels, kernel, stride and activation of each
    layer."""
    channels = draw(st.integers(1, 5))
    height, width = shown = [draw(st.integers(9, 30)) for _ in range(2)]
    layers: list[tuple[int, int, int, str]] = []
    for _ in range(draw(st.integers(1, 3))):
        kernel = draw(st.integers(1, min(5, *shown)))
        stride = draw(st.integers(1, 4))
        kind = draw(st.sampled_from([*get_args(ActivationName), "none"]))
        layers.append((draw(st.integers(1, 35)), kernel, stride, kind))
        shown = [(size - kernel) // stride + 1 for size in shown]
    return channels, height, width, layers


@settings(max_examples=20, derandomize=True)
@given(geometries(), st.sampled_from(["first", "last"]))
def test_convolutions_with_any_kernel_and_stride_match_the_definition(
    geometry: Geometry, channels: Any
):
    n, height, width, convolutions = geometry

    def body(n: int, height: int, width: int) -> tuple[list[Layer], int]:
        layers: list[Layer] = []
        for out, kernel, stride, kind in convolutions:
            layers.append(Conv(n, out, kernel, stride))
            layers += [] if kind == "none" else [Activation(kind)]  # type: ignore[arg-type]
            n, height, width = out, *((s - kernel) // stride + 1 for s in (height, width))
        return [*layers, Flatten(), Linear(n * height * width, 16, 1.0)], 16

    shape = (n, height, width) if channels == "first" else (height, width, n)
    with (
        # oneDNN's weight gradient of 1x1 kernels crashes on CPUs that have AVX2 but not AVX-512
        torch.backends.mkldnn.flags(enabled=False),
        patch.dict(architecture._CNNS, nature=body),
        patch.dict(IMAGES, drawn=ImageObs(shape, 255, channels)),
    ):
        problem = images("drawn", rows=5, cnn="nature", weight_noise=0.1, activation="tanh")
        right(problem, PLAIN, within=1e-5)


@pytest.mark.parametrize("obs", ["image", "channels last", "many channels"])
def test_images_with_shared_planes_give_the_same_bits(obs: str):
    problem = images(obs, rows=40)
    plain, _ = problem.run_update(EVERYTHING)
    once, _ = kept_once(problem).run_update(EVERYTHING)
    assert np.array_equal(plain, once)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_give_the_same_bits(threads: int):
    def improved() -> np.ndarray:
        problem = images(rows=300, hidden=(600,))  # several ranges of parameters
        adam = Adam(problem.policy.parameters.flat.size, eps=1e-5, weight_decay=0.0)
        problem.run_update(EVERYTHING, engine="native", adam=adam, lr=1e-3, max_norm=0.1)
        return problem.policy.parameters.flat.copy()

    _native.set_threads(1)
    alone = improved()
    _native.set_threads(threads)
    assert np.array_equal(improved(), alone)


def test_a_whole_update_matches_torch_within_rounding():
    def improved(engine: str) -> tuple[np.ndarray, dict[str, float]]:
        problem = kept_once(images(rows=200))
        rng = np.random.default_rng(0)
        plan = MinibatchPlan.shuffled(2, 200, 50, rng, None)
        problem.run_update(EVERYTHING, plan, engine=engine, lr=1e-4, max_norm=0.5)
        shift = problem.engine(engine).policy_shift(problem.batch, 0.2)
        return problem.policy.parameters.flat.copy(), shift

    (native, by_native), (torch, by_torch) = improved("native"), improved("torch")
    assert far(native, torch.astype(np.float64)) < 1e-4
    assert by_native == pytest.approx(by_torch, rel=1e-3, abs=1e-5)


def test_target_kl_is_checked_on_the_monitoring_rows():
    problem = images(rows=MAX_MONITORING_ROWS + 40)
    orders = np.stack([np.arange(len(problem.batch))] * 3)
    _, result = problem.run_update(PLAIN, MinibatchPlan(orders, 84, target_kl=0.0), lr=1e-3)
    assert (result.epochs, result.stopped_early, len(result.losses)) == (1, True, 2)


@pytest.mark.parametrize("rows", [1, 8, 150])
def test_acting_gives_the_same_actions_and_values_as_separate_calls(rows: int):
    problem = images("channels last", rows=rows, shared=True)
    policy = problem.policy
    policy.use_engine("native")
    assert policy.values_while_acting
    seen = random_obs(policy.obs_space, rows, np.random.default_rng(1))
    noise = policy.head.noise(np.random.default_rng(2), (rows,))
    action = np.empty(rows, np.int64)
    dist, (logprob, value) = np.empty((rows, 3), np.float32), np.empty((2, rows), np.float32)
    policy.act_into(seen, noise, None, action, dist, logprob, value)
    assert np.array_equal(dist, policy.dist(seen))
    assert np.array_equal(value, policy.value(seen))
    alone = act_in_place(policy, seen[-1:], noise[-1:], None)
    assert np.array_equal(alone[1], dist[-1:])


@pytest.mark.parametrize("obs", IMAGES)
def test_numpy_native_and_torch_give_the_same_outputs(obs: str):
    policy = images(obs).policy
    features = policy.features(random_obs(policy.obs_space, 7, np.random.default_rng(3)))

    def said(policy: Policy, engine: str) -> list[np.ndarray]:
        policy.use_engine(engine)
        activations, output = policy.inference.activations(features)
        outputs = [policy.inference.actor(features), policy.inference.critic(features), output]
        return [
            *outputs,
            policy.inference.layer_output("shared", 3, features),
            *(x for *_, x in activations),
        ]

    native, torch = said(policy, "native"), said(policy, "torch")
    assert len(native) == len(torch) > 6
    for one, other in zip(native, torch, strict=True):
        assert np.allclose(one, other, atol=1e-4 * np.abs(other).max())


def test_images_with_too_many_channels_use_torch():
    for n, fits in ((MAX_CHANNELS, True), (MAX_CHANNELS + 1, False)):
        with patch.dict(IMAGES, deep=ImageObs((n, 36, 36), 255, "first")):
            problem = images("deep", rows=3)
        assert (unsupported_reason(problem.policy.network) is None) == fits
        engine = "native" if fits else "torch"
        gradient, _ = kept_once(problem).run_update(engine=engine)
        assert np.allclose(gradient, problem.run_update(engine=engine)[0], atol=1e-6)


def test_invalid_plane_indices_are_rejected():
    problem = kept_once(images())
    index = problem.batch.features.index.copy()  # type: ignore[union-attr]
    index[3, 1] = len(problem.batch.features.plane)  # type: ignore[union-attr]
    broken = Images(problem.batch.features.plane, index, "first")  # type: ignore[union-attr]
    with pytest.raises(IndexError, match="no such plane"):
        problem.with_columns(features=broken).run_update()


def test_images_of_another_size_are_rejected():
    problem = images()
    other = np.zeros((20, 2, 36, 37), np.uint8)
    with pytest.raises(ValueError, match="the network reads 2592"):
        problem.with_columns(features=other).run_update()


@pytest.mark.parametrize("shape", [(3, 3), (5, 6, 4), (3, 16, 13), (32, 35, 1)])
def test_the_encoder_of_small_images_has_the_right_gradient(shape: tuple[int, ...]):
    channels = "first" if shape[0] == 3 and len(shape) == 3 else "last"
    with patch.dict(IMAGES, little=ImageObs(shape, 255, channels)):
        right(images("little", cnn="small"))
