"""What the steps of a rollout are like, counted and summed in one go."""

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
    """Steps that ended an episode."""
    cut: int
    """Those that cut it short."""
    paid: int
    """Steps with a reward that is not 0."""
    chosen: list[int]
    """How often each option was."""
    obs: Spread | None
    """Of all numbers of all observations."""
    obs_means: list[float]
    """Of each number of an observation."""


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
    """Of arrays [T, N, ...]. `obs`: numbers, in float32; `keep`: the steps that count, [T, N];
    `options`: of how many an action is one, if that is to be counted; `each`: whether the mean of each
    number of an observation is asked for."""
    native: Any = kernels()
    columns = reward, action, logprob, terminated, done
    in_order = obs is None or obs.flags.c_contiguous
    if native is None or action.dtype not in _COMPILED or not in_order:
        return slow_experience(*columns, obs, keep, options=options, each=each)
    found = native.experience(*columns, obs, keep, options, each)
    seen = 15 + options
    return Experience(
        Spread._make(found[:4]),
        Spread._make(found[4:8]),
        Spread._make(found[8:12]),
        int(found[12]),
        int(found[13]),
        int(found[14]),
        [*map(int, found[15:seen])],
        None if obs is None else Spread._make(found[seen : seen + 4]),
        found[seen + 4 :],
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
    """The same one by one."""
    over, cut, paid = (
        int(np.count_nonzero(x if keep is None else x[keep]))
        for x in (done, done & ~terminated, reward)
    )
    three = spread(reward, keep), spread(action, keep), spread(logprob, keep)
    chosen: list[int] = []
    if options:
        taken = action.ravel() if keep is None else action[keep]
        chosen = np.bincount(taken, minlength=options).tolist()
    if obs is None:
        return Experience(*three, over, cut, paid, chosen, None, [])
    rows = obs.reshape(-1, *obs.shape[2:]) if keep is None else obs[keep]
    means = column_means(rows.reshape(len(rows), -1)) if each else []
    return Experience(*three, over, cut, paid, chosen, spread(obs, keep), means)


_COMPILED = frozenset(map(np.dtype, (np.int64, np.float32)))
"""Actions that the kernels know."""
