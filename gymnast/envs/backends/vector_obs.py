"""What the copies of an environment's own vector show and allow now, taken from what it returned.

Whatever is wrong with a copy is put into words, never raised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import iterate

from gymnast.spaces import spaces
from gymnast.spaces.spaces import BoxObs, DiscreteAction

Array = np.ndarray
Problems = dict[int, str]
"""Copy -> what is wrong with it."""


class VectorObs:
    def __init__(self, vector: VectorEnv[Any, Any, Any], *, masked: bool) -> None:
        self.n = vector.num_envs
        self.obs_space = spaces.observation(vector.single_observation_space)
        self.action_space = spaces.action(vector.single_action_space)
        self.obs = spaces.blank(self.obs_space, self.n)
        self.mask: Array | None = None
        self._batches, self._masked = vector.observation_space, masked

    def write(self, obs: Any, copies: Sequence[int] | None = None) -> Problems:
        if isinstance(self.obs_space, BoxObs) and getattr(obs, "shape", None) == self.obs.shape:
            which = slice(None) if copies is None else list(copies)
            try:
                self.obs[which] = obs[which]
                return {}
            except (TypeError, ValueError):
                return dict.fromkeys(range(self.n), f"the observations are of {obs.dtype}")
        try:
            each = list(iterate(self._batches, obs))
        except Exception:
            each = []
        if len(each) != self.n:
            what = f"the observations are not {self.n} of the space, one per copy"
            return dict.fromkeys(range(self.n), what)
        return self.write_each(each, range(self.n) if copies is None else copies)

    def write_each(self, obs: Any, copies: Sequence[int]) -> Problems:
        """One by one: `obs[i]` is what copy i shows."""
        put = self.obs_space.put
        return {i: said for i in copies if (said := put(self.obs, i, obs[i])) is not None}

    def record_masks(self, info: Mapping[str, Any], copies: Array) -> Problems:
        """Note which actions are allowed now, where the environment says."""
        given = info.get("action_mask") if self._masked else None
        if given is not None and self.mask is None:
            self.mask = np.ones((self.n, spaces.mask_width(self.action_space)), dtype=bool)
        if self.mask is None:
            return {}
        told = info.get("_action_mask", np.full(self.n, given is not None))
        if self._allow_together(given, told, copies):
            return {}
        problems: Problems = {}
        for i in copies.tolist():
            allowed = given[i] if given is not None and told[i] else None
            said = spaces.put_mask(self.action_space, self.mask, i, allowed)
            if said is not None:
                problems[i] = said
        return problems

    def _allow_together(self, given: Any, told: Array, copies: Array) -> bool:
        """In one go, where that is plain and nothing is wrong."""
        assert self.mask is not None
        plain = isinstance(self.action_space, DiscreteAction) and isinstance(given, np.ndarray)
        if not plain or given.shape != self.mask.shape or given.dtype.kind not in "biuf":
            return False
        allowed = given.astype(bool) | ~np.asarray(told, dtype=bool)[:, None]
        self.mask[copies] = allowed[copies]
        return bool(self.mask[copies].any(-1).all())

    def not_finite(self, reward: Array | None = None) -> Problems:
        problems: Problems = {}
        if reward is not None and not math.isfinite(reward.sum()):
            for i in np.flatnonzero(~np.isfinite(reward)).tolist():
                problems[i] = f"the reward is {reward[i]}"
        bad = self.obs_space.not_finite(self.obs)
        if bad is not None:
            what = "the observation is not finite"
            problems |= dict.fromkeys(np.flatnonzero(bad).tolist(), what)
        return problems

    def blank(self, copies: Sequence[int]) -> None:
        self.obs[list(copies)] = spaces.blank(self.obs_space, 1)[0]


class LastInfos(Sequence[dict[str, Any]]):
    """What was asked for of the infos of copies whose episode ended, looked up when it is read."""

    def __init__(self, info: Mapping[str, Any], keys: Sequence[str], over: Array) -> None:
        self._found, self._over = info.get("final_info", info), over
        self._keys = [key for key in keys if key in self._found]

    def __len__(self) -> int:
        return len(self._over)

    def __getitem__(self, i: Any) -> Any:
        if not self._over[i]:
            return {}
        return {key: self._found[key][i] for key in self._keys if self._has(key, i)}

    def _has(self, key: str, i: int) -> bool:
        told = self._found.get(f"_{key}")
        return told is None or bool(told[i])


def columns_of(returned: Sequence[Any], n: int) -> Iterator[tuple[Array, str | None]]:
    """Reward, terminated and truncated of all copies, each with what is wrong with it."""
    for (name, kinds), given in zip(_COLUMNS.items(), returned, strict=True):
        column = np.asarray(given)
        problem = None
        if column.shape != (n,):
            problem = f"{name} has shape {column.shape}, not ({n},)"
        elif column.dtype.kind not in kinds:
            problem = f"{name} is of {column.dtype}"
        yield column, problem


_COLUMNS = {"reward": "buif", "terminated": "b", "truncated": "b"}
"""Name -> kinds of numbers it may hold."""
