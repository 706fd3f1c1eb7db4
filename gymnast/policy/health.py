"""How a network is: which of its units still work, and how its outputs are spread. The compiled
kernels count the same in one call (`native/health.hpp`); a test holds them together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gymnast.policy.actions import AnyHead, Bernoulli, Gaussian, MultiCategorical, SquashedGaussian
from gymnast.policy.discrete import log_softmax

Array = np.ndarray
Heard = tuple[str, str, Array]
"""What an activation made of features: the stack it is in, its kind, its outputs [B, ...]."""
SATURATED = 0.97
"""|tanh| above this passes less than 6% of a gradient."""

FLAT = {"relu": (0.0, 0.0), "silu": (-0.01, 0.0), "gelu": (-0.01, 0.0), "elu": (-1.0, -0.99)}
"""Outputs on the flat side of an activation, where less than 3% of a gradient passes."""


class Units(NamedTuple):
    """Counts and sums over the activations of one stack, or of several."""

    outputs: float = 0.0
    """Of all units, for all rows."""
    total: float = 0.0
    """Their sum."""
    squares: float = 0.0
    tanh: float = 0.0
    """Those of tanh units."""
    saturated: float = 0.0
    rectifiers: float = 0.0
    """Units of every other kind: ReLU and its smooth variants. A unit of a convolution is a channel."""
    dead: float = 0.0
    """Those on the flat side of their activation for every row."""

    def plus(self, other: Units) -> Units:
        return Units._make(map(float.__add__, self, other))


class Health(NamedTuple):
    shared: Units
    actor: Units
    critic: Units
    output_mean: float
    """Of the actor's last layer."""
    output_std: float
    logit_range: float
    """From its lowest to its highest, mean over rows."""
    prob_max: float
    """Of the likeliest option, mean over rows and elements; 0 where nothing is chosen."""
    prob_min: float

    @classmethod
    def of_numbers(cls, numbers: list[float]) -> Health:
        """As the kernels write them, one after another."""
        n = len(Units._fields)
        shared, actor, critic = (Units._make(numbers[k * n : (k + 1) * n]) for k in range(3))
        return cls._make((shared, actor, critic, *numbers[3 * n :]))


N_NUMBERS = 3 * len(Units._fields) + len(Health._fields) - 3


def network_health(heard: Iterable[Heard], output: Array, head: AnyHead, dist: Array) -> Health:
    """`output` [B, k]: what the actor's last layer says; `dist`: the distributions that makes."""
    parts: dict[str, Units] = dict.fromkeys(("shared", "actor", "critic"), Units())
    for part, kind, x in heard:
        parts[part] = parts[part].plus(unit_health(kind, x))
    chances = probabilities(head, dist)
    most, least = (
        float(np.mean([of(p, axis=-1).mean() for p in chances])) if chances else 0.0
        for of in (np.max, np.min)
    )
    return Health(
        **parts,
        output_mean=float(output.mean(dtype=np.float64)),
        output_std=float(output.std(dtype=np.float64)),
        logit_range=float((output.max(-1) - output.min(-1)).mean()),
        prob_max=most,
        prob_min=least,
    )


def unit_health(kind: str, x: Array) -> Units:
    found = Units(float(x.size), float(x.sum(dtype=np.float64)), float(np.square(x).sum()))
    if kind == "tanh":
        return found._replace(tanh=found.outputs, saturated=float(saturated(x).sum()))
    dead = dead_units(kind, x)
    return found._replace(rectifiers=float(dead.size), dead=float(dead.sum()))


def dead_units(kind: str, x: Array) -> Array:
    """Which units of outputs [B, n] or [B, channels, height, width] are on the flat side of their
    activation, anything but tanh, for the whole batch."""
    low, high = FLAT[kind]
    return np.asarray(((x >= low) & (x <= high)).all(axis=(0, *range(2, x.ndim))))


def saturated(x: Array) -> Array:
    """Of tanh outputs: which are so near its ends that they pass next to no gradient."""
    return np.abs(x) > SATURATED


def probabilities(head: AnyHead, dist: Array) -> list[Array]:
    """Of the options of each element, [B, ..., options]; none where amounts are drawn."""
    match head:
        case Gaussian() | SquashedGaussian():
            return []
        case MultiCategorical():
            return [np.exp(log_softmax(logits)) for logits in np.split(dist, head.ends, -1)]
        case Bernoulli():
            return [np.exp(log_softmax(np.stack([dist, np.zeros_like(dist)], -1)))]
        case _:
            return [np.exp(log_softmax(dist))]
