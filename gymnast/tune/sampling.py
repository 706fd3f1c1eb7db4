"""How fast one backend steps so many copies, on this machine, now."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import count
from statistics import fmean, stdev
from typing import Any

import numpy as np
import psutil

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.backend import Backend, random_actions, refuse
from gymnast.envs.open import open_envs
from gymnast.errors import GymnastError
from gymnast.seeds import episode_seed, stream

SLICE = 0.1
"""Seconds between two looks at the clock."""
LEAST = 4
"""Slices of every sample."""
SURE = 0.02
"""Standard error of the mean, as a share of it, at which a sample is long enough."""
_DRAWN = 256
"""Vector steps whose actions are drawn beforehand and used in turn."""
_WARM_UP = 0.1


@dataclass(frozen=True)
class Sample:
    backend: str
    n_envs: int
    per_second: float = 0.0
    """Env steps, by the clock."""
    per_cpu_second: float = 0.0
    """Env steps per second of CPU, of this process and its workers."""
    restores: bool = False
    """Whether a resumed run goes on with its running episodes."""
    seconds: float = 0.0
    """How long it was measured."""
    error: float = 0.0
    """Standard error of the speed, as a share of it."""
    refused: str = ""
    """Why it cannot be had, where it cannot."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def sample(cfg: EnvConfig, backend: str, n_envs: int, seconds: float) -> Sample:
    """Random actions for a while, up to `seconds`; shorter where slices agree. Starting up and a
    moment to warm up are not timed."""
    wanted = cfg.model_copy(update={"backend": backend, "n_envs": n_envs})
    try:
        envs = _opened(wanted)
    except GymnastError as problem:
        return Sample(backend, n_envs, refused=problem.message)
    with closing(envs):
        step = stepping(envs)
        _run(step, _WARM_UP)
        rates: list[float] = []
        steps, wall, cpu = 0, 0.0, cpu_seconds()
        while wall < seconds and not _sure(rates):
            taken, took = _run(step, SLICE)
            steps, wall = steps + taken, wall + took
            rates.append(taken / took)
        cpu = cpu_seconds() - cpu
        restores = envs.restore != "none"
    return Sample(
        backend, n_envs, steps / wall, steps / max(cpu, 1e-9), restores, wall, _error(rates)
    )


def stepping(envs: Backend, see: Callable[[Any], None] | None = None) -> Callable[[], int]:
    """A function that takes one vector step with random actions, begins what ended, and gives how
    many copies took a step of an episode. `see` gets each step."""
    every = list(range(envs.n_envs))
    seeds = (episode_seed(0, "tune", number) for number in count())
    refuse(envs.name, envs.reset(every, [next(seeds) for _ in every]))
    rng = stream(0, "tune")
    drawn = random_actions(envs.action_space, (_DRAWN, envs.n_envs), rng)
    turn = 0

    def step() -> int:
        nonlocal turn
        turn = (turn + 1) % _DRAWN
        mask = envs.mask
        action = drawn[turn]
        if mask is not None:
            action = random_actions(envs.action_space, (envs.n_envs,), rng, mask)
        done = envs.step(action)
        refuse(envs.name, done.faults)
        if see is not None:
            see(done)
        over = done.terminated | done.truncated
        if over.any():
            ended = np.flatnonzero(over).tolist()
            refuse(envs.name, envs.reset(ended, [next(seeds) for _ in ended]))
        return envs.n_envs if done.stepped is None else int(done.stepped.sum())

    return step


def cpu_seconds() -> float:
    """Of this process and of all that it started and that still runs."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(t.user + t.system for t in times))


def _opened(cfg: EnvConfig) -> Backend:
    tell = logging.getLogger("gymnast.envs").info
    return open_envs(cfg, limit=cfg.max_episode_steps, tell=tell)


def _run(step: Callable[[], int], seconds: float) -> tuple[int, float]:
    """Steps of copies taken within about this time, and the time."""
    taken, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        taken += step()
    return taken, passed


def _sure(rates: list[float]) -> bool:
    return len(rates) >= LEAST and _error(rates) < SURE


def _error(rates: list[float]) -> float:
    if len(rates) < 2 or not fmean(rates):
        return math.inf
    return stdev(rates) / math.sqrt(len(rates)) / fmean(rates)
