"""What a row says of each action, each amount of a Box action and each number of an observation,
where they are few."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from gymnast.metrics.families.components import MOST
from gymnast.rl.statistics import column_means
from gymnast.spaces.observations import BoxObs, Observation
from gymnast.spaces.spaces import Action, BoxAction, DiscreteAction

Array = np.ndarray


def action_options(space: Action) -> int:
    """Of how many an action is one, where each of them is told of; else 0."""
    return space.n if isinstance(space, DiscreteAction) and space.n <= MOST else 0


def action_components(
    space: Action, given: Array, keep: Array | None, chosen: Sequence[int] = ()
) -> dict[str, float]:
    """`given`: as the environment got them, [T, N, ...]; `keep`: the steps that count, [T, N]; None:
    all do; `chosen`: how often each option was, where that is told of."""
    if isinstance(space, BoxAction):
        amounts = _flat(given, keep)
        return _at_limit(space, amounts) | _moments(amounts)
    steps = sum(chosen)
    return _named("rollout/action_share", [count / steps for count in chosen])


def has_components(space: Observation) -> bool:
    """Whether each number of an observation is told of."""
    return isinstance(space, BoxObs) and len(space.low) <= MOST


def obs_components(means: list[float]) -> dict[str, float]:
    """Of the means of each, where they are told."""
    return _named("rollout/obs_mean", means)


def _moments(amounts: Array) -> dict[str, float]:
    if amounts.shape[1] > MOST:
        return {}
    mean = column_means(amounts)
    away = amounts - np.array(mean)
    std = np.sqrt(np.einsum("bk,bk->k", away, away) / len(amounts))
    return _named("rollout/action_mean", mean) | _named("rollout/action_std", std.tolist())


def _at_limit(space: BoxAction, amounts: Array) -> dict[str, float]:
    low, high = (np.array(x, dtype=np.float32) for x in (space.low, space.high))
    limited = int(np.count_nonzero(np.isfinite(low) | np.isfinite(high)))
    if not limited:
        return {}
    at = np.count_nonzero(amounts <= low) + np.count_nonzero(amounts >= high)
    return {"rollout/action_at_limit": float(at) / (len(amounts) * limited)}


def _flat(x: Array, keep: Array | None) -> Array:
    """[steps that count, numbers]"""
    kept = x.reshape(-1, *x.shape[2:]) if keep is None else x[keep]
    return kept.reshape(len(kept), -1)


def _named(name: str, values: list[float]) -> dict[str, float]:
    return dict(zip(_keys(name, len(values)), values, strict=True))


@lru_cache
def _keys(name: str, count: int) -> list[str]:
    return [f"{name}.{k}" for k in range(count)]
