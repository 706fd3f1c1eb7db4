"""Stacked image observations that store each frame only once.

In a rollout with a stack of four frames, every frame appears in four observations. Here each plane of
pixels is stored once, as bytes [height, width], and an observation is a row of plane indices. Planes
are shared only if they are equal bit for bit, so that `np.asarray(images)` returns exactly the
recorded observations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Literal, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike

Array = np.ndarray
Channels = Literal["first", "last"]
Index = SupportsIndex | np.bool_ | slice | Array | Sequence[int] | EllipsisType | None
"""An index of one axis, as NumPy takes it."""
_PLANE, _INDEX, _LAST = ".plane", ".index", ".channels_last"
"""Suffixes of the names of stored arrays."""


@dataclass(frozen=True, eq=False)
class Images:
    """Observations of bytes, [..., channels, height, width] or [..., height, width, channels]."""

    plane: Array
    """Distinct planes, [F, height, width] uint8, contiguous."""
    index: Array
    """Plane indices of each observation, [..., channels] int32."""
    channels: Channels
    """Channel axis of an observation."""
    dtype = np.dtype(np.uint8)

    @classmethod
    def from_array(cls, rows: Array, channels: Channels) -> Images:
        """Returns observations [B, ...] as Images without shared planes."""
        plane = as_planes(rows, channels)  # [B, channels, height, width]
        n, k = plane.shape[:2]
        index = np.arange(n * k, dtype=np.int32).reshape(n, k)
        return cls(np.ascontiguousarray(plane.reshape(n * k, *plane.shape[2:])), index, channels)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of `np.asarray(images)`."""
        *leading, n = self.index.shape
        size = self.plane.shape[1:]
        return (*leading, n, *size) if self.channels == "first" else (*leading, *size, n)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.plane.nbytes + self.index.nbytes

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Images:
        """Indexes the axes before those of an image. Planes are not copied."""
        return replace(self, index=self.index[key])

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Returns the observations as an array of its own, [..., channels, height, width] or [...,
        height, width, channels]; NumPy calls this in `np.asarray`. Raises ValueError for
        `copy=False`."""
        if copy is False:
            raise ValueError("images with shared planes must be copied to become an array")
        rows = self.plane[self.index]  # [..., channels, height, width]
        if self.channels == "last":
            rows = np.ascontiguousarray(np.moveaxis(rows, -3, -1))
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def reshape(self, *shape: int) -> Images:
        """Reshapes the axes before those of an image, which must stay as they are."""
        leading, image = shape[:-3], self.shape[-3:]
        if shape[-3:] != image:
            raise ValueError(f"images of shape {image} cannot be reshaped to {shape[-3:]}")
        return replace(self, index=self.index.reshape(*leading, self.index.shape[-1]))

    def copy(self) -> Images:
        """Returns a copy that holds only the planes it uses."""
        return _joined([self])

    def concat(self, others: Images) -> Images:
        """Returns both, concatenated along the first axis."""
        return _joined([self, others])

    def with_rows(self, at: Index | tuple[Index, ...], rows: Array) -> Images:
        """Returns a copy in which the observations at `at`, an index of the axes before those of an
        image, are replaced by `rows` [K, ...]."""
        if not len(rows):
            return self
        added, index = Images.from_array(rows, self.channels), self.index.copy()
        # The new planes are appended, so the indices of all other observations stay valid.
        index[at] = added.index + len(self.plane)
        return replace(self, plane=np.concatenate([self.plane, added.plane]), index=index)


ObsArray = np.ndarray | Images
"""Observations [..., *shape of one], as an array or with shared planes."""


class ImageRecorder:
    """Records the images of a rollout, step by step, of N environment copies."""

    def __init__(self, obs: Array, channels: Channels, steps: int) -> None:
        """`obs` [N, ...] is an example observation. The buffers for `steps` steps grow if needed."""
        self._channels: Channels = channels
        self._last = np.empty_like(obs)
        """The observations that were recorded last."""
        n, k, *size = as_planes(obs, channels).shape
        self._shifts = (1, 3, 0) if k > 3 and k % 3 == 0 else (1, 0)
        """Numbers of planes by which a stack may have moved since the last step: one grayscale frame,
        one RGB frame, or none (the environment repeated its observation)."""
        # Usually each step adds one plane per copy. The first observation, and one after a reset, adds k.
        self._plane = np.empty(((steps + 2 * k) * n, *size), np.uint8)
        self._used = 0
        """Number of planes recorded so far."""
        self._index = np.empty((steps, n, k), np.int32)

    def record(self, t: int, obs: Array) -> Array:
        """Records the observations [N, ...] before step t; returns a copy, valid until the next call."""
        # k planes per observation, N copies. A stack that moved by s planes since the last step shares
        # its first k - s planes with the last k - s planes of the previous stack.
        if t == len(self._index):
            self._index = np.concatenate([self._index, np.empty_like(self._index)])
        new = as_planes(obs, self._channels)
        now, before = (_words(as_planes(rows, self._channels)) for rows in (obs, self._last))
        row = self._index[t]
        n, k = row.shape
        remaining = np.arange(n)  # copies for which no shift of the last stack has matched yet
        rest: slice | Array = slice(
            None
        )  # the same as an index; a slice avoids a copy in the first pass
        for shift in self._shifts if t else ():  # at the first step there is no previous stack
            kept = k - shift
            # Pixels are compared, not frame counters: no environment has to announce what it stacks.
            same = (now[rest, :kept] == before[rest, shift:]).reshape(len(remaining), -1).all(1)
            matched = remaining[same]
            if len(matched):
                row[matched, :kept] = self._index[t - 1, matched, shift:]
                row[matched, kept:] = self._add(new[matched, kept:])
                rest = remaining = remaining[~same]
            else:
                rest = remaining
            if not len(remaining):
                break
        if len(remaining):  # a reset, or an environment that does not stack frames
            row[remaining] = self._add(new[remaining])
        # A copy, because an environment may reuse the array of its observations.
        self._last[...] = obs
        return self._last

    def __getitem__(self, key: Index | tuple[Index, ...]) -> Images:
        return Images(self._plane[: self._used], self._index[key], self._channels)

    def _add(self, new: Array) -> Array:
        """Stores planes [n, k, height, width] and returns their indices [n, k]."""
        n, k, *size = new.shape
        end = self._used + n * k
        while end > len(self._plane):
            self._plane = np.concatenate([self._plane, np.empty_like(self._plane)])
        self._plane[self._used : end].reshape(n, k, *size)[...] = new
        indices = np.arange(self._used, end, dtype=np.int32).reshape(n, k)
        self._used = end
        return indices


def as_planes(rows: Array, channels: Channels) -> Array:
    """Returns a view of observations [B, ...] as planes [B, channels, height, width]."""
    return rows if channels == "first" else np.moveaxis(rows, -1, 1)


def _words(plane: Array) -> Array:
    """Returns planes [B, channels, height, width] with eight pixels per uint64, which compares faster.

    Planes that are not contiguous or have another number of pixels are returned as they are.
    """
    *leading, height, width = plane.shape
    if not plane.flags.c_contiguous or height * width % 8:
        return plane
    return plane.reshape(*leading, height * width).view(np.uint64)


def concatenate(pieces: Sequence[ObsArray]) -> ObsArray:
    """Returns observations concatenated along the first axis; images hold only the planes they use."""
    like = next((piece for piece in pieces if isinstance(piece, Images)), None)
    if like is None:
        return np.concatenate(pieces)  # type: ignore[arg-type]
    return _joined(
        [p if isinstance(p, Images) else Images.from_array(p, like.channels) for p in pieces]
    )


def join_copies(pieces: Sequence[ObsArray]) -> ObsArray:
    """Returns the columns [T, N, ...] of several groups of env copies as one, along the axis of copies."""
    if not isinstance(pieces[0], Images):
        return np.concatenate(pieces, axis=1)  # type: ignore[arg-type]
    images = [piece for piece in pieces if isinstance(piece, Images)]
    before = np.cumsum([0, *(len(piece.plane) for piece in images)])
    index = [piece.index + np.int32(n) for piece, n in zip(images, before[:-1], strict=True)]
    planes = np.concatenate([piece.plane for piece in images])
    return replace(images[0], plane=planes, index=np.concatenate(index, axis=1))


def _joined(pieces: Sequence[Images]) -> Images:
    """Returns images with the same channel axis concatenated, without unused planes."""
    # Pieces of one rollout share one array of planes, which is then reduced to its used planes once.
    sources = {id(piece.plane): piece.plane for piece in pieces}
    kept: list[Array] = []
    new_index: dict[int, Array] = {}
    """For each source, the new index of each of its planes."""
    total = 0
    for source, plane in sources.items():
        used = np.zeros(len(plane), dtype=bool)
        for piece in pieces:
            if piece.plane is plane:
                used[piece.index] = True
        # the j-th used plane of this source follows the `total` planes of earlier sources
        new_index[source] = (np.cumsum(used) + (total - 1)).astype(np.int32)
        kept.append(plane[used])
        total += len(kept[-1])
    index = np.concatenate([new_index[id(piece.plane)][piece.index] for piece in pieces])
    return replace(pieces[0], plane=np.concatenate(kept), index=index)


def as_arrays(columns: Mapping[str, ObsArray]) -> dict[str, Array]:
    """Returns columns as plain arrays by name, for storage: images become three arrays."""
    arrays: dict[str, Array] = {}
    for name, column in columns.items():
        if isinstance(column, Images):
            images = column.copy()
            arrays |= {f"{name}{_PLANE}": images.plane, f"{name}{_INDEX}": images.index}
            arrays[f"{name}{_LAST}"] = np.array([images.channels == "last"])
        else:
            arrays[name] = column
    return arrays


def from_arrays(arrays: Mapping[str, Array]) -> dict[str, ObsArray]:
    """Returns the columns from which `as_arrays` made these arrays."""
    # Every column of images has exactly one array with the suffix _LAST.
    image_names = [name.removesuffix(_LAST) for name in arrays if name.endswith(_LAST)]
    parts = {f"{name}{part}" for name in image_names for part in (_PLANE, _INDEX, _LAST)}
    columns: dict[str, ObsArray] = {name: a for name, a in arrays.items() if name not in parts}
    for name in image_names:
        channels: Channels = "last" if arrays[f"{name}{_LAST}"][0] else "first"
        plane, index = arrays[f"{name}{_PLANE}"], arrays[f"{name}{_INDEX}"]
        columns[name] = Images(plane, index, channels)
    return columns
