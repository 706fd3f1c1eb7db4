"""Metrics per component: the share of each discrete action, the moments of each component of a Box
action, and the mean of each component of an observation, if there are few of them."""

from __future__ import annotations

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
        return _at_limit(space, actions) | _moments(actions)
    steps = sum(counts)
    return _named("rollout/action_share", [count / steps for count in counts])


def has_components(space: Observation) -> bool:
    """True if each component of an observation has a metric of its own."""
    return isinstance(space, BoxObs) and len(space.low) <= MAX_COMPONENTS


def obs_components(means: list[float]) -> dict[str, float]:
    """Returns `rollout/obs_mean.K` for the means of the observation components."""
    return _named("rollout/obs_mean", means)


def _moments(actions: Array) -> dict[str, float]:
    """Returns the metrics for mean and standard deviation of each component of actions [B, K]; none for more
    than MAX_COMPONENTS components."""
    if actions.shape[1] > MAX_COMPONENTS:
        return {}
    mean = column_means(actions)
    centered = actions - np.array(mean)
    # einsum sums the squares without an array of them
    std = np.sqrt(np.einsum("bk,bk->k", centered, centered) / len(actions))
    return _named("rollout/action_mean", mean) | _named("rollout/action_std", std.tolist())


def _at_limit(space: Action, actions: Array) -> dict[str, float]:
    """Returns the metric for the share of continuous components of actions [B, K] that are at a bound of the
    space; none for an unbounded space."""
    continuous = [e for e in space.elements if not e.n]
    low, high = (
        np.array(x, np.float32) for x in zip(*((e.low, e.high) for e in continuous), strict=True)
    )
    if len(continuous) < len(space.elements):
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
