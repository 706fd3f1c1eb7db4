"""Independent float64 implementations of networks, heads and objectives, in torch."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from gymnast.engine.batch import Batch
from gymnast.engine.objective import Objective
from gymnast.policy.layers import (
    Activation,
    Conv,
    Embedding,
    Flatten,
    Float32,
    LayerNorm,
    Linear,
    Parallel,
    Pixels,
    Recurrent,
    Stack,
)
from gymnast.policy.policy import Policy
from tests.engine.activations import TORCH
from tests.engine.native.recurrent_reference import Unrolled

Weights = dict[str, Tensor]


def gradient_of(
    policy: Policy, batch: Batch, objective: Objective, rows: np.ndarray | None = None
) -> tuple[np.ndarray, dict[str, float]]:
    """Returns the gradient, laid out like the parameters, and the loss with its terms. `rows`: those of the
    minibatch, or with memory its sequences; None for all."""
    weights = {
        name: torch.from_numpy(view.astype(np.float64)).requires_grad_()
        for name, view in policy.parameters.views.items()
    }
    if rows is None:
        rows = np.arange(len(batch) if batch.sequences is None else batch.sequences.count)
    parts = losses_of(policy, batch, objective, rows, weights)
    parts["loss/total"].backward()
    flat = np.zeros(policy.parameters.flat.size)
    for name, view in policy.parameters.views_of(flat).items():
        slope = weights[name].grad
        view[...] = 0.0 if slope is None else slope.numpy()
    return flat, {name: float(part.detach()) for name, part in parts.items()}


def losses_of(
    policy: Policy, batch: Batch, objective: Objective, rows: np.ndarray, weights: Weights
) -> dict[str, Tensor]:
    def column(x: np.ndarray) -> Tensor:
        return torch.from_numpy(x[rows].astype(np.float64))

    def mean(x: Tensor) -> Tensor:
        return (share * x).sum()

    memory = None
    if batch.sequences is not None:
        memory = Unrolled(policy.network, batch.sequences, rows)
        rows = batch.sequences.rows(rows)
    weight = np.ones(len(batch)) if batch.sequences is None else batch.sequences.weight
    share = column(weight / weight[rows].sum())
    features = batch.features[rows]
    hidden = run_layers("shared", policy.network.shared, weights, features, memory)
    output = run_layers("actor", policy.network.actor, weights, hidden, memory)
    mask = None if batch.mask is None else torch.from_numpy(batch.mask[rows])
    action = torch.from_numpy(batch.action[rows])
    old = column(batch.dist)
    logprob, entropy, kl = action_terms(policy, output, weights, mask, action, old)
    gain = column(batch.advantage)
    if objective.standardize:
        gain = gain - mean(gain)
        spread = mean(gain**2).sqrt()
        gain = gain / spread if spread > 1e-8 else gain * 0
    if objective.clip is None:
        surrogate = -mean(logprob * gain)
    else:
        ratio = (logprob - column(batch.logprob)).exp()
        held = ratio.clamp(1 - objective.clip, 1 + objective.clip)
        surrogate = -mean(torch.min(ratio * gain, held * gain))
    loss = surrogate - objective.entropy_coef * mean(entropy) + objective.kl_coef * mean(kl)
    parts = {
        "policy/loss": surrogate,
        "policy/kl_penalty": mean(kl),
        "policy/entropy": mean(entropy),
    }
    if objective.critic:
        value = run_layers("critic", policy.network.critic, weights, hidden, memory)[:, 0]
        critic = mean(value_error(value, column(batch.target), column(batch.value), objective))
        parts["value/loss"] = critic
        loss = loss + objective.value_coef * critic
    return parts | {"loss/total": loss}


def value_error(value: Tensor, target: Tensor, old: Tensor, objective: Objective) -> Tensor:
    def error(v: Tensor) -> Tensor:
        size = (v - target).abs()
        return torch.where(size < 1, size**2, 2 * size - 1) if objective.huber else size**2

    if objective.value_clip is None:
        return error(value)
    limit = objective.value_clip
    near = torch.where((value - old).abs() > limit, old + limit * (value - old).sign(), value)
    return torch.where(error(near) > error(value), error(near), error(value))


# ---- layers ------------------------------------------------------------------------------------


def run_layers(
    part: str, stack: Stack, weights: Weights, x: Any, memory: Unrolled | None = None
) -> Any:
    for i, layer in enumerate(stack):
        name = f"{part}.{i}"
        match layer:
            case Parallel(dtype, branches):
                rows = np.ascontiguousarray(x).view(dtype)[:, 0]
                x = torch.cat(
                    [run_layers(f"{name}.{k}", s, weights, rows[k]) for k, s in branches], -1
                )
            case Embedding():
                x = functional.embedding(torch.from_numpy(x.copy()), weights[f"{name}.weight"])
            case Flatten():
                x = _tensor(x).reshape(len(x), -1)
            case Linear():
                x = _tensor(x) @ weights[f"{name}.weight"] + weights[f"{name}.bias"]
            case Recurrent():
                assert memory is not None
                x = memory.run(name, layer, weights, _tensor(x))
            case Float32():
                x = _tensor(x)
            case Pixels(shape=(_, _), top=top):
                x = _tensor(x)[:, None] / top
            case Pixels(channels=channels, top=top):
                x = (_tensor(x) if channels == "first" else _tensor(x).permute(0, 3, 1, 2)) / top
            case Conv(stride=stride, padding=padding):
                weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
                x = functional.conv2d(x, weight, bias, stride, padding)
            case LayerNorm(width):
                x = functional.layer_norm(
                    x, (width,), weights[f"{name}.scale"], weights[f"{name}.bias"], 1e-5
                )
            case Activation(kind):
                x = TORCH[kind](x)
            case _:
                raise TypeError(type(layer).__name__)
    return x


def _tensor(x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else torch.from_numpy(x.astype(np.float64))


# ---- heads: log-probability, entropy and KL(old || new), each [B] -------------------------------

Terms = tuple[Tensor, Tensor, Tensor]


def action_terms(
    policy: Policy,
    output: Tensor,
    weights: Weights,
    mask: Tensor | None,
    action: Tensor,
    old: Tensor,
) -> Terms:
    """Returns log-probability and entropy of the new policy, and KL(old || new), each [B]."""
    terms = TERMS[type(policy.head).__name__]
    if terms is composite:
        terms = partial(composite, squash=policy.cfg.squash)
    return terms(policy.action_space, output, weights.get("actor.log_std"), mask, action, old)


def categorical(
    _space: Any, output: Tensor, _: Any, mask: Tensor | None, action: Tensor, old: Tensor
) -> Terms:
    allowed = torch.ones_like(output, dtype=torch.bool) if mask is None else mask
    logp = torch.log_softmax(output.masked_fill(~allowed, -torch.inf), -1)
    before = torch.log_softmax(old.masked_fill(~allowed, -torch.inf), -1)
    logprob = logp.gather(-1, action[:, None])[:, 0]
    logp, before = logp.masked_fill(~allowed, 0), before.masked_fill(~allowed, 0)
    entropy = -(logp.exp() * logp).sum(-1)
    kl = (allowed * before.exp() * (before - logp)).sum(-1)
    return logprob, entropy, kl


def multi_categorical(
    space: Any, output: Tensor, _: Any, mask: Tensor | None, action: Tensor, old: Tensor
) -> Terms:
    terms, start = [], 0
    for k, n in enumerate(space.n):
        part = slice(start, start + n)
        inner = None if mask is None else mask[:, part]
        terms.append(categorical(space, output[:, part], _, inner, action[:, k], old[:, part]))
        start += n
    logprob, entropy, kl = (sum(column) for column in zip(*terms, strict=True))
    return logprob, entropy, kl


def bernoulli(
    _space: Any, output: Tensor, _: Any, mask: Tensor | None, action: Tensor, old: Tensor
) -> Terms:
    free = torch.ones_like(output) if mask is None else (mask[:, ::2] & mask[:, 1::2]).double()
    on, before = torch.sigmoid(output), torch.sigmoid(old)
    taken = torch.where(action == 1, on, 1 - on)
    entropy = -(on * on.log() + (1 - on) * (1 - on).log())
    safe = before.clamp(1e-9, 1 - 1e-9)
    kl = before * (safe.log() - on.log()) + (1 - before) * ((1 - safe).log() - (1 - on).log())
    logprob, entropy, kl = ((free * x).sum(-1) for x in (taken.log(), entropy, kl))
    return logprob, entropy, kl


def gaussian(
    _space: Any, mean: Tensor, log_std: Tensor, _: Any, action: Tensor, old: Tensor
) -> Terms:
    now = torch.distributions.Normal(mean, log_std.exp().expand_as(mean))
    old_mean, old_log_std = old.chunk(2, -1)
    before = torch.distributions.Normal(old_mean, old_log_std.exp())
    kl = torch.distributions.kl_divergence(before, now)
    return now.log_prob(action.double()).sum(-1), now.entropy().sum(-1), kl.sum(-1)


def squashed(
    space: Any, mean: Tensor, log_std: Tensor, _: Any, action: Tensor, old: Tensor
) -> Terms:
    logprob, entropy, kl = gaussian(space, mean, log_std, _, action, old)
    logprob = logprob - torch.log(1 - torch.tanh(action.double()) ** 2).sum(-1)
    steps = torch.linspace(-8, 8, 801, dtype=torch.float64)
    weight = torch.exp(-(steps**2) / 2)
    drawn = mean[..., None] + log_std.exp()[:, None] * steps
    slope = (torch.log(1 - torch.tanh(drawn) ** 2 + 1e-300) * weight / weight.sum()).sum(-1)
    return logprob, entropy + slope.sum(-1), kl


def composite(
    space: Any,
    output: Tensor,
    log_std: Tensor | None,
    mask: Tensor | None,
    action: Tensor,
    old: Tensor,
    *,
    squash: bool,
) -> Terms:
    """Takes the columns of each part from the left, as the specification of the layout says."""

    def take(x: Tensor, n: int) -> tuple[Tensor, Tensor]:
        return x[..., :n], x[..., n:]

    terms: list[Terms] = []
    for leaf in space.leaves:
        # outputs, parameters, numbers and mask entries of a part
        name, elements = type(leaf).__name__, len(leaf.elements)
        outputs = {"DiscreteAction": sum(leaf.options), "MultiDiscreteAction": sum(leaf.options)}
        k = outputs.get(name, elements)
        own_output, output = take(output, k)
        own_old, old = take(old, 2 * k if name == "BoxAction" else k)
        own_action, action = take(action, elements)
        own_mask = own_std = None
        if name == "BoxAction":
            assert log_std is not None
            own_std, log_std = take(log_std, k)
        else:
            own_action = own_action.long()
            if mask is not None:
                own_mask, mask = take(mask, sum(leaf.options))
        if name == "DiscreteAction":
            own_action = own_action[:, 0]
        compute = squashed if squash and name == "BoxAction" else LEAVES[name]
        terms.append(compute(leaf, own_output, own_std, own_mask, own_action, own_old))
    assert output.shape[1] == old.shape[1] == action.shape[1] == 0
    logprob, entropy, kl = (sum(column) for column in zip(*terms, strict=True))
    return logprob, entropy, kl


LEAVES: dict[str, Any] = {
    "DiscreteAction": categorical,
    "MultiDiscreteAction": multi_categorical,
    "MultiBinaryAction": bernoulli,
    "BoxAction": gaussian,
}
TERMS: dict[str, Any] = {
    "Categorical": categorical,
    "MultiCategorical": multi_categorical,
    "Bernoulli": bernoulli,
    "Gaussian": gaussian,
    "SquashedGaussian": squashed,
    "Composite": composite,
}
