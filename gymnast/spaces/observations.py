"""Observation space descriptions, one class per type of observation space, as data that can be stored.

Every observation becomes ONE array, so that collectors, rollouts, checkpoints and traces need not know
its structure: a row of floats, indices or bytes or, for Dict and Tuple, one NumPy record with a field
per entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeGuard

import numpy as np

from gymnast.images import Images, ObsArray

MIN_SHARED_PIXELS = 1024
"""Number of pixels below which sharing equal planes of stacked images does not save enough memory."""


@dataclass(frozen=True)
class BoxObs:
    """A Box (or MultiBinary) observation, read as one flat float vector."""

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    dtype = np.dtype(np.float32)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def put(self, rows: np.ndarray, i: int, obs: object) -> str | None:
        """Writes an environment's observation into row i; returns what is wrong with it, or None."""
        if not isinstance(obs, np.ndarray) or obs.shape != self.shape:
            return _misshapen(obs, self.shape)
        try:
            rows[i] = obs
        except (TypeError, ValueError):
            return f"the observation is of {obs.dtype}, not numbers"
        return None

    def not_finite(self, rows: np.ndarray) -> np.ndarray | None:
        """Returns which rows [N] contain NaN or infinity; None if no row does."""
        finite = np.isfinite(rows)  # [N, ...]
        return None if finite.all() else np.asarray(~finite.reshape(len(rows), -1).all(1))

    def where_not_finite(self, row: np.ndarray) -> str:
        """Returns the index of the first NaN or infinity of a row, as text."""
        return f"index {np.argwhere(~np.isfinite(np.atleast_1d(row)))[0].tolist()}"


class _IntegerObs:
    """Observations of integers, which are always finite."""

    def not_finite(self, rows: np.ndarray) -> np.ndarray | None:
        return None

    def where_not_finite(self, row: np.ndarray) -> str:
        return ""


@dataclass(frozen=True)
class DiscreteObs(_IntegerObs):
    """A Discrete observation: one of n categories, embedded by the network."""

    n: int
    first: int
    shape = ()
    dtype = np.dtype(np.int64)

    def put(self, rows: np.ndarray, i: int, obs: object) -> str | None:
        """Writes an environment's observation into row i; returns what is wrong with it, or None."""
        if not (_is_index(obs) and self.first <= obs < self.first + self.n):
            return f"the observation is {obs!r}, not one of {self.n} categories"
        rows[i] = obs
        return None


@dataclass(frozen=True)
class MultiDiscreteObs(_IntegerObs):
    """A MultiDiscrete observation: one of n[i] categories for element i, each embedded by the network."""

    shape: tuple[int, ...]
    n: tuple[int, ...]
    first: tuple[int, ...]
    dtype = np.dtype(np.int64)

    def put(self, rows: np.ndarray, i: int, obs: object) -> str | None:
        """Writes an environment's observation into row i; returns what is wrong with it, or None."""
        if not isinstance(obs, np.ndarray) or obs.shape != self.shape:
            return _misshapen(obs, self.shape)
        if not np.issubdtype(obs.dtype, np.integer):
            return f"the observation is of {obs.dtype}, not whole numbers"
        index = obs.ravel() - np.array(self.first)
        if not ((index >= 0) & (index < np.array(self.n))).all():
            return f"the observation is {obs.tolist()}, not within {list(self.n)} categories"
        rows[i] = obs
        return None

    def embedding_rows(self, rows: np.ndarray) -> np.ndarray:
        """Returns the rows [B, k] of one embedding table of all elements, for observations [B, ...]."""
        # Element i owns the n[i] rows of the table after those of all elements before it.
        offset = np.cumsum([0, *self.n[:-1]]) - np.array(self.first)
        return rows.reshape(len(rows), -1) + offset


def planes_of(shape: tuple[int, ...], channels: str) -> tuple[int, int, int]:
    """Returns channels, height and width of an image, whichever axis holds the channels. `channels`: first or
    last; ignored for an image with two axes, which has one channel."""
    if len(shape) == 2:
        return (1, *shape)
    a, b, c = shape
    return (a, b, c) if channels == "first" else (c, a, b)


@dataclass(frozen=True)
class ImageObs(_IntegerObs):
    """A Box of uint8 with two or three axes. It stays uint8; the network divides by `top`."""

    shape: tuple[int, ...]
    top: int
    """Largest value a byte may take."""
    channels: Literal["first", "last", "unknown"]
    """Axis that holds the channels; ignored if there are only two axes."""
    dtype = np.dtype(np.uint8)

    @property
    def planes(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        return planes_of(self.shape, self.channels)

    @property
    def is_stack(self) -> bool:
        """Whether this looks like a stack of frames, most of which the next observation repeats.

        One channel is grayscale and three are RGB; for small images sharing planes saves little.
        """
        n, height, width = self.planes
        return n not in (1, 3) and height * width >= MIN_SHARED_PIXELS

    def put(self, rows: np.ndarray, i: int, obs: object) -> str | None:
        """Writes an environment's observation into row i; returns what is wrong with it, or None."""
        if not isinstance(obs, np.ndarray) or obs.shape != self.shape:
            return _misshapen(obs, self.shape)
        if obs.dtype != np.uint8:
            return f"the observation is of {obs.dtype}, its space says uint8"
        rows[i] = obs
        return None


LeafObs = BoxObs | DiscreteObs | MultiDiscreteObs | ImageObs
"""An entry of a Dict or Tuple observation that has no entries of its own."""


@dataclass(frozen=True)
class CompositeObs:
    """A Dict or Tuple observation: a record with a field per entry, named `a.b` for nested entries."""

    kind: Literal["Dict", "Tuple"]
    entries: tuple[tuple[str, Observation], ...]
    shape = ()

    @cached_property
    def leaves(self) -> dict[str, LeafObs]:
        """Space of each field by name, nested entries included."""
        return dict(self._leaves())

    @cached_property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype([(name, leaf.dtype, leaf.shape) for name, leaf in self.leaves.items()])

    def put(self, rows: np.ndarray, i: int, obs: object) -> str | None:
        return self._put(rows, i, obs, "")

    def not_finite(self, rows: np.ndarray) -> np.ndarray | None:
        per_leaf = (leaf.not_finite(rows[name]) for name, leaf in self.leaves.items())
        bad = [which for which in per_leaf if which is not None]
        return np.logical_or.reduce(bad) if bad else None

    def where_not_finite(self, row: np.ndarray) -> str:
        for name, leaf in self.leaves.items():
            if leaf.not_finite(row[name][None]) is not None:
                return f"{leaf.where_not_finite(row[name])} of entry {name}"
        return ""

    def _leaves(self) -> Iterator[tuple[str, LeafObs]]:
        """Yields the name and the space of each field, nested entries included."""
        for name, entry in self.entries:
            if isinstance(entry, CompositeObs):
                yield from ((f"{name}.{inner}", leaf) for inner, leaf in entry._leaves())
            else:
                yield name, entry

    def _put(self, rows: np.ndarray, i: int, obs: object, prefix: str) -> str | None:
        """Writes a nested observation into the fields of row i whose names start with `prefix`.

        Returns what is wrong with it, or None.
        """
        given = _entries(self.kind, obs)
        if given is None:
            what = f"a {type(obs).__name__}, not a {self.kind.lower()}"
            return f"{_subject(prefix)} is {what}"
        for name, entry in self.entries:
            if name not in given:
                return f"{_subject(prefix)} lacks the entry {name}"
            path = f"{prefix}{name}"
            if isinstance(entry, CompositeObs):
                problem = entry._put(rows, i, given[name], f"{path}.")
            else:
                # rows[path] is a view, so this writes into the record
                problem = entry.put(rows[path], i, given[name])
                problem = problem and problem.replace("the observation", f"entry {path}", 1)
            if problem is not None:
                return problem
        if len(given) > len(self.entries):
            extra = next(name for name in given if name not in dict(self.entries))
            return f"{_subject(prefix)} has an entry {extra} that is not in its space"
        return None


Observation = LeafObs | CompositeObs


def leaves_of(space: Observation) -> dict[str, LeafObs]:
    """Returns the spaces of all fields by name; a space that is not a Dict or Tuple has the name ""."""
    return space.leaves if isinstance(space, CompositeObs) else {"": space}


def as_box(space: Observation) -> BoxObs | None:
    """Returns the bounds of all vectors of a space, concatenated to one vector, for normalization; None if
    the space contains no vector."""
    if isinstance(space, BoxObs):
        return space
    boxes = [leaf for leaf in leaves_of(space).values() if isinstance(leaf, BoxObs)]
    low, high = sum((box.low for box in boxes), ()), sum((box.high for box in boxes), ())
    return BoxObs((len(low),), low, high) if boxes else None


def blank_obs(space: Observation, n: int) -> np.ndarray:
    """Returns an array for n observations, filled with valid ones."""
    rows: np.ndarray = np.zeros((n, *space.shape), space.dtype)
    # 0 is not a valid category if the space counts from another number.
    for name, leaf in leaves_of(space).items():
        if isinstance(leaf, DiscreteObs | MultiDiscreteObs):
            part = rows[name] if name else rows
            part[:] = np.reshape(leaf.first, leaf.shape)
    return rows


def non_image_columns(rows: ObsArray) -> dict[str, np.ndarray]:
    """Returns the columns of observations by name, without images; a plain array has the name ""."""
    if isinstance(rows, Images):
        return {}
    names = rows.dtype.names
    columns = {"": rows} if names is None else {name: rows[name] for name in names}
    return {name: column for name, column in columns.items() if column.dtype != ImageObs.dtype}


def _entries(kind: str, obs: object) -> Mapping[str, object] | None:
    """Returns the entries of a Dict or Tuple observation by name; None if it is not one."""
    if kind == "Dict":
        return obs if isinstance(obs, Mapping) else None
    # entries of a Tuple are named by their index
    return {str(i): x for i, x in enumerate(obs)} if isinstance(obs, tuple | list) else None


def _subject(prefix: str) -> str:
    return f"entry {prefix[:-1]}" if prefix else "the observation"


def _misshapen(obs: object, shape: tuple[int, ...]) -> str:
    """Returns what is wrong with a value that is not an array of this shape."""
    if isinstance(obs, np.ndarray):
        return f"the observation has shape {obs.shape}, its space says {shape}"
    return f"the observation is a {type(obs).__name__}, not an array"


def _is_index(obs: object) -> TypeGuard[int]:
    """Returns whether this is a single integer, of Python or of NumPy."""
    if isinstance(obs, int):
        return True
    array = np.asarray(obs)
    return array.ndim == 0 and np.issubdtype(array.dtype, np.integer)
