"""The actions that are tried at a step instead of the one that was played."""

from __future__ import annotations

import itertools
import math

import numpy as np

from gymnast.policy.head import Head
from gymnast.spaces.action import Element

Array = np.ndarray
MAX_COMBINATIONS = 12
"""Number of combinations of element values up to which all are tried, else one element is changed."""
MAX_ALTERNATIVES = 24
"""Maximum number of actions that are tried at a step; of a Discrete space, all are."""


def alternatives(head: Head, dist: Array, mask: Array | None, played: Array) -> list[Array]:
    """Returns the allowed actions other than `played`, as rows of the action space, the policy's own first.
    `dist`: parameters of its distribution at this step, [k]; `mask`: allowed options, or None.

    These are all options of a discrete action; of a continuous one the mean, the mean plus and minus one
    standard deviation, and the bounds of its elements."""
    space, spec = head.space, head.space.row_spec
    own = space.flatten(head.for_env(head.mode(dist[None])))[0].astype(np.float64)
    found = [own, *_quantiles(head, dist), *_combinations(space.elements, own)]
    rows: list[Array] = []
    seen = [space.flatten(played)]
    for flat in found:
        is_new = not any(np.array_equal(flat.astype(np.float32), other) for other in seen)
        if is_new and (mask is None or space.is_allowed(flat, mask)):
            row = space.unflatten(flat).astype(spec.dtype).reshape(spec.shape)
            seen.append(space.flatten(row).astype(np.float32))
            rows.append(row)
    return rows if space.n_choices is not None else rows[:MAX_ALTERNATIVES]


def _quantiles(head: Head, dist: Array) -> list[Array]:
    """Returns the mean plus and minus one standard deviation, if all elements are continuous."""
    space = head.space
    if space.options:
        return []
    noise = np.ones((1, *head.action_spec.shape), np.float32)
    return [
        space.flatten(head.for_env(head.sample(dist[None], sign * noise)))[0].astype(np.float64)
        for sign in (1, -1)
    ]


def _combinations(elements: tuple[Element, ...], own: Array) -> list[Array]:
    """Returns all combinations of the elements' values or, if there are too many, the policy's own action
    with one element changed."""
    values = [_values(element) for element in elements]
    if math.prod(len(v) for v in values) <= MAX_COMBINATIONS:
        return [np.array(combination) for combination in itertools.product(*values)]
    changed: list[Array] = []
    for i, options in enumerate(values):
        for value in options:
            flat = own.copy()
            flat[i] = value
            changed.append(flat)
    return changed


def _values(element: Element) -> list[float]:
    """Returns the values of an element that are tried: every option, or its finite bounds."""
    if element.n:
        return [float(option) for option in range(element.n)]
    return [bound for bound in (element.low, element.high) if math.isfinite(bound)]
