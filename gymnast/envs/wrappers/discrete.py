"""Actions that are choices, element by element: which others there are, and which are allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.spaces.spaces import Action, DiscreteAction, MultiBinaryAction, MultiDiscreteAction

Array = np.ndarray


class Elements:
    """A Discrete, MultiDiscrete or MultiBinary action as a row of choices, each counted from 0."""

    def __init__(self, kind: DiscreteAction | MultiDiscreteAction | MultiBinaryAction) -> None:
        match kind:
            case DiscreteAction():
                shape, n, first = (), (kind.n,), (kind.first,)
            case MultiDiscreteAction():
                shape, n, first = kind.shape, kind.n, kind.first
            case MultiBinaryAction():
                shape, n, first = kind.shape, (2,) * kind.size, (0,) * kind.size
        self.n, self._shape, self._first = n, shape, np.array(first)
        self._starts = np.cumsum([0, *n[:-1]])

    @classmethod
    def of(cls, kind: Action) -> Elements | None:
        return (
            cls(kind)
            if isinstance(kind, DiscreteAction | MultiDiscreteAction | MultiBinaryAction)
            else None
        )

    def chosen(self, action: Any) -> Array:
        return np.asarray(action).reshape(-1).astype(np.int64) - self._first

    def action(self, chosen: Array, like: Any) -> Any:
        """As the environment takes it, of the type of another."""
        counted = chosen + self._first
        if not self._shape:
            return type(like)(counted[0])
        return counted.reshape(self._shape).astype(np.asarray(like).dtype)

    def allowed(self, chosen: Array, options: Array | None) -> bool:
        return options is None or bool(options[self._starts + chosen].all())

    def others(self, element: int, chosen: int, options: Array | None) -> Array:
        """What else may be chosen for an element."""
        may = np.ones(self.n[element], dtype=bool)
        if options is not None:
            begin = self._starts[element]
            may = options[begin : begin + self.n[element]].copy()
        may[chosen] = False
        return np.flatnonzero(may)
