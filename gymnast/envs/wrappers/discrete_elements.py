"""Element-wise access to discrete actions: the alternatives of each element."""

from __future__ import annotations

import numpy as np

from gymnast.spaces.spaces import Action

Array = np.ndarray


class DiscreteElements:
    """Converts a Discrete, MultiDiscrete or MultiBinary action to a row of indices from 0, and back."""

    def __init__(self, kind: Action) -> None:
        self.n, self._kind = kind.options, kind
        # index at which the mask of each element starts in the concatenated mask, [elements]
        self._starts = np.cumsum([0, *self.n[:-1]])

    def to_indices(self, action: object) -> Array:
        """Returns the index of the option chosen for each element, [elements]."""
        return self._kind.flatten(self._kind.pack(action)).astype(np.int64)

    def to_action(self, chosen: Array, like: object) -> object:
        """Returns the environment's action for these indices, with the type of the action `like`."""
        row = self._kind.unflatten(chosen)
        dtype = np.asarray(like).dtype
        if row.shape:
            return row.astype(dtype)
        return int(row) if isinstance(like, int) else dtype.type(row)

    def other_options(self, element: int, chosen: int, mask: Array | None) -> Array:
        """Returns the allowed options of an element other than the chosen one. `mask`: an action mask, or
        None."""
        allowed_options = np.ones(self.n[element], dtype=bool)
        if mask is not None:
            begin = self._starts[element]
            allowed_options = mask[begin : begin + self.n[element]].copy()
        allowed_options[chosen] = False
        return np.flatnonzero(allowed_options)
