"""The actions that each copy of a vectorized environment has taken since it was last seeded.

The random generators inside the copies cannot be saved. Replaying the same actions from the same seed
restores a copy, even across several episodes of which only the first was seeded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.spaces.spaces import Action

Array = np.ndarray
MAX_BYTES = 2**23
"""Maximum size of the stored actions in bytes. Every checkpoint contains them, so beyond this size they
are discarded and the episodes cannot be restored."""
_UNKNOWN = -1
"""Start of a copy that cannot be replayed."""


class History:
    """The actions of all copies, from the step at which the first of them was seeded."""

    def __init__(self, space: Action, n_envs: int) -> None:
        # Discrete actions arrive as int64; one byte makes the history, and each checkpoint, 8 x smaller.
        self._storage_dtype = space.compact_dtype
        self._actions = np.zeros((0, n_envs), np.uint8)
        """Stored actions, [capacity, N, ...], of which the first `_length` are in use."""
        self._action_dtype = np.dtype(np.int64)
        """Dtype in which the actions were given, and in which they have to be replayed."""
        self._length = 0
        """Number of vector steps that are stored."""
        self._start = np.full(n_envs, _UNKNOWN)
        """Index of the first stored step after each copy was seeded, [N]."""
        self._seed = np.zeros(n_envs, dtype=np.int64)

    def record_reset(self, copies: Sequence[int], seeds: Sequence[int]) -> None:
        """Records that these copies have been reset, each with its seed."""
        self._start[copies], self._seed[copies] = self._length, seeds

    def forget(self, copies: Sequence[int]) -> None:
        """Marks these copies as impossible to replay: their state does not follow from a known seed."""
        self._start[copies] = _UNKNOWN

    def steps_since_seed(self, copy: int) -> float:
        """Returns the number of vector steps since a copy was seeded; infinity if it cannot be replayed."""
        start = self._start[copy]
        return float("inf") if start == _UNKNOWN else self._length - start

    def record_actions(self, action: Array) -> None:
        """Records the actions of one step of all copies, [N, ...]."""
        if self._length == len(self._actions):
            self._grow(action)
        self._actions[self._length] = action
        self._length += 1

    def arrays(self) -> dict[str, Array] | None:
        """Returns the arrays to store in a checkpoint; None if some copy cannot be replayed."""
        if (self._start == _UNKNOWN).any():
            return None
        self._drop_unneeded_steps()
        action = self._actions[: self._length].copy()
        # They do not matter, and a host has those of its own copies only (`join_histories`).
        action[np.arange(self._length)[:, None] < self._start] = 0
        return {
            "seed": self._seed.copy(),
            "start": self._start.copy(),
            "action": action,
            "given_as": np.zeros(0, self._action_dtype),  # empty: only its dtype matters
        }

    def _grow(self, action: Array) -> None:
        """Makes room for more steps, up to MAX_BYTES, by dropping old steps and doubling the array."""
        storage_dtype = self._storage_dtype or action.dtype
        self._drop_unneeded_steps()
        limit = max(MAX_BYTES // (action.size * storage_dtype.itemsize), 1)
        if self._length >= limit:  # full: discard everything, no copy can be replayed any more
            self._start[:], self._length = _UNKNOWN, 0
        steps = min(max(256, 2 * self._length), limit)
        grown = np.empty((steps, *action.shape), storage_dtype)
        if self._length:
            grown[: self._length] = self._actions[: self._length]
        self._actions, self._action_dtype = grown, action.dtype

    def _drop_unneeded_steps(self) -> None:
        """Drops the stored steps that lie before the earliest seeding."""
        known = self._start[self._start != _UNKNOWN]
        first = int(known.min()) if len(known) else self._length
        # .copy() because source and destination overlap
        self._actions[: self._length - first] = self._actions[first : self._length].copy()
        self._length -= first
        self._start[self._start != _UNKNOWN] -= first


Arrays = Mapping[str, Array]
"""The result of `History.arrays`."""


def join_histories(parts: Sequence[Arrays]) -> dict[str, Array]:
    """Returns the histories of several groups of copies as that of all copies, in this order. All end with
    the same vector step."""
    steps = max(len(part["action"]) for part in parts)
    missing = [steps - len(part["action"]) for part in parts]
    actions = [
        np.concatenate(
            [np.zeros((n, *part["action"].shape[1:]), part["action"].dtype), part["action"]]
        )
        for n, part in zip(missing, parts, strict=True)
    ]
    starts = [part["start"] + n for n, part in zip(missing, parts, strict=True)]
    return {
        "seed": np.concatenate([part["seed"] for part in parts]),
        "start": np.concatenate(starts),
        "action": np.concatenate(actions, axis=1),
        "given_as": parts[0]["given_as"],
    }


def part_of_history(arrays: Arrays, copies: slice) -> dict[str, Array]:
    """Returns the history of some of the copies, from the step at which the first of them was seeded."""
    start = arrays["start"][copies]
    first = int(start.min())
    return {
        "seed": arrays["seed"][copies],
        "start": start - first,
        "action": arrays["action"][first:, copies],
        "given_as": arrays["given_as"],
    }
