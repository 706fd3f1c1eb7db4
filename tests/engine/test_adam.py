"""Our optimizer on one flat vector against torch's AdamW on many tensors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gymnast.engine.adam import Adam
from gymnast.engine.torch.adam import adamw_step
from gymnast.policy.parameters import Parameters

SHAPES = {"a": (5, 3), "b": (3,), "c": (7,)}


class Twin:
    """The same weights twice: in one aligned vector for us, as separate tensors for torch."""

    def __init__(self, *, eps: float = 1e-5, weight_decay: float = 0.0) -> None:
        self.parameters = Parameters(SHAPES)
        rng = np.random.default_rng(0)
        for view in self.parameters.views.values():
            view[:] = rng.normal(size=view.shape)
        self.gradient = np.zeros_like(self.parameters.flat)
        self.tensors = {}
        for name, view in self.parameters.views.items():
            tensor = torch.from_numpy(view).requires_grad_()
            tensor.grad = torch.from_numpy(self.parameters.views_of(self.gradient)[name])
            self.tensors[name] = tensor
        self.ours = Adam(self.parameters.flat.size, eps=eps, weight_decay=weight_decay)
        self.theirs = {n: t.detach().clone().requires_grad_() for n, t in self.tensors.items()}
        kind = torch.optim.AdamW if weight_decay else torch.optim.Adam
        self.optimizer = kind(
            self.theirs.values(),
            lr=1.0,
            eps=eps,
            **({"weight_decay": weight_decay} if weight_decay else {}),
        )

    def step(self, k: int, *, lr: float, max_norm: float | None) -> tuple[float, float]:
        """Takes one step with both optimizers and returns both gradient norms."""
        norm = self.our_step(k, lr=lr, max_norm=max_norm)
        self.optimizer.zero_grad()
        _loss(self.theirs, k).backward()
        limit = float("inf") if max_norm is None else max_norm
        reference = torch.nn.utils.clip_grad_norm_(self.theirs.values(), limit)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        return float(norm), float(reference)

    def our_step(
        self, k: int, *, lr: float, max_norm: float | None, steeper: float = 1.0
    ) -> torch.Tensor:
        self.gradient[:] = 0.0
        (_loss(self.tensors, k) * steeper).backward()
        flat = self.parameters.flat
        return adamw_step(flat, self.gradient, self.ours, lr=lr, max_norm=max_norm)

    def agree(self, rtol: float = 2e-5) -> bool:
        return all(
            np.allclose(self.parameters.views[n], t.detach().numpy(), rtol=rtol, atol=1e-6)
            for n, t in self.theirs.items()
        )


def _loss(tensors: dict[str, torch.Tensor], k: int) -> torch.Tensor:
    """Returns another quadratic loss for each step, steep enough to be clipped sometimes."""
    rng = np.random.default_rng(k)
    parts = []
    for tensor in tensors.values():
        goal = torch.from_numpy(rng.normal(size=tuple(tensor.shape)).astype(np.float32))
        parts.append(((tensor - goal) ** 2).sum() * float(rng.uniform(0.01, 1)))
    return torch.stack(parts).sum()


@pytest.mark.parametrize("weight_decay", [0.0, 0.1], ids=["Adam", "AdamW"])
@pytest.mark.parametrize("max_norm", [None, 0.5])
def test_300_steps_with_a_changing_learning_rate_match_torch_adamw(weight_decay, max_norm):
    twin = Twin(weight_decay=weight_decay)
    for k in range(300):
        ours, theirs = twin.step(k, lr=1e-2 * (1 - k / 300), max_norm=max_norm)
        assert ours == pytest.approx(theirs, rel=1e-4)
        assert twin.agree(), f"step {k}"


def test_gradients_do_not_accumulate_over_steps_and_the_gaps_stay_zero():
    twin = Twin()
    for k in range(5):
        twin.step(k, lr=1e-2, max_norm=None)
    outside = np.ones_like(twin.gradient, dtype=bool)
    for name in SHAPES:
        outside[twin.parameters.slice_of(name)] = False
    for memory in (
        twin.parameters.flat,
        twin.gradient,
        twin.ours.first_moment,
        twin.ours.second_moment,
    ):
        assert not memory[outside].any()


def test_without_max_norm_a_gradient_of_any_size_is_applied_unclipped():
    twin = Twin(eps=1e6)  # so large that a step is proportional to the gradient
    before = twin.parameters.flat.copy()
    norm = twin.our_step(0, lr=1.0, max_norm=None, steeper=1000)
    moved = np.linalg.norm(twin.parameters.flat - before)
    assert norm > 100
    assert moved == pytest.approx(float(norm) / 1e6, rel=1e-2)


def test_an_optimizer_continues_from_its_state_bit_for_bit():
    first, second = Twin(), Twin()
    for k in range(10):
        first.step(k, lr=1e-2, max_norm=0.5)
    second.parameters.flat[:] = first.parameters.flat
    second.ours.load(first.ours.state())
    for k in range(10, 20):
        first.step(k, lr=1e-2, max_norm=0.5)
        second.step(k, lr=1e-2, max_norm=0.5)
    assert np.array_equal(first.parameters.flat, second.parameters.flat)


def test_a_saved_state_does_not_change_with_the_optimizer():
    twin = Twin()
    twin.step(0, lr=1e-2, max_norm=None)
    state = twin.ours.state()
    before = state["first"].copy()
    twin.step(1, lr=1e-2, max_norm=None)
    assert np.array_equal(state["first"], before)


def test_a_reset_optimizer_steps_like_a_new_one():
    used = Twin()
    for k in range(10):
        used.step(k, lr=1e-2, max_norm=None)
    used.ours.reset()
    new = Twin()
    new.parameters.flat[:] = used.parameters.flat
    for twin in (used, new):
        twin.our_step(99, lr=1e-2, max_norm=None)
    assert np.array_equal(used.parameters.flat, new.parameters.flat)
