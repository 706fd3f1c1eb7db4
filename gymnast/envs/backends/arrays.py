"""The arrays of a vector of copies: [N, ...] each, in one block of memory that processes can share."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gymnast.spaces import spaces
from gymnast.spaces.spaces import Action, Observation

Array = np.ndarray
ALIGNED = 64
NOBODY = -1


@dataclass(frozen=True)
class CopyArrays:
    """What copies show, and what they are asked to do."""

    obs: Array
    reward: Array
    terminated: Array
    truncated: Array
    numbers: Array
    """What was asked for of each step's info, [N, keys]."""
    mask: Array
    """Actions each copy allows, [N, options]; all, where it does not say."""
    masked: Array
    """[1] Whether any copy ever said."""
    now: Array
    """[1] The copy that is at work, for whoever must know where a process died; else NOBODY."""
    chosen: Array
    """Copies that the next call is about."""
    seed: Array
    action: Array
    """Room for them, in bytes; `actions` gives it a type."""

    @classmethod
    def of(
        cls,
        obs_space: Observation,
        action_space: Action,
        n: int,
        *,
        elements: int = 1,
        parts: int = 1,
        keys: int = 0,
        memory: mmap.mmap | None = None,
    ) -> CopyArrays:
        """Fresh rows, or those that lie in `memory`. `elements` of an action; `parts` that work at
        the same time, each with its own `now`; `keys` of each step's info."""
        columns = _columns(obs_space, action_space, n, elements, parts, keys)
        begins, size = _layout(columns)
        block = bytearray(size) if memory is None else memory
        rows = cls(
            **{
                name: np.ndarray(shape, dtype, block, begins[name])
                for name, (dtype, shape) in columns.items()
            }
        )
        if memory is None:
            rows.blank(obs_space)
            rows.now[:] = NOBODY
        return rows

    @staticmethod
    def size(
        obs: Observation, action: Action, n: int, *, elements: int, parts: int, keys: int
    ) -> int:
        """Bytes of memory that these rows take."""
        return _layout(_columns(obs, action, n, elements, parts, keys))[1]

    def part(self, number: int, copies: range) -> CopyArrays:
        """The rows of some copies; writing there writes here."""
        span = slice(copies.start, copies.stop)
        per_copy = {name: a[span] for name, a in vars(self).items() if name not in _SHARED}
        now = self.now[number : number + 1, 0]
        return replace(self, **per_copy, now=now)

    def blank(self, obs_space: Observation, copies: slice = slice(None)) -> None:
        """As if nothing had happened to these copies: what they show is of the space."""
        self.obs[copies] = spaces.blank(obs_space, 1)[0]
        self.reward[copies] = 0.0
        self.terminated[copies] = self.truncated[copies] = False
        self.mask[copies] = True

    def actions(self, dtype: Any, shape: tuple[int, ...]) -> Array:
        """The memory of actions read as [N, *shape] of a type."""
        whole = (len(self.obs), *shape)
        used = int(np.prod(whole, dtype=int)) * np.dtype(dtype).itemsize
        return self.action[:used].view(dtype).reshape(whole)


_SHARED = ("masked", "now", "action")
"""Columns that are not one row per copy."""
_Columns = dict[str, tuple[Any, tuple[int, ...]]]


def _columns(
    obs: Observation, action: Action, n: int, elements: int, parts: int, keys: int
) -> _Columns:
    return {
        "obs": (obs.dtype, (n, *obs.shape)),
        "reward": (np.float64, (n,)),
        "terminated": (np.bool_, (n,)),
        "truncated": (np.bool_, (n,)),
        "numbers": (np.float64, (n, keys)),
        "mask": (np.bool_, (n, spaces.mask_width(action))),
        "masked": (np.bool_, (1,)),
        "now": (np.int64, (parts, ALIGNED // 8)),
        "chosen": (np.bool_, (n,)),
        "seed": (np.uint64, (n,)),
        "action": (np.uint8, (n * 8 * elements,)),
    }


def _layout(columns: _Columns) -> tuple[dict[str, int], int]:
    """Where each column begins, and the size of all."""
    begins: dict[str, int] = {}
    end = 0
    for name, (dtype, shape) in columns.items():
        begins[name] = end
        size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
        end += -(-size // ALIGNED) * ALIGNED
    return begins, end
