"""Statistics of a network's health: dead and saturated units, and the distribution of its outputs.

The compiled kernels compute the same in one call (`native/health.hpp`); a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gymnast.policy.head import Head

Array = np.ndarray
LayerActivations = tuple[str, str, Array]
"""The stack of an activation layer, its kind, and its outputs [B, ...]."""
SATURATION_THRESHOLD = 0.97
"""A tanh output above this in absolute value passes less than 6% of the gradient."""

DEAD_RANGES = {"relu": (0.0, 0.0), "silu": (-0.01, 0.0), "gelu": (-0.01, 0.0), "elu": (-1.0, -0.99)}
"""Range of the outputs on the flat side of an activation, which passes less than 3% of the gradient."""


class UnitStats(NamedTuple):
    """Counts and sums over the activation layers of one stack, or of several."""

    outputs: float = 0.0
    """Number of outputs: units times rows."""
    total: float = 0.0
    """Sum of the outputs."""
    squares: float = 0.0
    """Sum of the squared outputs."""
    tanh: float = 0.0
    """Number of outputs of tanh units."""
    saturated: float = 0.0
    """Number of saturated outputs of tanh units."""
    rectifiers: float = 0.0
    """Number of ReLU, SiLU, GELU and ELU units. A unit of a convolution is a channel."""
    dead: float = 0.0
    """Number of these units that are on the flat side of their activation for every row."""

    def add(self, other: UnitStats) -> UnitStats:
        """Returns the sum of both; `+` would concatenate the tuples."""
        return UnitStats._make(map(float.__add__, self, other))


class Health(NamedTuple):
    """Statistics of the units of each stack, and of the actor's outputs and probabilities."""

    shared: UnitStats
    actor: UnitStats
    critic: UnitStats
    output_mean: float
    """Mean output of the actor's last layer."""
    output_std: float
    logit_range: float
    """Highest minus lowest output of the actor's last layer, mean over rows."""
    prob_max: float
    """Probability of the most likely option, mean over rows and elements; 0 for continuous actions."""
    prob_min: float
    """Probability of the least likely option, in the same way."""

    @classmethod
    def from_flat(cls, numbers: list[float]) -> Health:
        """Returns the health from the flat list of numbers that the kernels write."""
        n = len(UnitStats._fields)
        shared, actor, critic = (UnitStats._make(numbers[k * n : (k + 1) * n]) for k in range(3))
        return cls._make((shared, actor, critic, *numbers[3 * n :]))


HEALTH_SIZE = 3 * len(UnitStats._fields) + len(Health._fields) - 3
"""Number of numbers that the kernels write: those of three UnitStats, and the other fields of Health."""


def network_health(
    activations: Iterable[LayerActivations], output: Array, head: Head, dist: Array
) -> Health:
    """Returns the health of a network from one forward pass.

    `activations`: outputs of every activation layer; `output` [B, k]: outputs of the actor's last layer;
    `dist`: the distribution parameters.
    """
    parts: dict[str, UnitStats] = dict.fromkeys(("shared", "actor", "critic"), UnitStats())
    for part, kind, x in activations:
        parts[part] = parts[part].add(unit_health(kind, x))
    probs = head.probabilities(dist)
    prob_max, prob_min = (
        float(np.mean([reduce(p, axis=-1).mean() for p in probs])) if probs else 0.0
        for reduce in (np.max, np.min)
    )
    return Health(
        **parts,
        output_mean=float(output.mean(dtype=np.float64)),
        output_std=float(output.std(dtype=np.float64)),
        logit_range=float((output.max(-1) - output.min(-1)).mean()),
        prob_max=prob_max,
        prob_min=prob_min,
    )


def unit_health(kind: str, x: Array) -> UnitStats:
    """Returns the counts and sums of one activation layer with outputs x [B, ...]."""
    units = UnitStats(float(x.size), float(x.sum(dtype=np.float64)), float(np.square(x).sum()))
    if kind == "tanh":
        return units._replace(tanh=units.outputs, saturated=float(is_saturated(x).sum()))
    dead = dead_units(kind, x)
    return units._replace(rectifiers=float(dead.size), dead=float(dead.sum()))


def dead_units(kind: str, x: Array) -> Array:
    """Returns which units of outputs [B, n] or [B, channels, height, width] are dead.

    A dead unit is on the flat side of its activation (any kind except tanh) for the whole batch.
    """
    low, high = DEAD_RANGES[kind]
    # over rows and, for a convolution, over pixels: its unit is a channel
    return np.asarray(((x >= low) & (x <= high)).all(axis=(0, *range(2, x.ndim))))


def is_saturated(x: Array) -> Array:
    """Returns which tanh outputs are so close to -1 or 1 that almost no gradient passes."""
    return np.abs(x) > SATURATION_THRESHOLD
