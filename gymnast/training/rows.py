"""What a row says of the steps just collected, of recent episodes and of where time went."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.vector import ROLE
from gymnast.images import Observed
from gymnast.policy.actions import AnyHead
from gymnast.policy.observations import numbers_in
from gymnast.policy.spaces import Amounts
from gymnast.rl.diversity import diversity
from gymnast.rl.statistics import spread
from gymnast.rollout import Episode, Rollout
from gymnast.seeds import task_of

WINDOW = 100
"""Episodes that the `episode/*` means are over, at most."""


def scoped(role: str, row: dict[str, float]) -> dict[str, float]:
    """Name a role's metrics `role:metric`; the only role of a solo environment needs no name."""
    return row if role == ROLE else {f"{role}:{key}": value for key, value in row.items()}


def clock_row(clock: Clock, speed: float) -> dict[str, float]:
    """`speed`: how fast the budget is being used, in counts of its own clock per second."""
    row = {f"clock/{name}": value for name, value in clock.counters().items()}
    total = clock.total(clock.main)
    if clock.progress is not None and total is not None:
        row["progress/share"] = clock.progress
        if speed > 0:
            row["progress/remaining"] = max(total - clock.read(clock.main), 0.0) / speed
    return row


def rollout_row(rollout: Rollout, head: AnyHead) -> dict[str, float]:
    keep = rollout.valid
    amounts = isinstance(head.space, Amounts)
    reward = spread(rollout.reward, keep)
    action = spread(head.for_env(rollout.action) if amounts else rollout.action, keep)
    over = rollout.done & keep
    ended = int(np.count_nonzero(over))
    return {
        "rollout/reward_mean": reward.mean,
        "rollout/reward_std": reward.std,
        "rollout/reward_min": reward.least,
        "rollout/reward_max": reward.most,
        **_obs_row(rollout.obs, keep),
        "rollout/action_mean": action.mean,
        "rollout/action_std": action.std,
        "rollout/episodes": ended,
        "rollout/truncated_share": int(np.count_nonzero(over & ~rollout.terminated))
        / max(ended, 1),
        **_diversity_row(rollout.obs, keep),
    }


def _diversity_row(obs: Observed, keep: np.ndarray) -> dict[str, float]:
    whole = keep.all(axis=1)
    told = diversity(obs if whole.all() else obs[whole])
    return {} if told is None else {"rollout/diversity": told}


def _obs_row(obs: Observed, keep: np.ndarray) -> dict[str, float]:
    """Of a record, its vectors; of images, nothing."""
    numbers = [c for name, c in numbers_in(obs).items() if not name or c.dtype == np.float32]
    if not numbers:
        return {}
    every = numbers[0]
    if len(numbers) > 1:
        every = np.concatenate([column.reshape(*keep.shape, -1) for column in numbers], -1)
    seen = spread(every, keep)
    return {"rollout/obs_mean": seen.mean, "rollout/obs_std": seen.std}


def episode_row(recent: Collection[Episode]) -> dict[str, float]:
    if not recent:
        return {"episode/count": 0}
    returns = np.array([e.raw_return for e in recent])
    return {
        "episode/count": len(recent),
        "episode/return": float(returns.mean()),
        "episode/return_std": float(returns.std()),
        "episode/return_min": float(returns.min()),
        "episode/return_max": float(returns.max()),
        "episode/length": float(np.mean([e.length for e in recent])),
        **means_of([e.numbers for e in recent]),
    }


def means_of(numbers: Collection[Mapping[str, float]]) -> dict[str, float]:
    """Of each number, over the episodes that told it."""
    names = dict.fromkeys(name for told in numbers for name in told)
    return {n: float(np.mean([told[n] for told in numbers if n in told])) for n in names}


def task_rows(recent: Collection[Episode], tasks: Sequence[str]) -> dict[str, float]:
    """What `episode_row` says, of the episodes of each task."""
    row: dict[str, float] = {}
    for task, name in enumerate(tasks):
        its = [e for e in recent if task_of(e.seed, len(tasks)) == task]
        row |= {f"{name}:{key}": value for key, value in episode_row(its[-WINDOW:]).items()}
    return row


class Stopwatch:
    """Splits the wall time of one iteration by what it was spent on."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._cpu = _used()[0]
        self._spent: dict[str, float] = {}

    def add(self, name: str, seconds: float) -> None:
        self._spent[name] = self._spent.get(name, 0.0) + seconds

    def skip(self, seconds: float) -> None:
        """Leave out time in which nothing was to be done."""
        self._began += seconds

    @property
    def elapsed(self) -> float:
        """Seconds of this lap so far."""
        return time.perf_counter() - self._began

    def lap(self, env_steps: int) -> tuple[float, dict[str, float]]:
        """Seconds since the last lap, and the row that divides them; starts the next lap."""
        now, (cpu, memory) = time.perf_counter(), _used()
        total = max(now - self._began, 1e-9)
        parts = {f"time/{name}": seconds for name, seconds in self._spent.items()}
        row = {
            **dict.fromkeys(_PARTS, 0.0),
            **parts,
            "time/rest": max(total - sum(parts.values()), 0.0),
            "speed/env_steps": env_steps / total,
            "system/cpu": (cpu - self._cpu) / total,
            "system/memory": memory,
        }
        self._began, self._cpu, self._spent = now, cpu, {}
        return total, row


_PARTS = ("time/env", "time/inference", "time/update", "time/evaluate_wait", "time/checkpoint")


def _used() -> tuple[float, float]:
    """CPU seconds and peak megabytes of this process. time.process_time() takes 20 times as long."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit
