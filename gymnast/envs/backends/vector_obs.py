"""The current observations and action masks of a Gymnasium vector, validated copy by copy.

A problem with the output of a copy is returned as text, never raised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from gymnasium.vector.utils import iterate

from gymnast.envs.env_types import Info, VectorEnv
from gymnast.spaces import spaces
from gymnast.spaces.spaces import BoxObs

Array = np.ndarray
Problems = dict[int, str]
"""Index of a copy -> what is wrong with its output."""
VectorInfo = Mapping[str, Array]
"""The `info` of a vector: for each key an array with one row per copy."""


class _PerCopy(Protocol):
    def __getitem__(self, copy: int, /) -> object: ...


class VectorObs:
    """Buffers [N, ...] for the observations and masks of a vector. `masked`: use its action masks."""

    def __init__(self, vector: VectorEnv, *, masked: bool) -> None:
        self.n = vector.num_envs
        self.obs_space = spaces.convert_obs_space(vector.single_observation_space)
        self.action_space = spaces.convert_action_space(vector.single_action_space)
        self.obs = spaces.blank_obs(self.obs_space, self.n)
        self.mask: Array | None = None
        self._batches, self._masked = vector.observation_space, masked

    def write(self, obs: object, copies: Sequence[int] | None = None) -> Problems:
        """Stores a batch of observations, of all copies or only of the given ones, and returns what is wrong
        with them. `obs` always has a row for every copy."""
        # Usual case: one array [N, ...], stored at once.
        if isinstance(self.obs_space, BoxObs) and getattr(obs, "shape", None) == self.obs.shape:
            which = slice(None) if copies is None else list(copies)
            try:
                self.obs[which] = np.asarray(obs)[which]
                return {}
            except (TypeError, ValueError):
                what = f"the observations have the dtype {getattr(obs, 'dtype', None)}"
                return dict.fromkeys(range(self.n), what)
        # Dict, Tuple, Discrete, images: one observation after the other. Whatever `iterate` raises, the
        # batch is not one of this space.
        try:
            each = list(iterate(self._batches, obs))
        except Exception:
            each = []
        if len(each) != self.n:
            what = f"the observations are not a batch of {self.n} elements of the space"
            return dict.fromkeys(range(self.n), what)
        return self.write_each(each, range(self.n) if copies is None else copies)

    def write_each(self, obs: _PerCopy, copies: Sequence[int]) -> Problems:
        """Stores observations one by one and returns what is wrong with them: `obs[i]` is that of copy i."""
        put = self.obs_space.put
        return {i: text for i in copies if (text := put(self.obs, i, obs[i])) is not None}

    def record_masks(self, info: VectorInfo, copies: Array) -> Problems:
        """Stores the action masks of these copies, if info has any, and returns what is wrong with them. A
        copy whose info has no mask allows every action."""
        masks = info.get("action_mask") if self._masked else None
        if masks is not None and self.mask is None:
            self.mask = np.ones((self.n, self.action_space.mask_width), dtype=bool)
        if self.mask is None:
            return {}
        # Gymnasium's `_KEY` marks the copies whose info has the key; the others allow every action.
        has_mask = info.get("_action_mask", np.full(self.n, masks is not None))
        if self._store_batch(masks, has_mask, copies):
            return {}
        problems: Problems = {}
        for i in copies.tolist():
            allowed = _of_copy(masks, i) if masks is not None and has_mask[i] else None
            problem = self.action_space.put_mask(self.mask, i, allowed)
            if problem is not None:
                problems[i] = problem
        return problems

    def _store_batch(self, masks: Array | None, has_mask: Array, copies: Array) -> bool:
        """Stores the masks of these copies at once and returns True, if they are a valid array [N, n] of a
        Discrete space. `has_mask`: copies whose info has a mask, [N]."""
        assert self.mask is not None
        if self.action_space.n_choices is None or not isinstance(masks, np.ndarray):
            return False
        if masks.shape != self.mask.shape or masks.dtype.kind not in "biuf":
            return False
        allowed = masks.astype(bool) | ~np.asarray(has_mask, dtype=bool)[:, None]
        self.mask[copies] = allowed[copies]
        # A row without any allowed action is invalid; the slow path then says which copy it is.
        return bool(self.mask[copies].any(-1).all())

    def not_finite(self, reward: Array | None = None) -> Problems:
        """Returns the copies whose reward (if given, [N]) or stored observation is NaN or infinite, with a
        message for each."""
        problems: Problems = {}
        # A sum is finite only if all rewards are: one test for the usual case.
        if reward is not None and not math.isfinite(reward.sum()):
            for i in np.flatnonzero(~np.isfinite(reward)).tolist():
                problems[i] = f"the reward is {reward[i]}"
        bad = self.obs_space.not_finite(self.obs)
        if bad is not None:
            what = "the observation is not finite"
            problems |= dict.fromkeys(np.flatnonzero(bad).tolist(), what)
        return problems

    def blank(self, copies: Sequence[int]) -> None:
        """Replaces the observations of these copies by a placeholder from the observation space."""
        self.obs[list(copies)] = spaces.blank_obs(self.obs_space, 1)[0]


class LastInfos:
    """The last infos of the copies whose episode ended, limited to some keys and read lazily.

    `[i]` is an empty dict for a copy whose episode continues.
    """

    def __init__(self, info: VectorInfo, keys: Sequence[str], over: Array) -> None:
        self._info, self._over = info, over
        self._keys = [key for key in keys if key in self._info]

    def __len__(self) -> int:
        return len(self._over)

    def __getitem__(self, i: int) -> Info:
        if not self._over[i]:
            return {}
        return {key: self._info[key][i] for key in self._keys if self._has(key, i)}

    def _has(self, key: str, i: int) -> bool:
        has_key = self._info.get(f"_{key}")
        return has_key is None or bool(has_key[i])


def _of_copy(masks: Array | Mapping[str, Array], i: int) -> object:
    """Returns the mask of copy i. Gymnasium batches a dict of masks by key, and marks in `_KEY` which copies
    have it."""
    if not isinstance(masks, Mapping):
        return masks[i]
    keys = [key for key in masks if f"_{key}" in masks and masks[f"_{key}"][i]]
    return {key: _of_copy(masks[key], i) for key in keys}


def check_columns(returned: Sequence[object], n: int) -> Iterator[tuple[Array, str | None]]:
    """Yields reward, terminated and truncated of all n copies as arrays, each with what is wrong with it
    (None if nothing is). `returned`: the three values as the vector returned them."""
    for (name, kinds), values in zip(_COLUMNS.items(), returned, strict=True):
        column = np.asarray(values)
        problem = None
        if column.shape != (n,):
            problem = f"{name} has shape {column.shape}, not ({n},)"
        elif column.dtype.kind not in kinds:
            problem = f"{name} has the dtype {column.dtype}"
        yield column, problem


_COLUMNS = {"reward": "buif", "terminated": "b", "truncated": "b"}
"""Name -> NumPy dtype kinds that it may have."""
