"""Tuple and Dict actions: several parts, each with an action of its own kind.

A row is the flat form: one float32 per element, which is exact for options, because no network has 2^24
outputs. The numbers of continuous elements are in the units of the environment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gymnast.spaces.action import Action, ActionSpec, Element

Array = np.ndarray


@dataclass(frozen=True)
class CompositeAction(Action):
    """A Tuple or Dict action. The entries of a Tuple are named by their indices."""

    name: str
    """Dict or Tuple."""
    entries: tuple[tuple[str, Action], ...]
    mask_format = "one entry per option, in one array or in one mask per entry (None: all allowed)"

    @property
    def row_spec(self) -> ActionSpec:
        return ActionSpec((len(self.elements),), np.dtype(np.float32))

    def list_elements(self) -> tuple[Element, ...]:
        return tuple(
            replace(element, name=f"{name}.{element.name}" if element.name else name)
            for name, space in self.entries
            for element in space.elements
        )

    @cached_property
    def leaves(self) -> tuple[Action, ...]:
        """The parts that are no Tuple or Dict themselves, in the order of their elements."""
        leaves: list[Action] = []
        for _, space in self.entries:
            leaves += space.leaves if isinstance(space, CompositeAction) else (space,)
        return tuple(leaves)

    @property
    def text(self) -> str:
        return f"({', '.join(f'{name} {space.text}' for name, space in self.entries)})"

    # ---- forms of an action ------------------------------------------------------------------

    def flatten(self, rows: Array) -> Array:
        return rows

    def unflatten(self, flat: Array) -> Array:
        return flat.astype(np.float32)

    def pack(self, action: object) -> Array:
        flat = [
            space.flatten(space.pack(given))
            for (_, space), given in zip(self.entries, self._parts_of(action), strict=True)
        ]
        return np.concatenate(flat, -1).astype(np.float32)

    def unpack(self, row: Array) -> object:
        return self._joined(
            [space.unpack(space.unflatten(row[columns])) for space, columns in self._columns]
        )

    def unpack_each(self, rows: Array) -> Sequence[object]:
        return [self.unpack(row) for row in rows]

    def unpack_batch(self, rows: Array) -> object:
        return self._joined(
            [
                space.unpack_batch(space.unflatten(rows[:, columns]))
                for space, columns in self._columns
            ]
        )

    # ---- sets of actions ---------------------------------------------------------------------

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None) -> Array:
        drawn, at = list[Array](), 0
        for _, space in self.entries:
            own = None if mask is None else mask[..., at : at + space.mask_width]
            drawn.append(space.draw(shape, rng, own).astype(np.float32))
            at += space.mask_width
        return np.concatenate(drawn, -1)

    def extremes(self, limit: int) -> Iterator[Array]:
        """Yields the extremes of each part, the others being idle, with an equal share of `limit`."""
        for space, columns in self._columns:
            for extreme in space.extremes(max(limit // len(self.entries), 1)):
                flat = self.idle.copy()
                flat[columns] = extreme
                yield flat

    # ---- masks -------------------------------------------------------------------------------

    def mask_row(self, given: object) -> Array | None:
        """Returns a mask of all options, or a dict or tuple of the masks of the entries, as one row. An entry
        whose mask is None or left out allows everything."""
        if not isinstance(given, Mapping | tuple):
            return np.asarray(given)
        if isinstance(given, Mapping) and not set(given) <= {name for name, _ in self.entries}:
            return None  # a misspelled name must not allow everything
        rows, at = np.ones(self.mask_width, dtype=bool), 0
        for (_, space), mask in zip(self.entries, self._parts_of(given), strict=True):
            if mask is not None:
                allowed = space.mask_row(mask)  # raises ValueError for a Box
                if allowed is None or allowed.shape != (space.mask_width,):
                    return None
                rows[at : at + space.mask_width] = allowed
            at += space.mask_width
        return rows

    # ---- entries -----------------------------------------------------------------------------

    @cached_property
    def _columns(self) -> list[tuple[Action, slice]]:
        """Each entry, and its columns in the flat form."""
        columns, at = list[tuple[Action, slice]](), 0
        for _, space in self.entries:
            columns.append((space, slice(at, at + len(space.elements))))
            at += len(space.elements)
        return columns

    def _parts_of(self, given: object) -> Sequence[object]:
        """Returns the entries of a dict, in the order of the space, or of a tuple; None for a missing one."""
        if isinstance(given, Mapping):
            return [given.get(name) for name, _ in self.entries]
        assert isinstance(given, Sequence)
        return given

    def _joined(self, parts: list[object]) -> object:
        """Returns these actions of the entries as the environment takes them."""
        if self.name == "Tuple":
            return tuple(parts)
        return {name: part for (name, _), part in zip(self.entries, parts, strict=True)}
