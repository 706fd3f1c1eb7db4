"""The kinds of actions that consist of one array: Discrete, MultiDiscrete, MultiBinary and Box."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gymnast.spaces.action import NO_NAMES, Action, ActionNames, ActionSpec, Element

__all__ = [
    "Action",
    "ActionSpec",
    "BoxAction",
    "DiscreteAction",
    "Element",
    "MultiBinaryAction",
    "MultiDiscreteAction",
]

Array = np.ndarray
_INT64, _INT8, _FLOAT32 = (np.dtype(x) for x in (np.int64, np.int8, np.float32))


@dataclass(frozen=True)
class DiscreteAction(Action):
    """A Discrete action: one of n integers."""

    n: int
    first: int
    """The smallest of them, Gymnasium's `start`."""
    name = "Discrete"
    mask_format = "one entry per action"

    @property
    def row_spec(self) -> ActionSpec:
        return ActionSpec((), _INT64)

    def list_elements(self) -> tuple[Element, ...]:
        return (Element.choice("", self.n, self.first),)

    @property
    def text(self) -> str:
        return f"1 of {self.n}"

    def flatten(self, rows: Array) -> Array:
        return (rows - self.first)[..., None]

    def unflatten(self, flat: Array) -> Array:
        return flat[..., 0].astype(np.int64) + self.first

    def unpack(self, row: Array) -> int:
        return int(row)

    @property
    def compact_dtype(self) -> np.dtype | None:
        fits_a_byte = self.first >= 0 and self.first + self.n <= 256
        return np.dtype(np.uint8) if fits_a_byte else None

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None) -> Array:
        return draw_options(rng.random(shape, dtype=np.float32), self.n, mask)[..., None]

    def extremes(self, limit: int) -> Iterator[Array]:
        yield from np.arange(min(self.n, limit))[:, None]

    @property
    def n_choices(self) -> int:
        return self.n

    @property
    def bounds(self) -> tuple[None, None]:
        return None, None

    @property
    def default_names(self) -> tuple[str, ...]:
        return tuple(str(i) for i in range(self.n))

    def option_names(self, declared: ActionNames = NO_NAMES) -> tuple[str, ...]:
        return self.names(declared.actions)

    def element_texts(self, flat: Array, declared: ActionNames = NO_NAMES) -> list[str]:
        return [self.names(declared.actions)[int(flat[0])]]

    def mask_row(self, given: object) -> Array | None:
        return np.asarray(given)


@dataclass(frozen=True)
class MultiDiscreteAction(Action):
    """A MultiDiscrete action, or one of a Box of integers: one of n[i] integers for element i, from first[i]
    on."""

    shape: tuple[int, ...]
    n: tuple[int, ...]
    first: tuple[int, ...]
    dtype: str = "int64"
    """The integers that the environment takes."""
    name = "MultiDiscrete"
    mask_format = "one entry per option, in one array or one array per element"

    @property
    def row_spec(self) -> ActionSpec:
        return ActionSpec(self.shape, np.dtype(self.dtype))

    def list_elements(self) -> tuple[Element, ...]:
        parts = zip(self.n, self.first, strict=True)
        return tuple(Element.choice(str(i), n, first) for i, (n, first) in enumerate(parts))

    @property
    def text(self) -> str:
        return f"1 each of {', '.join(map(str, self.n))}"

    def flatten(self, rows: Array) -> Array:
        flat = rows.reshape(*_batch(rows, self.shape), len(self.n))
        return flat - np.array(self.first, np.int64)

    def unflatten(self, flat: Array) -> Array:
        rows = flat.astype(np.int64) + np.array(self.first, np.int64)
        return rows.astype(self.dtype, copy=False).reshape(*flat.shape[:-1], *self.shape)

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None) -> Array:
        noise = np.moveaxis(rng.random((*shape, len(self.n)), dtype=np.float32), -1, 0)
        ends = np.cumsum(self.n)[:-1]
        masks = [None] * len(self.n) if mask is None else np.split(mask, ends, -1)
        drawn = [draw_options(u, n, m) for u, n, m in zip(noise, self.n, masks, strict=True)]
        return np.stack(drawn, -1)

    def extremes(self, limit: int) -> Iterator[Array]:
        yield from (np.zeros(len(self.n), np.int64), np.array(self.n) - 1)

    def mask_row(self, given: object) -> Array | None:
        return np.concatenate([np.ravel(part) for part in _leaves(given)])


@dataclass(frozen=True)
class MultiBinaryAction(Action):
    """A MultiBinary action: on or off for each element."""

    shape: tuple[int, ...]
    name = "MultiBinary"
    mask_format = "0 (off), 1 (on) or 2 (either) per element, as in gymnasium"

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def row_spec(self) -> ActionSpec:
        return ActionSpec(self.shape, _INT8)

    def list_elements(self) -> tuple[Element, ...]:
        return tuple(Element.choice(str(i), 2, 0) for i in range(self.size))

    @property
    def text(self) -> str:
        return str(self.shape)

    def flatten(self, rows: Array) -> Array:
        return rows.reshape(*_batch(rows, self.shape), self.size)

    def unflatten(self, flat: Array) -> Array:
        return flat.astype(np.int8).reshape(*flat.shape[:-1], *self.shape)

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None) -> Array:
        noise = rng.random((*shape, self.size), dtype=np.float32)
        if mask is None:
            return (noise < 0.5).astype(np.int64)
        may_be_off, may_be_on = mask[..., ::2], mask[..., 1::2]
        on = np.where(may_be_on, np.where(may_be_off, 0.5, 1.0), 0.0)
        return (noise < on).astype(np.int64)

    def extremes(self, limit: int) -> Iterator[Array]:
        yield from (np.zeros(self.size, np.int64), np.ones(self.size, np.int64))

    def mask_row(self, given: object) -> Array | None:
        """Returns Gymnasium's codes 0 (off), 1 (on) and 2 (either) as pairs: may be off, may be on."""
        required = np.asarray(given)
        # True could mean "may be on" as well as "must be on", so booleans are rejected
        if required.dtype == bool or not np.isin(required, (0, 1, 2)).all():
            return None
        required = required.ravel()
        return np.stack([required != 1, required != 0], -1).ravel()


@dataclass(frozen=True)
class BoxAction(Action):
    """A Box action: one float per element."""

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    name = "Box"

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def row_spec(self) -> ActionSpec:
        return ActionSpec(self.shape, _FLOAT32)

    def list_elements(self) -> tuple[Element, ...]:
        bounds = zip(self.low, self.high, strict=True)
        return tuple(Element(str(i), 0, 0, low, high) for i, (low, high) in enumerate(bounds))

    @property
    def text(self) -> str:
        return str(self.shape)

    def flatten(self, rows: Array) -> Array:
        return rows.reshape(*_batch(rows, self.shape), self.size)

    def unflatten(self, flat: Array) -> Array:
        return flat.astype(np.float32).reshape(*flat.shape[:-1], *self.shape)

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None) -> Array:
        low, high = np.array(self.low), np.array(self.high)
        # Without bounds this is [-1, 1]; with one bound, the interval of width 2 next to it.
        low = np.where(np.isfinite(low), low, np.minimum(high, 1.0) - 2.0)
        high = np.where(np.isfinite(high), high, low + 2.0)
        return rng.uniform(low, high, (*shape, self.size)).astype(np.float32)

    def extremes(self, limit: int) -> Iterator[Array]:
        """Yields the corners, then each bound alone with the other elements in the middle. Infinite bounds
        count as 0."""
        low, high = (np.array(end, np.float32) for end in (self.low, self.high))
        low, high = (np.where(np.isfinite(end), end, 0).astype(np.float32) for end in (low, high))
        yield from (low, high)
        middle = ((low + high) / 2).astype(np.float32)
        for i in range(min(self.size, limit // 2)):
            for end in (low, high):
                action = middle.copy()
                action[i] = end[i]
                yield action


def draw_options(noise: Array, n: int, mask: Array | None) -> Array:
    """Returns one of n options for each number of `noise` [...], which is uniform in 0..1. The options that
    the mask [..., n] allows have equal probability."""
    allowed = np.ones((*noise.shape, n), bool) if mask is None else mask
    cumulative = np.cumsum(allowed, -1, dtype=np.float32)
    target = noise[..., None] * cumulative[..., -1:]
    # `<=`: a masked option is passed over even if the noise is exactly 0
    return (cumulative[..., :-1] <= target).sum(-1)


def _batch(rows: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the batch shape of rows [..., *shape]."""
    return rows.shape[: rows.ndim - len(shape)]


def _leaves(given: object) -> Iterator[Array]:
    """Yields the arrays of a mask for MultiDiscrete, which Gymnasium gives as nested tuples of arrays."""
    if isinstance(given, tuple):
        for part in given:
            yield from _leaves(part)
    else:
        yield np.asarray(given)
