"""The buffers of a vector of copies: arrays [N, ...] in one block of memory that processes can share."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike

from gymnast.spaces import spaces
from gymnast.spaces.spaces import Action, Observation

Array = np.ndarray
CACHE_LINE = 64
"""Bytes of a cache line: every array starts on one, so that processes do not share lines."""
NO_COPY = -1
"""Value of `now` while no copy is being called."""


@dataclass(frozen=True)
class CopyArrays:
    """Outputs of the copies (obs to masked) and inputs of the next call (chosen, seed, action)."""

    obs: Array
    reward: Array
    terminated: Array
    truncated: Array
    numbers: Array
    """Values of `step_info_keys` in each step's info, [N, keys]."""
    mask: Array
    """Actions that each copy allows, [N, options]; all True where it provides no mask."""
    masked: Array
    """True once any copy has provided a mask, [1]."""
    now: Array
    """Copy that is being called right now, else NO_COPY, [1]. Shows where a process died or hangs."""
    chosen: Array
    """Copies that the next call concerns, [N]."""
    seed: Array
    """Seeds of the next reset, [N]."""
    action: Array
    """Memory for the actions, in bytes; `actions()` returns it as a typed array."""

    @classmethod
    def create(
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
        """Returns new buffers for n copies, or the ones stored in `memory`.

        `elements`: numbers per action; `parts`: number of workers that run at the same time, each with
        its own `now`; `keys`: number of info values per step.
        """
        columns = _columns(obs_space, action_space, n, elements, parts, keys)
        offsets, size = _layout(columns)
        block = bytearray(size) if memory is None else memory
        rows = cls(
            **{
                name: np.ndarray(shape, dtype, block, offsets[name])
                for name, (dtype, shape) in columns.items()
            }
        )
        # Memory that is shared already is left alone: other workers may have results in it.
        if memory is None:
            rows.clear_outputs(obs_space)
            rows.now[:] = NO_COPY
        return rows

    @staticmethod
    def size(
        obs: Observation, action: Action, n: int, *, elements: int, parts: int, keys: int
    ) -> int:
        """Returns the size of the buffers in bytes."""
        return _layout(_columns(obs, action, n, elements, parts, keys))[1]

    def worker_view(self, number: int, copies: range) -> CopyArrays:
        """Returns views of the rows of some copies, for worker `number`. `action` stays that of all
        copies."""
        span = slice(copies.start, copies.stop)
        per_copy = {name: a[span] for name, a in vars(self).items() if name not in _SHARED}
        now = self.now[number : number + 1, 0]  # [1]; the rest of its cache line is padding
        return replace(self, **per_copy, now=now)

    def clear_outputs(self, obs_space: Observation, copies: slice = slice(None)) -> None:
        """Clears the outputs of these copies. The blank observation is inside the observation space."""
        self.obs[copies] = spaces.blank_obs(obs_space, 1)[0]
        self.reward[copies] = 0.0
        self.terminated[copies] = self.truncated[copies] = False
        self.mask[copies] = True

    def actions(self, dtype: DTypeLike, shape: tuple[int, ...]) -> Array:
        """Returns the memory for actions as an array [N, *shape] of the given dtype."""
        batch_shape = (len(self.obs), *shape)
        n_bytes = int(np.prod(batch_shape, dtype=int)) * np.dtype(dtype).itemsize
        return self.action[:n_bytes].view(dtype).reshape(batch_shape)


_SHARED = ("masked", "now", "action")
"""Arrays that do not have one row per copy."""
_Columns = dict[str, tuple[DTypeLike, tuple[int, ...]]]


def _columns(
    obs: Observation, action: Action, n: int, elements: int, parts: int, keys: int
) -> _Columns:
    """Returns dtype and shape of every array, in the order in which they lie in memory."""
    return {
        "obs": (obs.dtype, (n, *obs.shape)),
        "reward": (np.float64, (n,)),
        "terminated": (np.bool_, (n,)),
        "truncated": (np.bool_, (n,)),
        "numbers": (np.float64, (n, keys)),
        "mask": (np.bool_, (n, action.mask_width)),
        "masked": (np.bool_, (1,)),
        # One cache line per worker: they all write here on every call, and writing to a shared line
        # would move it from core to core (false sharing).
        "now": (np.int64, (parts, CACHE_LINE // 8)),
        "chosen": (np.bool_, (n,)),
        "seed": (np.uint64, (n,)),
        # 8 bytes per number: enough for any dtype, which is known only from the first action
        "action": (np.uint8, (n * 8 * elements,)),
    }


def _layout(columns: _Columns) -> tuple[dict[str, int], int]:
    """Returns the offset of each array in bytes, and the total size."""
    offsets: dict[str, int] = {}
    end = 0
    for name, (dtype, shape) in columns.items():
        offsets[name] = end
        size = int(np.prod(shape, dtype=int)) * np.dtype(dtype).itemsize
        end += -(-size // CACHE_LINE) * CACHE_LINE  # rounded up to whole cache lines
    return offsets, end
