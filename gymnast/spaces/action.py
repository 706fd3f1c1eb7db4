"""`Action`, the base of every kind of action: its meaning, whatever policy chooses it.

An action has three forms:
- the object that `env.step` takes: `unpack` makes it from a row, and `pack` makes a row from it;
- a row of an array [N, ...], as shared memory, checkpoints and traces store it (`row_spec`);
- flat: one number per element, [E], in which options are counted from 0.

An environment marks the allowed actions in `info["action_mask"]`. Here a mask is a row of booleans: the
options of all discrete elements, concatenated. MultiBinary has off, on, off, on, ...
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

import numpy as np

Array = np.ndarray


class ActionNames(Protocol):
    """Declared names of actions, such as the facts of a preset."""

    @property
    def actions(self) -> Sequence[str]:
        """Names: one per action of a Discrete space, or one per element of any other action."""
        ...

    @property
    def options(self) -> Mapping[str, Sequence[str]]:
        """Name of a discrete element -> names of its options."""
        ...


class _NoNames:
    actions: Sequence[str] = ()
    options: Mapping[str, Sequence[str]] = MappingProxyType({})


NO_NAMES: ActionNames = _NoNames()
"""Nothing is declared: elements are named by their places, and options by their numbers."""


@dataclass(frozen=True)
class ActionSpec:
    """Shape and dtype of one action in an array."""

    shape: tuple[int, ...]
    dtype: np.dtype


@dataclass(frozen=True)
class Element:
    """One number of an action."""

    name: str
    """Its place in the action: the path to its entry and its index; empty if there is only this number."""
    n: int
    """Number of options; 0 if it is continuous."""
    first: int
    """The environment's number of the first option, Gymnasium's `start`; 0 if it is continuous."""
    low: float
    high: float
    """Range in the flat form: 0..n - 1, or the bounds of a Box."""

    @classmethod
    def choice(cls, name: str, n: int, first: int) -> Element:
        """Returns a discrete element with n options."""
        return cls(name, n, first, 0.0, n - 1.0)

    @property
    def is_bounded(self) -> bool:
        """Whether it has a finite lower and upper bound."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def text(self, x: float) -> str:
        """Returns a number of the flat form as text, an option with the environment's number."""
        return str(self.first + int(x)) if self.n else f"{x:+.2f}"


class Action(ABC):
    """A kind of action. It defines its elements, the conversion between its forms, and its random and extreme
    actions; everything else follows from the elements."""

    name: str
    """Gymnasium's name of the space."""
    mask_format: str = ""
    """The form of a valid `info["action_mask"]`, for messages; empty if masks are not supported."""

    @property
    @abstractmethod
    def row_spec(self) -> ActionSpec:
        """Shape and dtype of a row."""

    @abstractmethod
    def list_elements(self) -> tuple[Element, ...]:
        """Returns `elements`, which keeps them."""

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """The numbers of an action, in the order of the flat form."""
        return self.list_elements()

    @property
    @abstractmethod
    def text(self) -> str:
        """A short text for people, such as `(3, 4)` or `1 of 5`."""

    # ---- forms of an action ------------------------------------------------------------------

    @abstractmethod
    def flatten(self, rows: Array) -> Array:
        """Returns rows [..., *shape] in the flat form, [..., E]."""

    @abstractmethod
    def unflatten(self, flat: Array) -> Array:
        """Returns the rows [..., *shape] of actions in the flat form, [..., E]."""

    def pack(self, action: object) -> Array:
        """Returns an action that `env.step` takes as a row."""
        return np.asarray(action)

    def unpack(self, row: Array) -> object:
        """Returns a row as `env.step` takes it."""
        return row

    def unpack_each(self, rows: Array) -> Sequence[object]:
        """Returns rows [N, ...] as N actions, each as `env.step` takes it."""
        return list(rows)

    def unpack_batch(self, rows: Array) -> object:
        """Returns rows [N, ...] as one action of a Gymnasium vector of N copies. The caller may overwrite the
        rows."""
        return rows.copy()

    @property
    def compact_dtype(self) -> np.dtype | None:
        """The smallest dtype in which rows can be stored without loss, if it is smaller than their own."""
        return None

    # ---- sets of actions ---------------------------------------------------------------------

    @abstractmethod
    def draw(self, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None) -> Array:
        """Returns uniformly random actions in the flat form, [*shape, E]. `mask`: allowed options, [*shape,
        options], or None. An unbounded element is drawn from [-1, 1], one with a single bound from the
        interval of width 2 next to it."""

    def random(
        self, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None = None
    ) -> Array:
        """Returns uniformly random rows, [*shape, ...], as `draw`. Masked options are never drawn."""
        return self.unflatten(self.draw(shape, rng, mask))

    @abstractmethod
    def extremes(self, limit: int) -> Iterator[Array]:
        """Yields actions in the flat form that may break an environment, about `limit` of them: every option
        of a Discrete, the first and last options, the bounds of a Box."""

    @cached_property
    def idle(self) -> Array:
        """The action in the flat form that does nothing, as far as the space shows: the first options, and
        the values nearest to 0."""
        return np.array([min(max(0.0, e.low), e.high) for e in self.elements], np.float32)

    # ---- derived from the elements -----------------------------------------------------------

    @cached_property
    def options(self) -> tuple[int, ...]:
        """The number of options of each discrete element; empty if all elements are continuous."""
        return tuple(e.n for e in self.elements if e.n)

    @property
    def n_choices(self) -> int | None:
        """The number of actions of a Discrete space, whose number is only a label; None for every other."""
        return None

    @cached_property
    def is_continuous(self) -> Array:
        """Whether each element is continuous, [E] bool."""
        return np.array([not e.n for e in self.elements], dtype=bool)

    @property
    def has_continuous(self) -> bool:
        """Whether some element is continuous."""
        return len(self.options) < len(self.elements)

    @property
    def is_bounded(self) -> bool:
        """Whether every element has a finite lower and upper bound."""
        return all(e.is_bounded for e in self.elements)

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """The lowest and the highest value of any element in the flat form."""
        return min(e.low for e in self.elements), max(e.high for e in self.elements)

    def names(self, declared: Sequence[str] = ()) -> tuple[str, ...]:
        """Returns a name for each element, or for each action of a Discrete space: the declared ones if their
        number fits, else their places in the action."""
        default = self.default_names
        return tuple(declared) if len(declared) == len(default) else default

    def option_names(self, declared: ActionNames = NO_NAMES) -> tuple[str, ...]:
        """Returns a name for each option, in the order of an action mask: `ELEMENT.OPTION`, with options
        counted from 0 unless their names are declared, or the name of each action of a Discrete space."""
        named = zip(self.names(declared.actions), self.elements, strict=True)
        return tuple(
            f"{name}.{option}"
            for name, element in named
            for option in _declared_options(name, element, declared) or range(element.n)
        )

    @property
    def default_names(self) -> tuple[str, ...]:
        """The names of everything that a preset may name."""
        return tuple(e.name for e in self.elements)

    def action_text(self, action: object, declared: ActionNames = NO_NAMES) -> str:
        """Returns an action that `env.step` takes as text: each element with its name."""
        return ", ".join(self.element_texts(self.flatten(self.pack(action)), declared))

    def element_texts(self, flat: Array, declared: ActionNames = NO_NAMES) -> list[str]:
        """Returns each element of an action in the flat form, [E], as text: its name, and its number or the
        name of its option."""
        texts: list[str] = []
        for name, element, x in zip(
            self.names(declared.actions), self.elements, flat.tolist(), strict=True
        ):
            options = _declared_options(name, element, declared)
            texts.append(f"{name} {options[int(x)] if options else element.text(x)}")
        return texts

    # ---- entropy and masks -------------------------------------------------------------------

    @cached_property
    def max_entropy(self) -> float | None:
        """The entropy of a uniform policy in nats; None with continuous elements, which have no maximum."""
        return None if self.has_continuous else sum(math.log(n) for n in self.options)

    def highest_masked_entropy(self, allowed: Array) -> float:
        """Returns the mean entropy, in nats, of uniform policies over the allowed options of masks [B,
        options]."""
        counts = np.add.reduceat(allowed, self._mask_starts, axis=-1, dtype=np.int64)
        return float(np.log(counts).sum(-1).mean())

    @cached_property
    def mask_width(self) -> int:
        """The width of an action mask: the total number of options."""
        return sum(self.options)

    @cached_property
    def _mask_starts(self) -> Array:
        """The indices at which the options of each discrete element start in a mask."""
        return np.cumsum([0, *self.options[:-1]])

    def mask_row(self, given: object) -> Array | None:
        """Returns an environment's mask as one row of options; None, TypeError or ValueError if it is not
        valid."""
        raise ValueError(f"{self.name} actions take no mask")

    def put_mask(self, rows: Array, i: int, mask: object) -> str | None:
        """Writes an environment's action mask into row i of `rows`, [B, options]; if the mask is None, all
        actions are allowed.

        Returns what is wrong with the mask, or None if it is valid.
        """
        if mask is None:
            rows[i] = True
            return None
        if not self.options:
            return f'info["action_mask"] is not supported for {self.name} actions'
        try:
            # The mask comes from user code, so anything may be wrong with it.
            allowed = self.mask_row(mask)
        except (TypeError, ValueError):  # a ragged array
            allowed = None
        if (
            allowed is None
            or allowed.dtype.kind not in "biuf"
            or allowed.shape != (self.mask_width,)
        ):
            return f'info["action_mask"] is {mask!r}, not {self.mask_format}'
        rows[i] = allowed
        if self.n_choices is not None:  # called in every step, so this case has a fast path
            return None if rows[i].any() else 'info["action_mask"] allows no action'
        # Each element needs at least one allowed option, or its distribution would be undefined.
        empty = np.flatnonzero(~np.logical_or.reduceat(rows[i], self._mask_starts))
        if not len(empty):
            return None
        discrete = [e.name for e in self.elements if e.n]
        return f'info["action_mask"] allows nothing for element {discrete[empty[0]]}'

    def chosen_options(self, flat: Array) -> Array:
        """Returns the indices in a mask of the options that an action in the flat form, [E], has chosen."""
        if not self.options:
            return np.zeros(0, np.int64)
        return self._mask_starts + flat[~self.is_continuous].astype(np.int64)

    def is_allowed(self, flat: Array, mask: Array) -> bool:
        """Returns whether a mask [options] allows an action in the flat form, [E]."""
        return bool(mask[self.chosen_options(flat)].all())


def _declared_options(name: str, element: Element, declared: ActionNames) -> Sequence[str]:
    """Returns the declared names of the options of an element if there is one for each, else none."""
    options = declared.options.get(name, ())
    return options if len(options) == element.n else ()
