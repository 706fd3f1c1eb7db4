"""Element-wise access to discrete actions: the alternatives of each element, and which are allowed."""

from __future__ import annotations

import numpy as np

from gymnast.spaces.spaces import Action, DiscreteAction, MultiBinaryAction, MultiDiscreteAction

Array = np.ndarray


class DiscreteElements:
    """Converts a Discrete, MultiDiscrete or MultiBinary action to a row of indices from 0, and back.

    `mask` in the methods below is an action mask: the masks of all elements, concatenated.
    """

    def __init__(self, kind: DiscreteAction | MultiDiscreteAction | MultiBinaryAction) -> None:
        match kind:
            case DiscreteAction():
                shape, n, first = (), (kind.n,), (kind.first,)
            case MultiDiscreteAction():
                shape, n, first = kind.shape, kind.n, kind.first
            case MultiBinaryAction():
                shape, n, first = kind.shape, (2,) * kind.size, (0,) * kind.size
        self.n, self._shape, self._first = n, shape, np.array(first)
        # index at which the mask of each element starts in the concatenated mask, [elements]
        self._starts = np.cumsum([0, *n[:-1]])

    @classmethod
    def for_space(cls, kind: Action) -> DiscreteElements | None:
        """Returns the elements of a discrete space, None for a Box."""
        return (
            cls(kind)
            if isinstance(kind, DiscreteAction | MultiDiscreteAction | MultiBinaryAction)
            else None
        )

    def to_indices(self, action: object) -> Array:
        """Returns the index of the option chosen for each element, [elements]."""
        return np.asarray(action).reshape(-1).astype(np.int64) - self._first

    def to_action(self, chosen: Array, like: object) -> object:
        """Returns the environment's action for these indices, with the type of the action `like`."""
        shifted, dtype = chosen + self._first, np.asarray(like).dtype
        if not self._shape:
            return int(shifted[0]) if isinstance(like, int) else dtype.type(shifted[0])
        return shifted.reshape(self._shape).astype(dtype)

    def is_allowed(self, chosen: Array, mask: Array | None) -> bool:
        """True if the mask allows the chosen option of every element."""
        return mask is None or bool(mask[self._starts + chosen].all())

    def other_options(self, element: int, chosen: int, mask: Array | None) -> Array:
        """Returns the allowed options of an element other than the chosen one."""
        allowed_options = np.ones(self.n[element], dtype=bool)
        if mask is not None:
            begin = self._starts[element]
            allowed_options = mask[begin : begin + self.n[element]].copy()
        allowed_options[chosen] = False
        return np.flatnonzero(allowed_options)
