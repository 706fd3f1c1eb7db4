"""Summary statistics of the steps of a rollout, computed in one pass."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gymnast.compiled import kernels
from gymnast.rl.statistics import SummaryStats, column_means, summary_stats

Array = np.ndarray


class RolloutStats(NamedTuple):
    """Statistics over the valid steps of a rollout."""

    reward: SummaryStats
    action: SummaryStats
    logprob: SummaryStats
    n_done: int
    """Number of steps that ended an episode, by termination or truncation."""
    n_truncated: int
    """Number of steps at which an episode was truncated."""
    n_rewarded: int
    """Number of steps with a nonzero reward."""
    action_counts: list[int]
    """Number of times that each discrete action was chosen."""
    obs: SummaryStats | None
    """Statistics over all components of all observations."""
    obs_means: list[float]
    """Mean of each component of the observation."""


def rollout_stats(
    reward: Array,
    action: Array,
    logprob: Array,
    terminated: Array,
    done: Array,
    obs: Array | None,
    valid: Array | None,
    *,
    n_actions: int = 0,
    per_component: bool = False,
) -> RolloutStats:
    """Returns the statistics of a rollout's arrays [T, N, ...].

    `obs` are float32 vectors; None for other observations. `valid` [T, N] marks the steps that count; None:
    all. `n_actions` is the number of discrete actions to count, 0 for none. With `per_component`, the mean of
    every component of the observation is computed, else `obs_means` is empty.
    """
    native = kernels()
    columns = reward, action, logprob, terminated, done
    contiguous = obs is None or obs.flags.c_contiguous
    if native is None or action.dtype not in _COMPILED or not contiguous:
        return slow_rollout_stats(
            *columns, obs, valid, n_actions=n_actions, per_component=per_component
        )
    # The kernel returns one flat list, in the order of the fields of RolloutStats.
    numbers = native.rollout_stats(*columns, obs, valid, n_actions, per_component)
    # Before those of the observations: three times four statistics, three counts, one count per action.
    obs_start = 15 + n_actions
    return RolloutStats(
        SummaryStats._make(numbers[:4]),
        SummaryStats._make(numbers[4:8]),
        SummaryStats._make(numbers[8:12]),
        int(numbers[12]),
        int(numbers[13]),
        int(numbers[14]),
        [*map(int, numbers[15:obs_start])],
        None if obs is None else SummaryStats._make(numbers[obs_start : obs_start + 4]),
        numbers[obs_start + 4 :],
    )


def slow_rollout_stats(
    reward: Array,
    action: Array,
    logprob: Array,
    terminated: Array,
    done: Array,
    obs: Array | None,
    valid: Array | None,
    *,
    n_actions: int = 0,
    per_component: bool = False,
) -> RolloutStats:
    """Returns the same as `rollout_stats`, without compiled code."""
    n_done, n_truncated, n_rewarded = (
        int(np.count_nonzero(x if valid is None else x[valid]))
        for x in (done, done & ~terminated, reward)
    )
    spreads = (
        summary_stats(reward, valid),
        summary_stats(action, valid),
        summary_stats(logprob, valid),
    )
    counts = n_done, n_truncated, n_rewarded
    action_counts: list[int] = []
    if n_actions:
        valid_actions = action.ravel() if valid is None else action[valid]
        action_counts = np.bincount(valid_actions, minlength=n_actions).tolist()
    if obs is None:
        return RolloutStats(*spreads, *counts, action_counts, None, [])
    rows = obs.reshape(-1, *obs.shape[2:]) if valid is None else obs[valid]
    means = column_means(rows.reshape(len(rows), -1)) if per_component else []
    return RolloutStats(*spreads, *counts, action_counts, summary_stats(obs, valid), means)


_COMPILED = frozenset(map(np.dtype, (np.int64, np.float32)))
"""Dtypes of actions that the kernels support."""
