"""Convolutions, images and branches against plain loops and finite differences."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
import torch

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import ActivationName, PolicyConfig
from gymnast.engine.torch.inference import MAX_IMAGES
from gymnast.engine.torch.layers import channels_last, run_stack
from gymnast.engine.torch.network import TorchNetwork
from gymnast.engine.torch.rows import row_reader
from gymnast.errors import ConfigError
from gymnast.policy.architecture import cnn
from gymnast.policy.layers import (
    Activation,
    Conv,
    Embedding,
    Flatten,
    LayerNorm,
    Linear,
    MaxPool,
    Parallel,
    Pixels,
    Residual,
    Stack,
    iter_layers,
    parameter_shapes,
)
from gymnast.policy.layers import Network as NetworkData
from gymnast.policy.policy import Policy
from gymnast.spaces.spaces import (
    BoxObs,
    CompositeObs,
    DiscreteAction,
    DiscreteObs,
    ImageObs,
    MultiDiscreteObs,
)
from tests.engine.activations import TORCH, float64_activation

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def _the_same_draws_whichever_test_comes_first() -> None:
    RNG.bit_generator.state = np.random.default_rng(11).bit_generator.state


IMAGE = ImageObs((9, 7, 2), 255, "last")
PARTS = CompositeObs(
    "Dict",
    (
        ("eye", IMAGE),
        ("speed", BoxObs((2, 2), (-1.0,) * 4, (1.0,) * 4)),
        ("gear", DiscreteObs(3, 1)),
        ("keys", MultiDiscreteObs((2,), (2, 3), (0, 0))),
    ),
)
BLIND = CompositeObs("Dict", PARTS.entries[1:])


def seen_by(obs: Any, n: int = 5) -> np.ndarray:
    rows = np.zeros((n, *obs.shape), obs.dtype)
    leaves = obs.leaves if isinstance(obs, CompositeObs) else {"": obs}
    for name, leaf in leaves.items():
        part = rows[name] if name else rows
        if isinstance(leaf, BoxObs):
            part[:] = RNG.normal(size=part.shape)
        elif isinstance(leaf, ImageObs):
            part[:] = RNG.integers(256, size=part.shape)
        else:
            first = np.reshape(leaf.first, leaf.shape)
            part[:] = first + RNG.integers(np.reshape(leaf.n, leaf.shape), size=part.shape)
    return rows


def policy_of(obs: Any, **settings: Any) -> Policy:
    cfg = PolicyConfig(**{"hidden": (8,), "embedding": 4, **settings})
    policy = Policy(obs, DiscreteAction(3, 0), cfg, NormalizeConfig())
    policy.initialize(0, "agent")
    return policy


def slow_conv(x: np.ndarray, weight: np.ndarray, bias: np.ndarray, layer: Conv) -> np.ndarray:
    x = np.pad(x, ((0, 0), (0, 0), (layer.padding,) * 2, (layer.padding,) * 2))
    k, step = layer.kernel, layer.stride
    height, width = ((size - k) // step + 1 for size in x.shape[2:])
    out = np.empty((len(x), layer.n_out, height, width))
    for i in range(height):
        for j in range(width):
            patch = x[:, :, i * step : i * step + k, j * step : j * step + k]
            out[:, :, i, j] = np.tensordot(patch, weight, ([1, 2, 3], [1, 2, 3])) + bias
    return out


def slow_pool(x: np.ndarray, layer: MaxPool) -> np.ndarray:
    pad = (layer.padding,) * 2
    x = np.pad(x, ((0, 0), (0, 0), pad, pad), constant_values=-np.inf)
    k, step = layer.kernel, layer.stride
    height, width = ((size - k) // step + 1 for size in x.shape[2:])
    cells = [
        [
            x[:, :, i * step : i * step + k, j * step : j * step + k].max((2, 3))
            for j in range(width)
        ]
        for i in range(height)
    ]
    return np.moveaxis(np.array(cells), (0, 1), (2, 3))


def slow(name: str, stack: Stack, weights: dict[str, np.ndarray], x: Any) -> Any:
    """Returns the outputs of the whole network, computed independently in float64."""
    for i, layer in enumerate(stack):
        at = f"{name}.{i}"
        match layer:
            case Pixels(shape, channels):
                x = x.reshape(-1, *shape).astype(np.float64) / layer.top
                x = x[:, None] if len(shape) == 2 else x
                x = np.moveaxis(x, -1, 1) if len(shape) == 3 and channels == "last" else x
            case Conv():
                x = slow_conv(x, weights[f"{at}.weight"], weights[f"{at}.bias"], layer)
            case MaxPool():
                x = slow_pool(x, layer)
            case Residual(inner):
                x = x + slow(at, inner, weights, x)
            case Activation(kind):
                x = float64_activation(kind, x)
            case Flatten():
                x = x.reshape(len(x), -1)
            case Linear():
                x = x @ weights[f"{at}.weight"] + weights[f"{at}.bias"]
            case Embedding():
                x = weights[f"{at}.weight"][x]
            case Parallel(_, branches):
                x = np.concatenate(
                    [slow(f"{at}.{key}", s, weights, x[key]) for key, s in branches], -1
                )
    return x


CASES = {
    "nature": (ImageObs((36, 40, 3), 255, "last"), {}),
    "nature, channels first": (ImageObs((4, 40, 36), 255, "first"), {"cnn": "nature"}),
    "small": (ImageObs((16, 13, 3), 255, "last"), {"cnn": "small"}),
    "small, channels first": (ImageObs((4, 6, 5), 255, "first"), {"cnn": "small"}),
    "impala": (IMAGE, {}),
    "impala, grey": (ImageObs((9, 7), 15, "last"), {"shared": True}),
    "parts": (PARTS, {}),
    "parts, shared": (PARTS, {"shared": True, "hidden": ()}),
    "parts without images": (BLIND, {}),
}


@pytest.mark.parametrize("n", [1, 5], ids=["alone", "batch"])
@pytest.mark.parametrize("case", CASES)
def test_every_network_matches_its_layers_written_out(case: str, n: int):
    obs, settings = CASES[case]
    policy = policy_of(obs, **settings)
    for view in policy.parameters.views.values():
        view += RNG.normal(0, 0.05, view.shape).astype(np.float32)
    seen = seen_by(obs, n)
    weights = {k: v.astype(np.float64) for k, v in policy.parameters.views.items()}
    features = policy.features(seen)
    if isinstance(obs, CompositeObs):
        features = features.view(obs.dtype)[:, 0]
    network = policy.network
    hidden = slow("shared", network.shared, weights, features)
    output = slow("actor", network.actor, weights, hidden)
    value = slow("critic", network.critic, weights, hidden)[:, 0]
    assert np.allclose(policy.dist(seen), output, rtol=1e-4, atol=1e-4)
    assert np.allclose(policy.value(seen), value, rtol=1e-4, atol=1e-4)
    torch_output, torch_value = TorchNetwork(network, policy.parameters)(
        torch.from_numpy(policy.features(seen))
    )
    assert np.allclose(torch_output.detach(), output, rtol=1e-4, atol=1e-4)
    assert np.allclose(torch_value.detach(), value, rtol=1e-4, atol=1e-4)


DTYPE = np.dtype([("a", np.float32, (3,)), ("b", np.int64)])
STACKS: dict[str, tuple[Stack, tuple[int, ...]]] = {
    "linear": ((Linear(3, 4, 1.0), LayerNorm(4), Activation("tanh")), (5, 3)),
    "conv": ((Conv(2, 3, 3, stride=2, padding=1), Activation("tanh")), (2, 2, 5, 4)),
    **{
        kind: ((Linear(3, 4, 1.0), Activation(kind), Linear(4, 2, 1.0), Activation(kind)), (5, 3))
        for kind in get_args(ActivationName)
    },
    "pool": ((Conv(2, 2, 3), MaxPool(3, 2, 1), Flatten()), (2, 2, 6, 5)),
    "residual": (
        (Residual((Activation("tanh"), Conv(2, 2, 3, padding=1))), Flatten()),
        (2, 2, 3, 3),
    ),
}


@pytest.mark.parametrize("kind", STACKS)
def test_gradients_match_finite_differences(kind: str):
    stack, shape = STACKS[kind]
    shapes = parameter_shapes(NetworkData(stack, (), ()))
    values = [torch.from_numpy(RNG.normal(size=s)).requires_grad_() for s in shapes.values()]
    x = torch.from_numpy(RNG.normal(size=shape)).requires_grad_()

    def output(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        return run_stack("shared", stack, dict(zip(shapes, weights, strict=True)), x)

    assert torch.autograd.gradcheck(output, (x, *values))


@pytest.mark.parametrize(
    ("stack", "rows"),
    [
        ((Pixels((4, 5, 2), "last", 255), Conv(2, 3, 3), Flatten()), (2, 4, 5, 2)),
        ((Pixels((2, 5, 4), "first", 255), Conv(2, 3, 3), Activation("relu")), (2, 2, 5, 4)),
        ((Pixels((6, 5), "last", 15), Conv(1, 2, 3, padding=1), Flatten()), (2, 6, 5)),
        ((Embedding(5, 3), Flatten(), Activation("tanh")), (4, 2)),
        (
            (
                Parallel(
                    DTYPE,
                    (("a", (Flatten(),)), ("b", (Embedding(5, 2), Activation("tanh")))),
                ),
            ),
            None,
        ),
    ],
    ids=["pixels", "pixels first", "grey pixels", "embedding", "parallel"],
)
def test_gradients_of_layers_with_integer_inputs_match_finite_differences(
    stack: Stack, rows: tuple[int, ...] | None
):
    shapes = parameter_shapes(NetworkData(stack, (), ()))
    values = [torch.from_numpy(RNG.normal(size=s)).requires_grad_() for s in shapes.values()]
    if rows is None:
        record = np.zeros(3, DTYPE)
        record["a"], record["b"] = RNG.normal(size=(3, 3)), [4, 0, 2]
        x = torch.from_numpy(record.view(np.uint8).reshape(3, -1))
    elif isinstance(stack[0], Pixels):
        x = torch.from_numpy(RNG.integers(256, size=rows).astype(np.uint8))
    else:
        x = torch.from_numpy(RNG.integers(5, size=rows))

    def output(*weights: torch.Tensor) -> torch.Tensor:
        return run_stack("shared", stack, dict(zip(shapes, weights, strict=True)), x)

    assert torch.autograd.gradcheck(output, tuple(values))


IMAGES = {
    "channels first": (ImageObs((4, 40, 36), 255, "first"), {}),
    "channels last": (ImageObs((36, 40, 3), 255, "last"), {}),
    "grey": (ImageObs((38, 37), 15, "last"), {"cnn": "nature"}),
    "small": (ImageObs((3, 13, 14), 255, "first"), {"cnn": "small"}),
    "smallest": (ImageObs((3, 4), 255, "last"), {"cnn": "small"}),
    "impala": (ImageObs((3, 12, 9), 255, "first"), {"cnn": "impala"}),
}


def doubles(policy: Policy) -> dict[str, torch.Tensor]:
    views = policy.parameters.views.items()
    return {k: torch.from_numpy(v.astype(np.float64)).requires_grad_() for k, v in views}


def plain(name: str, stack: Stack, weights: dict[str, torch.Tensor], x: torch.Tensor) -> Any:
    """Textbook versions of the layers: pixels are divided, nothing is in place, channels come
    first."""
    for i, layer in enumerate(stack):
        at = f"{name}.{i}"
        match layer:
            case Pixels(shape, channels, top):
                x = x.reshape(-1, *shape).double() / top
                x = x.unsqueeze(1) if len(shape) == 2 else x
                x = x.movedim(-1, 1).contiguous() if len(shape) == 3 and channels == "last" else x
            case Conv(stride=stride, padding=padding):
                wide = torch.nn.functional.unfold(x, layer.kernel, 1, padding, stride)
                out = weights[f"{at}.weight"].flatten(1) @ wide + weights[f"{at}.bias"][:, None]
                height = (x.shape[2] + 2 * padding - layer.kernel) // stride + 1
                x = out.unflatten(2, (height, -1))
            case Activation(kind):
                x = TORCH[kind](x)
            case Residual(inner):
                x = x + plain(at, inner, weights, x)
            case MaxPool(kernel, step, padding):
                x = torch.nn.functional.max_pool2d(x, kernel, step, padding)
            case Flatten():
                x = x.flatten(1)
            case Linear():
                x = x @ weights[f"{at}.weight"] + weights[f"{at}.bias"]
    return x


@pytest.mark.parametrize("case", IMAGES)
def test_gradients_of_image_networks_match_a_plain_network_in_float64(case: str):
    obs, settings = IMAGES[case]
    policy = policy_of(obs, **settings)
    for view in policy.parameters.views.values():
        view += RNG.normal(0, 0.05, view.shape).astype(np.float32)
    network, seen = policy.network, torch.from_numpy(policy.features(seen_by(obs, 6)))
    weight = torch.from_numpy(RNG.normal(size=(6, 4)))

    def loss(output: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return (torch.cat([output, value[:, None]], 1) * weight.to(output.dtype)).sum()

    exact = doubles(policy)
    hidden = plain("shared", network.shared, exact, seen)
    heads = (plain(part, getattr(network, part), exact, hidden) for part in ("actor", "critic"))
    output, value = heads
    loss(output, value[:, 0]).backward()
    ours = TorchNetwork(network, policy.parameters)
    loss(*ours(seen)).backward()
    size = torch.stack([tensor.grad.norm() for tensor in exact.values()]).norm()
    for name, tensor in ours.tensors.items():
        assert (tensor.grad - exact[name].grad).norm() <= 1e-5 * size, name


def test_in_place_operations_do_not_overwrite_values_that_are_still_needed():
    stack: Stack = (Residual((Activation("relu"), Conv(2, 2, 3, padding=1))), Activation("relu"))
    shapes = parameter_shapes(NetworkData(stack, (), ()))
    weights = {k: torch.from_numpy(RNG.normal(size=s)) for k, s in shapes.items()}
    x = torch.from_numpy(RNG.normal(size=(2, 2, 4, 4)))
    before = x.clone()
    run_stack("shared", stack, weights, x)
    assert torch.equal(x, before)


def test_pixels_are_scaled_without_a_convolution_after_them():
    layer = Pixels((2, 3, 4), "first", 15)
    x = torch.from_numpy(RNG.integers(16, size=(5, 2, 3, 4)).astype(np.uint8))
    found = run_stack("shared", (layer,), {"any": torch.zeros(1)}, x)
    assert torch.allclose(found, x.float() / 15)
    assert torch.equal(
        run_stack("shared", (layer, Flatten()), {"any": torch.zeros(1)}, x), found.flatten(1)
    )


@pytest.mark.parametrize("case", CASES)
def test_prepared_rows_give_the_same_network_outputs(case: str):
    obs, settings = CASES[case]
    policy = policy_of(obs, **settings)
    features = policy.features(seen_by(obs, 7))
    index = torch.tensor([6, 0, 3, 3])
    some = row_reader(policy.network, features)(index)
    assert np.array_equal(some.numpy(), features[index.numpy()])
    network = TorchNetwork(policy.network, policy.parameters)
    for one, other in zip(network(some), network(torch.from_numpy(features)[index]), strict=True):
        assert torch.equal(one, other)


def test_channels_first_images_are_read_in_channels_last_format():
    obs = ImageObs((4, 40, 36), 255, "first")
    policy = policy_of(obs)
    rows = row_reader(policy.network, policy.features(seen_by(obs, 3)))(torch.tensor([2, 0]))
    layer = policy.network.shared[0]
    assert isinstance(layer, Pixels)
    assert channels_last(layer, rows).data_ptr() == rows.data_ptr()
    assert rows.is_contiguous(memory_format=torch.channels_last)


def test_actor_and_critic_in_one_pass_match_separate_passes_for_any_number_of_rows():
    obs = ImageObs((4, 40, 36), 255, "first")
    policy = policy_of(obs)
    features = policy.features(seen_by(obs, MAX_IMAGES + 3))
    assert policy.inference.actor_and_critic is not None
    output, value = policy.inference.actor_and_critic(features)
    assert np.array_equal(output, policy.inference.actor(features))
    assert np.array_equal(value, policy.inference.critic(features))
    for i in (0, MAX_IMAGES - 1, MAX_IMAGES + 2):
        assert np.allclose(output[i], policy.inference.actor(features[i : i + 1])[0], atol=1e-5)


def test_nature_and_impala_have_the_layer_sizes_of_their_papers():
    atari = ImageObs((84, 84, 4), 255, "last")
    stack, width = cnn(atari, PolicyConfig())
    shapes = parameter_shapes(NetworkData(stack, (), ()))
    assert width == 512
    assert sum(np.prod(s) for s in shapes.values()) == 1_684_128  # Mnih et al. without the heads
    stack, width = cnn(ImageObs((64, 64, 3), 255, "last"), PolicyConfig(cnn="impala"))
    convolutions = [layer for _, layer in iter_layers("", stack) if isinstance(layer, Conv)]
    assert (width, len(convolutions)) == (256, 15)
    assert [c.n_out for c in convolutions[::5]] == [16, 32, 32]


def test_an_image_too_small_for_nature_is_rejected_and_auto_selects_impala():
    small = ImageObs((35, 84, 3), 255, "last")
    with pytest.raises(ConfigError, match=r"policy\.cnn: nature needs .* 36 x 36.* 35 x 84"):
        cnn(small, PolicyConfig(cnn="nature"))
    assert cnn(small, PolicyConfig())[1] == 256
    with pytest.raises(ConfigError, match=r"policy\.cnn: small needs .* 3 x 3.* 2 x 9"):
        cnn(ImageObs((2, 9), 255, "last"), PolicyConfig(cnn="small"))


def test_convolutions_are_initialized_orthogonally():
    policy = policy_of(ImageObs((36, 36, 3), 255, "last"))
    for name, layer in policy.network.layers():
        if isinstance(layer, Conv):
            kernel = policy.parameters.views[f"{name}.weight"].astype(np.float64)
            flat = kernel.reshape(len(kernel), -1)
            gram = flat @ flat.T if len(flat) <= flat.shape[1] else flat.T @ flat
            assert np.allclose(gram, layer.gain**2 * np.eye(len(gram)), atol=1e-5)


def test_parameter_names_give_the_position_in_the_network_and_images_are_encoded_once():
    names = set(policy_of(PARTS).parameters.shapes)
    assert {"shared.0.eye.1.weight", "shared.0.eye.3.1.bias", "shared.0.gear.0.weight"} <= names
    assert {"actor.0.weight", "critic.0.weight"} <= names
    assert not any(n.startswith("shared") for n in policy_of(BLIND).parameters.shapes)
