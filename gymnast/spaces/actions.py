"""What a policy may do: one kind per type of action space, and which of it a state allows.

An environment rules actions out in `info["action_mask"]`. Here a mask is a row of booleans, one per
option: [n] for Discrete, the options of all elements end to end for MultiDiscrete, and off, on,
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
    """What one action is as a policy keeps it."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class DiscreteAction:
    """A Discrete action: one of n."""

    n: int
    first: int


@dataclass(frozen=True)
class MultiDiscreteAction:
    """A MultiDiscrete action: one of n for each element."""

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
    """A Box action, one amount per element."""

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def is_bounded(self) -> bool:
        """Every element has a lowest and a highest amount."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())


Action = DiscreteAction | MultiDiscreteAction | MultiBinaryAction | BoxAction


def action_bounds(space: Action) -> tuple[float | None, float | None]:
    """Lowest and highest value of any element of several, as a policy counts them."""
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
    """Of a policy over options that are all equally likely; amounts have none."""
    options = _options(space)
    return sum(math.log(n) for n in options) if options else None


def highest_masked_entropy(space: Action, allowed: np.ndarray) -> float:
    """Mean over states of the same, where masks [B, options] rule out some of them."""
    starts = np.cumsum([0, *_options(space)[:-1]])
    return float(np.log(np.add.reduceat(allowed, starts, axis=-1, dtype=np.int64)).sum(-1).mean())


def mask_width(space: Action) -> int:
    """Width of an action mask: how many options it rules on."""
    return sum(_options(space))


def put_mask(space: Action, rows: np.ndarray, i: int, given: Any) -> str | None:
    """Write which actions an environment allows into row i (all, if it does not say); or say what
    is wrong."""
    if given is None:
        rows[i] = True
        return None
    options = _options(space)
    if not options:
        return 'info["action_mask"] has no meaning for Box actions'
    try:
        allowed = _as_row(space, given)
    except (TypeError, ValueError):  # parts of different shapes
        allowed = None
    if allowed is None or allowed.dtype.kind not in "biuf" or allowed.shape != (sum(options),):
        return f'info["action_mask"] is {given!r}, not {_EXPECTED[type(space)]}'
    rows[i] = allowed
    if isinstance(space, DiscreteAction):  # once per step, so the short way
        return None if rows[i].any() else 'info["action_mask"] allows no action'
    starts = np.cumsum([0, *options[:-1]])
    empty = np.flatnonzero(~np.logical_or.reduceat(rows[i], starts))
    return f'info["action_mask"] allows nothing for element {empty[0]}' if len(empty) else None


_EXPECTED = {
    DiscreteAction: "one entry per action",
    MultiDiscreteAction: "one entry per option, in one array or one array per element",
    MultiBinaryAction: "0 (off), 1 (on) or 2 (either) per element, as gymnasium has it",
}


def _options(space: Action) -> tuple[int, ...]:
    """Of each element."""
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
    if isinstance(space, DiscreteAction):
        return np.asarray(given)
    if isinstance(space, MultiDiscreteAction):
        return np.concatenate([np.ravel(part) for part in _flattened(given)])
    wanted = np.asarray(given)
    # True could mean "may be on" as well as "must be on", so it is refused
    if wanted.dtype == bool or not np.isin(wanted, (0, 1, 2)).all():
        return None
    wanted = wanted.ravel()
    return np.stack([wanted != 1, wanted != 0], -1).ravel()


def _flattened(given: Any) -> Iterator[Any]:
    if isinstance(given, tuple):
        for part in given:
            yield from _flattened(part)
    else:
        yield given
