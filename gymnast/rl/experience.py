"""Summary statistics of the steps of a rollout, computed in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gymnast.compiled import kernels
from gymnast.rl.statistics import Spread, column_means, spread

Array = np.ndarray


class Experience(NamedTuple):
    reward: Spread
    action: Spread
    logprob: Spread
    over: int
    """Number of steps that ended an episode, by termination or truncation."""
    cut: int
    """Number of steps at which an episode was truncated."""
    paid: int
    """Number of steps with a nonzero reward."""
    chosen: list[int]
    """Number of times that each option was chosen."""
    obs: Spread | None
    """Spread over all components of all observations."""
    obs_means: list[float]
    """Mean of each component of the observation."""


def experience(
    reward: Array,
    action: Array,
    logprob: Array,
    terminated: Array,
    done: Array,
    obs: Array | None,
    keep: Array | None,
    *,
    options: int = 0,
    each: bool = False,
) -> Experience:
    """Returns the statistics of a rollout's arrays [T, N, ...].

    `obs` are float32 vectors. `keep` [T, N] marks the steps that count, None all. `options` is the
    number of discrete actions to count, 0 for none. With `each`, the mean of every component of the
    observation is returned.
    """
    native: Any = kernels()
    columns = reward, action, logprob, terminated, done
    contiguous = obs is None or obs.flags.c_contiguous
    if native is None or action.dtype not in _COMPILED or not contiguous:
        return slow_experience(*columns, obs, keep, options=options, each=each)
    # The kernel returns one flat list, in the order of the fields of Experience.
    numbers = native.experience(*columns, obs, keep, options, each)
    obs_start = 15 + options
    return Experience(
        Spread._make(numbers[:4]),
        Spread._make(numbers[4:8]),
        Spread._make(numbers[8:12]),
        int(numbers[12]),
        int(numbers[13]),
        int(numbers[14]),
        [*map(int, numbers[15:obs_start])],
        None if obs is None else Spread._make(numbers[obs_start : obs_start + 4]),
        numbers[obs_start + 4 :],
    )


def slow_experience(
    reward: Array,
    action: Array,
    logprob: Array,
    terminated: Array,
    done: Array,
    obs: Array | None,
    keep: Array | None,
    *,
    options: int = 0,
    each: bool = False,
) -> Experience:
    """Returns the same as `experience`, without compiled code."""
    over, cut, paid = (
        int(np.count_nonzero(x if keep is None else x[keep]))
        for x in (done, done & ~terminated, reward)
    )
    spreads = spread(reward, keep), spread(action, keep), spread(logprob, keep)
    chosen: list[int] = []
    if options:
        kept_actions = action.ravel() if keep is None else action[keep]
        chosen = np.bincount(kept_actions, minlength=options).tolist()
    if obs is None:
        return Experience(*spreads, over, cut, paid, chosen, None, [])
    rows = obs.reshape(-1, *obs.shape[2:]) if keep is None else obs[keep]
    means = column_means(rows.reshape(len(rows), -1)) if each else []
    return Experience(*spreads, over, cut, paid, chosen, spread(obs, keep), means)


_COMPILED = frozenset(map(np.dtype, (np.int64, np.float32)))
"""Dtypes of actions that the kernels support."""
