"""Observations that are stacks of images, every picture kept once.

A stack of the last four frames would show each frame four times. Here one plane of pixels is kept
once, as bytes [height, width], and an observation is a row of numbers: the planes it is made of.
Planes are shared only where they are equal to the last bit, so that whatever was noted comes out as
it went in: `np.asarray(images)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

Array = np.ndarray
Channels = Literal["first", "last"]
_PLANE, _INDEX, _LAST = ".plane", ".index", ".channels_last"
"""What the names of its arrays end with where they are stored."""


@dataclass(frozen=True, eq=False)
class Images:
    """Observations [..., channels, height, width] of bytes, or [..., height, width, channels]."""

    plane: Array
    """[F, height, width] uint8, contiguous."""
    index: Array
    """[..., channels] int32: which planes."""
    channels: Channels
    """The axis of an observation along which its planes lie."""
    dtype = np.dtype(np.uint8)

    @classmethod
    def of(cls, rows: Array, channels: Channels) -> Images:
        """Plain observations [B, ...], nothing shared."""
        plane = planes(rows, channels)
        n, k = plane.shape[:2]
        index = np.arange(n * k, dtype=np.int32).reshape(n, k)
        return cls(np.ascontiguousarray(plane.reshape(n * k, *plane.shape[2:])), index, channels)

    @property
    def shape(self) -> tuple[int, ...]:
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

    def __getitem__(self, key: Any) -> Images:
        """Of the axes before those of an image; planes are not copied."""
        return replace(self, index=self.index[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("images that are kept once have to be copied to stand side by side")
        rows = self.plane[self.index]
        if self.channels == "last":
            rows = np.ascontiguousarray(np.moveaxis(rows, -3, -1))
        return rows if dtype is None else rows.astype(dtype, copy=False)

    def reshape(self, *shape: int) -> Images:
        """Of the axes before those of an image."""
        leading, image = shape[:-3], self.shape[-3:]
        if shape[-3:] != image:
            raise ValueError(f"images of shape {image} cannot become {shape[-3:]}")
        return replace(self, index=self.index.reshape(*leading, self.index.shape[-1]))

    def copy(self) -> Images:
        """With the planes that it needs, and no others."""
        return _joined([self])

    def followed_by(self, others: Images) -> Images:
        """Along the first axis."""
        return _joined([self, others])

    def with_rows(self, at: Any, rows: Array) -> Images:
        """With plain observations [K, ...] in place of those at `at`."""
        if not len(rows):
            return self
        added, index = Images.of(rows, self.channels), self.index.copy()
        index[at] = added.index + len(self.plane)
        return replace(self, plane=np.concatenate([self.plane, added.plane]), index=index)


Observed = np.ndarray | Images
"""Observations [..., *shape of one]."""


class ImageRecorder:
    """Images of a rollout while it is played, as N copies show them step by step."""

    def __init__(self, obs: Array, channels: Channels, steps: int) -> None:
        """`obs`: like what the copies show, [N, ...]. There is room for so many steps, and for more
        if it must be."""
        self._channels: Channels = channels
        self._shown = np.empty_like(obs)
        """What was noted last."""
        n, k, *size = planes(obs, channels).shape
        self._shifts = (1, 3, 0) if k > 3 and k % 3 == 0 else (1, 0)
        """By how many planes an observation may have moved on: a grey frame, one in colours, none."""
        self._plane = np.empty(((steps + 2 * k) * n, *size), np.uint8)
        self._used = 0
        self._index = np.empty((steps, n, k), np.int32)

    def record(self, t: int, obs: Array) -> Array:
        """What the copies show [N, ...] before step t; a copy of it that lasts until the next."""
        if t == len(self._index):
            self._index = np.concatenate([self._index, np.empty_like(self._index)])
        seen = planes(obs, self._channels)
        now, before = (_words(planes(rows, self._channels)) for rows in (obs, self._shown))
        row = self._index[t]
        n, k = row.shape
        rest: Any = slice(None)
        copies = np.arange(n)
        for shift in self._shifts if t else ():
            kept = k - shift
            same = (now[rest, :kept] == before[rest, shift:]).reshape(len(copies), -1).all(1)
            found = copies[same]
            if len(found):
                row[found, :kept] = self._index[t - 1, found, shift:]
                row[found, kept:] = self._add(seen[found, kept:])
                rest = copies = copies[~same]
            else:
                rest = copies
            if not len(copies):
                break
        if len(copies):
            row[copies] = self._add(seen[copies])
        self._shown[...] = obs
        return self._shown

    def __getitem__(self, key: Any) -> Images:
        return Images(self._plane[: self._used], self._index[key], self._channels)

    def _add(self, new: Array) -> Array:
        """Keep planes [n, k, height, width]; their numbers [n, k]."""
        n, k, *size = new.shape
        end = self._used + n * k
        while end > len(self._plane):
            self._plane = np.concatenate([self._plane, np.empty_like(self._plane)])
        self._plane[self._used : end].reshape(n, k, *size)[...] = new
        numbers = np.arange(self._used, end, dtype=np.int32).reshape(n, k)
        self._used = end
        return numbers


def planes(rows: Array, channels: Channels) -> Array:
    """Observations [B, ...] as planes [B, channels, height, width], not copied."""
    return rows if channels == "first" else np.moveaxis(rows, -1, 1)


def _words(plane: Array) -> Array:
    """Planes [B, channels, height, width] with eight pixels in one number where they lie so, to be
    compared sooner."""
    *leading, height, width = plane.shape
    if not plane.flags.c_contiguous or height * width % 8:
        return plane
    return plane.reshape(*leading, height * width).view(np.uint64)


def concatenate(pieces: Sequence[Observed]) -> Observed:
    """End to end, along the first axis; images with the planes that they need."""
    like = next((piece for piece in pieces if isinstance(piece, Images)), None)
    if like is None:
        return np.concatenate(pieces)  # type: ignore[arg-type]
    return _joined([p if isinstance(p, Images) else Images.of(p, like.channels) for p in pieces])


def _joined(alike: Sequence[Images]) -> Images:
    sources = {id(piece.plane): piece.plane for piece in alike}
    kept: list[Array] = []
    numbers: dict[int, Array] = {}
    """Of each source, what the number of a plane becomes."""
    total = 0
    for source, plane in sources.items():
        used = np.zeros(len(plane), dtype=bool)
        for piece in alike:
            if piece.plane is plane:
                used[piece.index] = True
        numbers[source] = (np.cumsum(used) + (total - 1)).astype(np.int32)
        kept.append(plane[used])
        total += len(kept[-1])
    index = np.concatenate([numbers[id(piece.plane)][piece.index] for piece in alike])
    return replace(alike[0], plane=np.concatenate(kept), index=index)


def as_arrays(columns: Mapping[str, Observed]) -> dict[str, Array]:
    """By name, as they can be stored."""
    arrays: dict[str, Array] = {}
    for name, column in columns.items():
        if isinstance(column, Images):
            whole = column.copy()
            arrays |= {f"{name}{_PLANE}": whole.plane, f"{name}{_INDEX}": whole.index}
            arrays[f"{name}{_LAST}"] = np.array([whole.channels == "last"])
        else:
            arrays[name] = column
    return arrays


def from_arrays(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """What `as_arrays` was given."""
    kept = [name.removesuffix(_LAST) for name in arrays if name.endswith(_LAST)]
    parts = {f"{name}{part}" for name in kept for part in (_PLANE, _INDEX, _LAST)}
    columns: dict[str, Any] = {name: a for name, a in arrays.items() if name not in parts}
    for name in kept:
        channels: Channels = "last" if arrays[f"{name}{_LAST}"][0] else "first"
        plane, index = arrays[f"{name}{_PLANE}"], arrays[f"{name}{_INDEX}"]
        columns[name] = Images(plane, index, channels)
    return columns
