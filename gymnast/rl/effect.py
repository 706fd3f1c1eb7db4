"""Measures whether actions have an effect on the next observation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gymnast.compiled import kernels

Array = np.ndarray
MAX_STEPS = 256
"""Largest number of env steps that are used: the newest ones."""
MIN_STEPS = 16
"""Smallest number of valid steps for a result."""
MAX_COMPONENTS = 32
"""Largest number of observation components that are used, evenly spaced."""
ROUNDING = 1e-9
"""Residual variance below this share of the original one is rounding error."""


def max_vec_steps(n_envs: int) -> int:
    """Returns the largest number of vector steps that are used for `n_envs` copies: MAX_STEPS env steps, at
    least one vector step. The newest steps are used."""
    return max(1, MAX_STEPS // n_envs)


def action_effect(obs: Array, next_obs: Array, action: Array, valid: Array) -> float | None:
    """Returns how much of the change of the observation in a step is explained by the action.

    Observations before and after the step are [T, N, k]; actions are [T, N] (discrete) or [T, N, m]; `valid`
    [T, N] marks the steps that count. For each component of the observation this is the share of the variance
    of its change that a linear fit to the actions explains (adjusted R^2: less the share that random actions
    would explain). The largest share is returned; it is at most 1, and may be slightly negative.

    Actions and changes are both taken as residuals of a linear fit to the observation, because a policy
    chooses actions by observations. None if there are too few steps, if nothing changes, or if the
    observations determine the actions.
    """
    # 1. Select the valid ones of the newest steps and flatten them to rows [n, ...].
    steps = max_vec_steps(obs.shape[1])
    keep = valid[-steps:]
    n_valid = np.count_nonzero(keep)
    if n_valid < MIN_STEPS:
        return None
    newest = (x[-steps:] for x in (obs, next_obs, action))
    all_valid = n_valid == keep.size
    obs_rows, next_rows, action_rows = (
        x.reshape(-1, *x.shape[2:]) if all_valid else x[keep] for x in newest
    )
    before, change = obs_changes(obs_rows, next_rows, -(-obs.shape[2] // MAX_COMPONENTS))
    actions = _as_numbers(action_rows)
    n, k = before.shape
    m = actions.shape[1]
    degrees_of_freedom = n - 1 - k - m  # of the residuals: n rows, a constant, k + m coefficients
    if degrees_of_freedom < 8 or not m:
        return None
    # 2. Remove from changes and actions what the observation explains. All fits work on one scatter
    #    matrix instead of the rows. Columns: k of the observation, k of its change, m of the action.
    products = _products(np.concatenate([before, change, actions], axis=1))
    squares = products.diagonal()
    given_obs = _residual(products, range(k))
    unexplained = given_obs.diagonal()
    # An action that the observation explains to 99 % has too little variation left to measure its effect.
    free_actions = np.flatnonzero(unexplained[2 * k :] > 0.01 * squares[2 * k :]) + 2 * k
    moving = np.flatnonzero(unexplained[k : 2 * k] > ROUNDING * squares[k : 2 * k]) + k
    if not len(moving) or not len(free_actions):
        return None
    # 3. R^2 of each change given the actions, adjusted for the m columns that were fitted.
    share = 1.0 - _residual(given_obs, free_actions).diagonal()[moving] / unexplained[moving]
    return float(np.max(share - (1.0 - share) * m / degrees_of_freedom))


def obs_changes(obs: Array, next_obs: Array, stride: int) -> tuple[Array, Array]:
    """Returns every `stride`-th component of observations [n, k], and its change in the step (median
    subtracted), both in float64.

    Large jumps of the change are clipped (see `_without_jumps`).
    """
    native = kernels()
    if native is None or not all(
        x.dtype == np.float32 and x.flags.c_contiguous for x in (obs, next_obs)
    ):
        return slow_obs_changes(obs, next_obs, stride)
    before, change = np.empty((2, len(obs), -(-obs.shape[1] // stride)))
    native.obs_changes(obs, next_obs, stride, before, change)
    return before, change


def slow_obs_changes(obs: Array, next_obs: Array, stride: int) -> tuple[Array, Array]:
    """Returns the same as `obs_changes`, without compiled code."""
    before = obs[:, ::stride].astype(np.float64)
    return before, _without_jumps(next_obs[:, ::stride] - before)


def _without_jumps(change: Array) -> Array:
    """Returns changes [n, k] minus the median of each column, clipped to three times their median absolute
    deviation.

    A rare large jump, such as a crash, would otherwise dominate the variance.
    """
    centered = change - _median(change)
    # A limit of 0 means that most changes are equal: then the few others are kept as they are.
    limit = 3.0 * _median(np.abs(centered))
    return np.clip(centered, -limit, limit, out=centered, where=limit > 0)


def _median(x: Array) -> Array:
    """Returns the median of each column, equal to np.median; NaN if the column has a NaN."""
    in_order = np.sort(x, axis=0)  # NaN is sorted to the end
    middle = in_order[(len(x) - 1) // 2 : len(x) // 2 + 1]
    return np.where(np.isnan(in_order[-1]), np.nan, np.add.reduce(middle) / len(middle))


def _as_numbers(action: Array) -> Array:
    """Returns actions [n] (discrete) or [n, m] as columns of floats: one-hot for discrete actions, without
    columns that are constant.

    The first option has no one-hot column: it follows from the others, and the fit would be singular.
    """
    if action.ndim == 1 and action.dtype.kind in "iu":
        return (action[:, None] == np.flatnonzero(np.bincount(action))[1:]).astype(np.float64)
    numbers = action.reshape(len(action), -1).astype(np.float64)
    return numbers[:, numbers.var(axis=0) > 1e-6]


def _products(x: Array) -> Array:
    """Returns the scatter matrix of x [n, k]: sums of products of the centered columns, [k, k]."""
    centered = x - np.add.reduce(x) / len(x)
    return centered.T @ centered


def _residual(products: Array, known: Iterable[int]) -> Array:
    """Returns the scatter matrix of the residuals of all columns after a linear fit to the columns in
    `known`.

    `products` [k, k] is the scatter matrix of all columns. The result is the Schur complement of the known
    columns, in which these are about 0.
    """
    residual = products.copy()
    for k in known:  # one step of Gaussian elimination per column
        row = residual[k]
        if row[k] > ROUNDING * products[k, k]:  # otherwise it depends linearly on earlier columns
            residual -= row[:, None] * (row / row[k])
    return residual
