"""What a row says of the steps just collected, of recent episodes and of where time went."""

from __future__ import annotations

import os
import resource
import sys
import time
import weakref
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress

import numpy as np

from gymnast.clock import Clock
from gymnast.collect.collector import ROLE
from gymnast.images import Images, Observed
from gymnast.metrics.families.experience import WINDOW
from gymnast.policy.observations import numbers_in
from gymnast.policy.policy import Policy
from gymnast.policy.spaces import Amounts
from gymnast.rl.diversity import diversity
from gymnast.rl.effect import action_effect, steps_sampled
from gymnast.rl.experience import experience
from gymnast.rl.statistics import spread
from gymnast.rollout import Episode, Rollout
from gymnast.seeds import task_of
from gymnast.training.component_rows import (
    action_components,
    action_options,
    has_components,
    obs_components,
)


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


def rollout_row(rollout: Rollout, policy: Policy) -> dict[str, float]:
    keep, space, r = _kept(rollout), policy.action, rollout
    amounts = isinstance(space, Amounts)
    given = policy.head.for_env(r.action) if amounts else r.action
    columns = r.reward, given, r.logprob, r.terminated, r.done, _numbers(r.obs), keep
    found = experience(*columns, options=action_options(space), each=has_components(policy.obs))
    reward, action, obs = found.reward, found.action, found.obs
    steps = r.reward.size if keep is None else r.steps
    return {
        "rollout/reward_mean": reward.mean,
        "rollout/reward_std": reward.std,
        "rollout/reward_min": reward.least,
        "rollout/reward_max": reward.most,
        "rollout/reward_interval": steps / max(found.paid, 1),
        **({} if obs is None else {"rollout/obs_mean": obs.mean, "rollout/obs_std": obs.std}),
        **obs_components(found.obs_means),
        "rollout/action_mean": action.mean,
        "rollout/action_std": action.std,
        **action_components(space, given, keep, found.chosen),
        "rollout/episodes": found.over,
        "rollout/truncated_share": found.cut / max(found.over, 1),
        "rollout/surprise": -found.logprob.mean,
        **_diversity_row(r.obs, keep),
    }


def reward_row(raw: Rollout, learned: Rollout) -> dict[str, float]:
    """What shaping and scale made of the rewards, before they are normalised."""
    given, due = (r.reward.ravel() if raw.whole else r.reward[raw.valid] for r in (raw, learned))
    size = float(given @ given)
    agreed = size if learned.reward is raw.reward else float(given @ due)
    sizes = size * (size if learned.reward is raw.reward else float(due @ due))
    row = {"rollout/learned_reward": float(np.add.reduce(due)) / len(due)}
    if sizes:
        row["rollout/reward_agreement"] = agreed / sizes**0.5
    return row


def effect_row(rollout: Rollout, policy: Policy) -> dict[str, float]:
    """Of vectors; images and records would cost more than they tell."""
    obs = rollout.obs
    if isinstance(obs, Images) or obs.dtype != np.float32 or obs.ndim != 3:
        return {}
    steps = steps_sampled(obs.shape[1])
    action, after = rollout.action[-steps:], rollout.newest_next_obs(steps)
    given = policy.head.for_env(action) if isinstance(policy.action, Amounts) else action
    told = action_effect(obs[-steps:], after, given, rollout.valid[-steps:])
    return {} if told is None else {"rollout/action_effect": told}


def _kept(rollout: Rollout) -> np.ndarray | None:
    """Which steps count, [T, N]; None: all do."""
    return None if rollout.whole else rollout.valid


def _diversity_row(obs: Observed, keep: np.ndarray | None) -> dict[str, float]:
    told = diversity(obs if keep is None else obs[keep.all(axis=1)])
    return {} if told is None else {"rollout/diversity": told}


def _numbers(obs: Observed) -> np.ndarray | None:
    """Those of vectors, also in a record; of images and of what is counted, none."""
    numbers = [c for c in numbers_in(obs).values() if c.dtype == np.float32]
    if len(numbers) > 1:
        return np.concatenate([column.reshape(*obs.shape[:2], -1) for column in numbers], -1)
    return numbers[0] if numbers else None


def episode_row(recent: Collection[Episode]) -> dict[str, float]:
    if not recent:
        return {"episode/count": 0}
    raw_return, length, *_, numbers = zip(*recent, strict=True)
    returns = spread(np.array(raw_return, dtype=np.float64))
    return {
        "episode/count": len(recent),
        "episode/return": returns.mean,
        "episode/return_std": returns.std,
        "episode/return_min": returns.least,
        "episode/return_max": returns.most,
        "episode/length": sum(length) / len(recent),
        **means_of([*filter(None, numbers)]),
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
        self._memory = _Memory()

    def add(self, name: str, seconds: float) -> None:
        self._spent[name] = self._spent.get(name, 0.0) + seconds

    def skip(self, seconds: float) -> None:
        """Leave out time in which nothing was to be done."""
        self._began += seconds

    @property
    def elapsed(self) -> float:
        """Seconds of this lap so far."""
        return time.perf_counter() - self._began

    def lap(self, env_steps: int, updates: int) -> tuple[float, dict[str, float]]:
        """Seconds since the last lap, and the row that divides them; starts the next lap. `updates`:
        steps of the optimiser."""
        now, (cpu, memory) = time.perf_counter(), _used()
        total = max(now - self._began, 1e-9)
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
    """CPU seconds and peak megabytes of this process. time.process_time() takes 20 times as long."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / unit


class _Memory:
    """How much this process holds, where Linux tells; the file stays open, since opening it takes
    several times as long as reading it."""

    def __init__(self) -> None:
        self._file: int | None = None
        with suppress(OSError):
            self._file = os.open("/proc/self/statm", os.O_RDONLY)
            weakref.finalize(self, os.close, self._file)

    def now(self) -> dict[str, float]:
        if self._file is None:
            return {}
        resident = int(os.pread(self._file, 100, 0).split()[1])
        return {"system/memory_now": resident * resource.getpagesize() / 2**20}
