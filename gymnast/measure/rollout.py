"""Metrics of a collected rollout, of the clocks and of where the wall time went."""

from __future__ import annotations

import os
import resource
import sys
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from gymnast.clock import Clock, remaining_seconds
from gymnast.collect.collector import ROLE
from gymnast.images import Images, ObsArray
from gymnast.measure.components import (
    action_components,
    action_options,
    has_components,
    obs_components,
)
from gymnast.policy.policy import Policy
from gymnast.rl.diversity import diversity
from gymnast.rl.effect import action_effect, max_vec_steps
from gymnast.rl.rollout_stats import RolloutStats, rollout_stats
from gymnast.rollout import Rollout
from gymnast.spaces.observations import non_image_columns

Array = np.ndarray


def add_role_scope(role: str, row: Mapping[str, float]) -> Mapping[str, float]:
    """Returns a role's metrics named `role:metric`; with a single agent they keep their names."""
    return row if role == ROLE else {f"{role}:{key}": value for key, value in row.items()}


def clock_row(clock: Clock, rates: Mapping[str, float]) -> dict[str, float]:
    """Returns the clocks and the progress. `rates`: clock -> counts per second; without them, the remaining
    time is left out."""
    counters = clock.counters()
    row = {f"clock/{name}": value for name, value in counters.items()}
    if clock.progress is not None:
        row["progress/share"] = clock.progress
        left = remaining_seconds(counters, clock.limits, rates) if rates else None
        if left is not None:
            row["progress/remaining"] = left
    return row


def rollout_row(rollout: Rollout, shaped: Rollout, policy: Policy) -> dict[str, float]:
    """Returns the `rollout/...` metrics of a rollout that `policy` collected. `shaped` is the same rollout
    with shaped and scaled rewards, before they are normalized."""
    keep, space, r = _kept(rollout), policy.action_space, rollout
    # Continuous actions are measured as the environment received them: clipped, and in its units.
    env_action = policy.head.measured(r.action)
    columns = r.reward, env_action, r.logprob, r.terminated, r.done, _numbers(r.obs), keep
    stats = rollout_stats(
        *columns, n_actions=action_options(space), per_component=has_components(policy.obs_space)
    )
    reward, action, obs = stats.reward, stats.action, stats.obs
    steps = r.reward.size if keep is None else r.steps
    row = {
        "rollout/reward_mean": reward.mean,
        "rollout/reward_std": reward.std,
        "rollout/reward_min": reward.minimum,
        "rollout/reward_max": reward.maximum,
        "rollout/reward_interval": steps / max(stats.n_rewarded, 1),
        "rollout/action_mean": action.mean,
        "rollout/action_std": action.std,
        "rollout/episodes": stats.n_done,
        "rollout/truncated_share": stats.n_truncated / max(stats.n_done, 1),
        # In expectation the entropy of the policy, from the actions that were really sampled.
        "rollout/neg_logprob": -stats.logprob.mean,
    }
    if obs is not None:
        row["rollout/obs_mean"], row["rollout/obs_std"] = obs.mean, obs.std
    row |= obs_components(stats.obs_means)
    row |= action_components(space, env_action, keep, stats.action_counts)
    # Diversity compares copies at the same step, so only steps that are valid in all copies count.
    obs_diversity = diversity(r.obs if keep is None else r.obs[keep.all(axis=1)])
    if obs_diversity is not None:
        row["rollout/diversity"] = obs_diversity
    return row | _learned_row(r.reward, shaped.reward, keep, stats)


def _learned_row(
    raw: Array, learned: Array, keep: Array | None, stats: RolloutStats
) -> dict[str, float]:
    """Returns the metrics of the mean learned reward, and of its cosine similarity with the raw reward.

    `raw` and `learned` are rewards [T, N]; `keep` [T, N] marks the valid steps (None: all); `stats` are those
    of the raw rewards. There is no similarity if all raw or all learned rewards are 0.
    """
    if learned is raw:  # no shaping, no scale: nothing to compute
        row = {"rollout/learned_reward": stats.reward.mean}
        return row | {"rollout/reward_agreement": 1.0} if stats.n_rewarded else row
    raw, learned = (x.ravel() if keep is None else x[keep] for x in (raw, learned))
    row = {"rollout/learned_reward": float(np.add.reduce(learned)) / len(learned)}
    norms = float(raw @ raw) * float(learned @ learned)
    if norms:
        row["rollout/reward_agreement"] = float(raw @ learned) / norms**0.5
    return row


def effect_row(rollout: Rollout, policy: Policy) -> dict[str, float]:
    """Returns `rollout/action_effect` for vector observations. Images and composite observations have no such
    metric: it would cost too much for what it shows. It is also missing if it cannot be measured."""
    obs = rollout.obs
    if isinstance(obs, Images) or obs.dtype != np.float32 or obs.ndim != 3:
        return {}
    steps = max_vec_steps(obs.shape[1])
    action, after = rollout.action[-steps:], rollout.newest_next_obs(steps)
    env_action = policy.head.measured(action)
    effect = action_effect(obs[-steps:], after, env_action, rollout.valid[-steps:])
    return {} if effect is None else {"rollout/action_effect": effect}


def _kept(rollout: Rollout) -> Array | None:
    """Returns the mask of valid steps [T, N]; None if all are valid."""
    return None if rollout.all_valid else rollout.valid


def _numbers(obs: ObsArray) -> Array | None:
    """Returns the float components of vector or composite observations [T, N, K]; None for images and
    discrete observations."""
    if not isinstance(obs, Images) and obs.dtype == np.float32:
        return obs
    numbers = [c for c in non_image_columns(obs).values() if c.dtype == np.float32]
    if len(numbers) > 1:
        return np.concatenate([column.reshape(*obs.shape[:2], -1) for column in numbers], -1)
    return numbers[0] if numbers else None


class Stopwatch:
    """Measures how the wall time of an iteration is spent."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._cpu = _used()[0]
        self._spent: dict[str, float] = {}
        self._memory = _Memory()

    def add(self, name: str, seconds: float) -> None:
        """Adds seconds that were spent on a part of the iteration (one of _PARTS) to the present lap."""
        self._spent[name] = self._spent.get(name, 0.0) + seconds

    def skip(self, seconds: float) -> None:
        """Excludes time in which training was paused."""
        self._began += seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the lap started, without pauses."""
        return time.perf_counter() - self._began

    def lap(self, env_steps: int, updates: int) -> tuple[float, dict[str, float]]:
        """Returns the seconds since the last lap and the `time/...`, `speed/...` and `system/...` metrics,
        and starts the next lap. `env_steps` and `updates` (optimizer steps) are the numbers in this lap."""
        now, (cpu, memory) = time.perf_counter(), _used()
        total = max(now - self._began, 1e-9)  # never 0: it is divided by
        spent = dict.fromkeys(_PARTS, 0.0) | self._spent
        spent["rest"] = max(total - sum(spent.values()), 0.0)
        row = {
            **{f"time/{name}": seconds for name, seconds in spent.items()},
            **{f"time/{name}_share": min(spent[name] / total, 1.0) for name in _SHARES},
            "speed/env_steps": env_steps / total,
            "speed/updates": updates / total,
            "system/cpu": (cpu - self._cpu) / total,
            "system/memory": memory,
            **self._memory.now(),
        }
        self._began, self._cpu, self._spent = now, cpu, {}
        return total, row


_PARTS = ("env", "inference", "update", "evaluate_wait", "checkpoint")
_SHARES = ("env", "inference", "update", "rest")


def _used() -> tuple[float, float]:
    """Returns the CPU seconds and the peak memory in megabytes of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)  # 20 times faster than time.process_time()
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes on macOS, else KiB
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit


class _Memory:
    """Reads the resident memory of this process, on Linux. The file stays open, since opening it takes
    several times as long as reading it."""

    def __init__(self) -> None:
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open("/proc/self/statm", os.O_RDONLY)
            weakref.finalize(self, os.close, self._file)

    def now(self) -> dict[str, float]:
        """Returns the resident memory in megabytes as a metric; nothing where it cannot be read."""
        if self._file is None:
            return {}
        resident = int(os.pread(self._file, 100, 0).split()[1])  # the second field, in pages
        return {"system/memory_now": resident * resource.getpagesize() / 2**20}
