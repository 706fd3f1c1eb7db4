"""Metrics per component: the share of each discrete action, the moments of each component of a Box
action, and the mean of each component of an observation, if there are few of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from gymnast.metrics.families.components import MAX_COMPONENTS
from gymnast.rl.statistics import column_means
from gymnast.spaces.observations import BoxObs, Observation
from gymnast.spaces.spaces import Action

Array = np.ndarray


def action_options(space: Action) -> int:
    """Returns the number of discrete actions if each has a metric of its own, else 0."""
    n = space.n_choices or 0
    return n if n <= MAX_COMPONENTS else 0


def action_components(
    space: Action, env_action: Array, keep: Array | None, counts: Sequence[int] = ()
) -> dict[str, float]:
    """Returns the metrics of each action component. `env_action` [T, N, ...] are the actions in the units of
    metrics (`Head.measured`), `keep` [T, N] marks the valid steps (None: all), `counts` are the numbers of
    times that each discrete action was chosen (empty if they have no metrics of their own)."""
    if space.has_continuous:
        actions = _flat(env_action, keep)
        mean, std = _moments(actions)
        row = _at_limit(space, actions) | _relative_to_range(space, mean, std)
        if len(mean) <= MAX_COMPONENTS:
            row |= _named("rollout/action_mean", mean.tolist())
            row |= _named("rollout/action_std", std.tolist())
        return row
    steps = sum(counts)
    return _named("rollout/action_share", [count / steps for count in counts])


def has_components(space: Observation) -> bool:
    """True if each component of an observation has a metric of its own."""
    return isinstance(space, BoxObs) and len(space.low) <= MAX_COMPONENTS


def obs_components(means: list[float]) -> dict[str, float]:
    """Returns `rollout/obs_mean.K` for the means of the observation components."""
    return _named("rollout/obs_mean", means)


def _moments(actions: Array) -> tuple[Array, Array]:
    """Returns the mean and the standard deviation [K] of each component of actions [B, K]."""
    mean = np.array(column_means(actions))
    centered = actions - mean
    # einsum sums the squares without an array of them
    return mean, np.sqrt(np.einsum("bk,bk->k", centered, centered) / len(actions))


def _relative_to_range(space: Action, mean: Array, std: Array) -> dict[str, float]:
    """Returns the metrics that compare the mean and the standard deviation [K] of continuous components with
    uniform actions; none if no component is bounded."""
    low, high = _continuous_bounds(space)
    if len(low) < len(space.elements):
        mean, std = mean[space.is_continuous], std[space.is_continuous]
    with np.errstate(invalid="ignore"):  # inf - inf
        width = high - low
    bounded = np.isfinite(width) & (width > 0)
    if not bounded.any():
        return {}
    mean, std, low, width = mean[bounded], std[bounded], low[bounded], width[bounded]
    return {
        "rollout/action_offset": float(np.abs((mean - low) / width - 0.5).max()),
        "rollout/action_spread": float((std / width).mean()) * math.sqrt(12),
    }


def _continuous_bounds(space: Action) -> tuple[Array, Array]:
    """Returns the lowest and the highest value of each continuous component."""
    bounds = [(e.low, e.high) for e in space.elements if not e.n]
    low, high = np.array(bounds, np.float32).T
    return low, high


def _at_limit(space: Action, actions: Array) -> dict[str, float]:
    """Returns the metric for the share of continuous components of actions [B, K] that are at a bound of the
    space; none for an unbounded space."""
    low, high = _continuous_bounds(space)
    if len(low) < len(space.elements):
        actions = actions[:, space.is_continuous]
    # A component without bounds can never be at one, so it does not count in the share.
    limited = int(np.count_nonzero(np.isfinite(low) | np.isfinite(high)))
    if not limited:
        return {}
    at = np.count_nonzero(actions <= low) + np.count_nonzero(actions >= high)
    return {"rollout/action_at_limit": float(at) / (len(actions) * limited)}


def _flat(x: Array, keep: Array | None) -> Array:
    """Returns the valid steps of x [T, N, ...] as [B, K]. `keep` [T, N] marks them; None: all."""
    kept = x.reshape(-1, *x.shape[2:]) if keep is None else x[keep]
    return kept.reshape(len(kept), -1)


def _named(name: str, values: list[float]) -> dict[str, float]:
    """Returns the values as metrics `name.0`, `name.1`, ..."""
    return dict(zip(_keys(name, len(values)), values, strict=True))


@lru_cache  # asked for the same names at every rollout
def _keys(name: str, count: int) -> list[str]:
    return [f"{name}.{k}" for k in range(count)]
