"""Fast replacements of torch operations, and their gradients, against torch's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from gymnast import compiled
from gymnast.engine.torch import fast_ops
from gymnast.engine.torch.layers import run_stack
from gymnast.policy.layers import Activation, Conv, Flatten, Linear, Residual, Stack

RNG = np.random.default_rng(5)
pytestmark = pytest.mark.usefixtures("each_way")


@pytest.fixture(params=["native", "torch"])
def each_way(request: pytest.FixtureRequest):
    if request.param == "torch":
        request.getfixturevalue("without_kernels")
    elif compiled.kernels() is None:
        pytest.skip(compiled.missing_reason())


@pytest.mark.parametrize("channels", [1, 2, 4, 5, 12])
@pytest.mark.parametrize("size", [(3, 5), (84, 84), (9, 64)])
def test_planes_are_gathered_to_channels_last_images(channels: int, size: tuple[int, int]):
    planes = RNG.integers(0, 256, (30, *size), dtype=np.uint8)
    index = RNG.integers(0, 30, (17, channels), dtype=np.int32)
    rows = RNG.integers(0, 17, 9)
    found = fast_ops.gather_images(*map(torch.from_numpy, (planes, index, rows)))
    assert np.array_equal(found.numpy(), np.moveaxis(planes[index[rows]], 1, -1))
    assert found.is_contiguous()


def test_invalid_plane_indices_are_rejected():
    if compiled.kernels() is None:
        return
    planes, rows = torch.zeros((3, 2, 2), dtype=torch.uint8), torch.tensor([0])
    for index, which in (([[0, 3]], rows), ([[-1, 0]], rows), ([[0, 1]], rows + 1)):
        with pytest.raises(IndexError):
            fast_ops.gather_images(planes, torch.tensor(index, dtype=torch.int32), which)


@pytest.mark.parametrize("n", [1, 3, 8, 16, 17, 65])
@pytest.mark.parametrize(("n_in", "n_out"), [(3136, 512), (1027, 272), (600, 500), (4096, 64)])
def test_a_dense_layer_is_correct_for_any_number_of_rows(n: int, n_in: int, n_out: int):
    x, weight, bias = (
        torch.from_numpy(RNG.normal(size=shape).astype(np.float32))
        for shape in ((n, n_in), (n_in, n_out), (n_out,))
    )
    with torch.no_grad():
        found = fast_ops.dense(x, weight, bias)
    exact = (x.double() @ weight.double() + bias.double()).float()
    assert torch.allclose(found, exact, atol=2e-4, rtol=1e-4)
    for tensor in (x, weight, bias):
        tensor.requires_grad_()
    slope = torch.randn_like(exact)
    found = torch.autograd.grad((fast_ops.dense(x, weight, bias) * slope).sum(), (x, weight, bias))
    wanted = slope @ weight.T, x.T @ slope, slope.sum(0)
    for one, other in zip(found, wanted, strict=True):
        assert torch.allclose(one, other, atol=1e-3, rtol=1e-3)
    across = fast_ops.dense(x.T.contiguous().T, weight, bias)
    assert torch.allclose(across, exact, atol=2e-4, rtol=1e-4)


@pytest.mark.skipif(compiled.kernels() is None, reason="torch alone may well differ")
def test_a_row_of_a_dense_layer_does_not_depend_on_the_other_rows(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.delenv(compiled.NATIVE_VAR, raising=False)
    compiled.kernels.cache_clear()
    x, weight = torch.randn(16, 1024), torch.randn(1024, 256)
    with torch.no_grad():
        together = fast_ops.dense(x, weight, torch.ones(256))
        for i in (0, 7, 15):
            assert torch.equal(
                fast_ops.dense(x[i : i + 1], weight, torch.ones(256))[0], together[i]
            )


NATURE: Stack = (
    Conv(4, 8, 4, 2),
    Activation("relu"),
    Conv(8, 6, 3),
    Activation("relu"),
    Flatten(),
    Linear(6 * 7 * 7, 10, 1.0),
    Activation("relu"),
    Linear(10, 3, 1.0),
)
RESIDUAL: Stack = (
    Conv(4, 4, 3, padding=1),
    Residual((Conv(4, 4, 3, padding=1), Activation("relu"), Conv(4, 4, 3, padding=1), Activation("relu"))),
    Activation("relu"),
    Conv(4, 2, 3),
    Activation("relu"),
    Flatten(),
)  # fmt: skip


@pytest.mark.parametrize("stack", [NATURE, RESIDUAL])
def test_gradients_match_plain_autograd(stack: Stack):
    shapes = {}
    for i, layer in enumerate(stack):
        inner = layer.stack if isinstance(layer, Residual) else (layer,)
        for j, one in enumerate(inner):
            at = f"it.{i}.{j}" if isinstance(layer, Residual) else f"it.{i}"
            if isinstance(one, Conv):
                shapes[f"{at}.weight"] = (one.n_out, one.n_in, one.kernel, one.kernel)
                shapes[f"{at}.bias"] = (one.n_out,)
            elif isinstance(one, Linear):
                shapes[f"{at}.weight"], shapes[f"{at}.bias"] = (one.n_in, one.n_out), (one.n_out,)
    torch.manual_seed(1)
    tensors = {name: torch.randn(shape, requires_grad=True) for name, shape in shapes.items()}
    x = torch.randn(5, 4, 20, 20).to(memory_format=torch.channels_last)
    ours = run_stack("it", stack, tensors, x)
    theirs = plain("it", stack, tensors, x)
    assert torch.allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    weight = torch.randn_like(ours)
    found = torch.autograd.grad((ours * weight).sum(), list(tensors.values()))
    wanted = torch.autograd.grad((theirs * weight).sum(), list(tensors.values()))
    for name, one, other in zip(tensors, found, wanted, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-3), name


def plain(name: str, stack: Stack, tensors: dict[str, torch.Tensor], x: torch.Tensor):
    for i, layer in enumerate(stack):
        match layer:
            case Conv(stride=stride, padding=padding):
                at = f"{name}.{i}"
                weight, bias = tensors[f"{at}.weight"], tensors[f"{at}.bias"]
                x = functional.conv2d(x, weight, bias, stride, padding)
            case Linear():
                x = x @ tensors[f"{name}.{i}.weight"] + tensors[f"{name}.{i}.bias"]
            case Activation():
                x = torch.relu(x)
            case Flatten():
                x = x.flatten(1)
            case Residual(inner):
                x = x + plain(f"{name}.{i}", inner, tensors, x)
            case _:
                raise TypeError(layer)
    return x
