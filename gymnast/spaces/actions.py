"""Action space descriptions, one class per type of action space, and action masks.

An environment marks the allowed actions in `info["action_mask"]`. Here a mask is a row of booleans, one
per option: [n] for Discrete, the options of all elements concatenated for MultiDiscrete, and off, on,
off, on, ... for MultiBinary.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class ActionSpec:
    """Shape and dtype of one action in a rollout."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class DiscreteAction:
    """A Discrete action: one of n integers."""

    n: int
    first: int
    """The smallest of them, Gymnasium's `start`."""


@dataclass(frozen=True)
class MultiDiscreteAction:
    """A MultiDiscrete action: one of n[i] integers for element i, from first[i] on."""

    shape: tuple[int, ...]
    n: tuple[int, ...]
    first: tuple[int, ...]


@dataclass(frozen=True)
class MultiBinaryAction:
    """A MultiBinary action: on or off for each element."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))


@dataclass(frozen=True)
class BoxAction:
    """A Box action: one float per element."""

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def is_bounded(self) -> bool:
        """Whether every element has a finite lower and upper bound."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())


Action = DiscreteAction | MultiDiscreteAction | MultiBinaryAction | BoxAction


def action_bounds(space: Action) -> tuple[float | None, float | None]:
    """Returns the lowest and the highest value of any element, counted from 0 for discrete elements.

    Both are None for a Discrete action, whose number is only a label.
    """
    match space:
        case DiscreteAction():
            return None, None
        case MultiDiscreteAction():
            return 0.0, max(space.n) - 1.0
        case MultiBinaryAction():
            return 0.0, 1.0
        case BoxAction():
            return min(space.low), max(space.high)


def max_entropy(space: Action) -> float | None:
    """Returns the entropy of a uniform policy in nats; None for Box actions, which have no maximum."""
    options = _options(space)
    return sum(math.log(n) for n in options) if options else None


def highest_masked_entropy(space: Action, allowed: np.ndarray) -> float:
    """Returns the mean entropy, in nats, of uniform policies over the allowed options of masks [B,
    options]."""
    # A mask row holds the options of all elements, one after the other. Count the allowed ones per element.
    starts = np.cumsum([0, *_options(space)[:-1]])
    return float(np.log(np.add.reduceat(allowed, starts, axis=-1, dtype=np.int64)).sum(-1).mean())


def mask_width(space: Action) -> int:
    """Returns the width of an action mask: the total number of options."""
    return sum(_options(space))


def put_mask(space: Action, rows: np.ndarray, i: int, mask: Any) -> str | None:
    """Writes an environment's action mask into row i of `rows`, [B, options]; if the mask is None, all
    actions are allowed.

    Returns what is wrong with the mask, or None if it is valid.
    """
    if mask is None:
        rows[i] = True
        return None
    options = _options(space)
    if not options:
        return 'info["action_mask"] is not supported for Box actions'
    try:
        # The mask comes from user code, so anything may be wrong with it.
        allowed = _as_row(space, mask)
    except (TypeError, ValueError):  # a ragged array
        allowed = None
    if allowed is None or allowed.dtype.kind not in "biuf" or allowed.shape != (sum(options),):
        return f'info["action_mask"] is {mask!r}, not {_EXPECTED[type(space)]}'
    rows[i] = allowed
    if isinstance(space, DiscreteAction):  # called in every step, so this case has a fast path
        return None if rows[i].any() else 'info["action_mask"] allows no action'
    # Each element needs at least one allowed option, or its distribution would be undefined.
    starts = np.cumsum([0, *options[:-1]])
    empty = np.flatnonzero(~np.logical_or.reduceat(rows[i], starts))
    return f'info["action_mask"] allows nothing for element {empty[0]}' if len(empty) else None


_EXPECTED = {
    DiscreteAction: "one entry per action",
    MultiDiscreteAction: "one entry per option, in one array or one array per element",
    MultiBinaryAction: "0 (off), 1 (on) or 2 (either) per element, as in gymnasium",
}


def _options(space: Action) -> tuple[int, ...]:
    """Returns the number of options of each element; empty for Box actions."""
    match space:
        case DiscreteAction():
            return (space.n,)
        case MultiDiscreteAction():
            return space.n
        case MultiBinaryAction():
            return (2,) * space.size
        case BoxAction():
            return ()


def _as_row(space: Action, given: Any) -> np.ndarray | None:
    """Returns an environment's mask as one row of options; None if its entries are not valid."""
    if isinstance(space, DiscreteAction):
        return np.asarray(given)
    if isinstance(space, MultiDiscreteAction):
        return np.concatenate([np.ravel(part) for part in _flattened(given)])
    required = np.asarray(given)
    # True could mean "may be on" as well as "must be on", so booleans are rejected
    if required.dtype == bool or not np.isin(required, (0, 1, 2)).all():
        return None
    required = required.ravel()
    # Gymnasium's codes 0 (off), 1 (on) and 2 (either) as pairs: may be off, may be on.
    return np.stack([required != 1, required != 0], -1).ravel()


def _flattened(given: Any) -> Iterator[Any]:
    """Yields the arrays of a mask for MultiDiscrete, which Gymnasium gives as nested tuples of arrays."""
    if isinstance(given, tuple):
        for part in given:
            yield from _flattened(part)
    else:
        yield given
