"""How fast one backend with so many copies collects experience, on this machine, now."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import psutil

from gymnast.clock import Clock
from gymnast.collect.collector import ROLE
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.section import Span
from gymnast.engine.choice import splits_batch_over_threads
from gymnast.engine.threads import fix_threads
from gymnast.envs.backends.backend import raise_fault
from gymnast.errors import GymnastError
from gymnast.training.learner import policy_for
from gymnast.training.session import open_vector

SLICE = 0.1
"""Seconds that are timed at once, at least."""
SHORTEST = 16
"""Vector steps of a slice, at least: what is done once for each must not weigh."""
LEAST = 4
"""Slices of every sample."""
SURE = 0.02
"""Standard error of the mean, as a share of it, at which a sample is long enough."""


@dataclass(frozen=True)
class Sample:
    backend: str
    n_envs: int
    per_second: float = 0.0
    """Env steps, by the clock."""
    per_cpu_second: float = 0.0
    """Env steps per second of CPU, of this process and its workers."""
    env_share: float = 0.0
    """Of the time: how much went to the environments. The rest went to the network."""
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


@dataclass(frozen=True)
class _Slice:
    env_steps: int
    seconds: float
    env_seconds: float


def sample(cfg: Config[Any], backend: str, n_envs: int, seconds: float) -> Sample:
    """Collect for a while as training does, with a policy that has learned nothing: up to `seconds`,
    shorter where slices agree. Starting up and warming up are not timed."""
    env = cfg.env.model_copy(update={"backend": backend, "n_envs": n_envs})
    try:
        collector = open_vector(cfg.model_copy(update={"env": env}))
    except GymnastError as problem:
        return Sample(backend, n_envs, refused=problem.message)
    with closing(collector):
        collect = _collecting(cfg, collector)
        slices: list[_Slice] = []
        cpu = cpu_seconds()
        while sum(one.seconds for one in slices) < seconds and not _sure(slices):
            slices.append(collect())
        cpu = cpu_seconds() - cpu
        restores = collector.envs.restore in ("replay", "together")  # however long it trains
    steps, wall = sum(one.env_steps for one in slices), sum(one.seconds for one in slices)
    return Sample(
        backend,
        n_envs,
        per_second=steps / wall,
        per_cpu_second=steps / max(cpu, 1e-9),
        env_share=sum(one.env_seconds for one in slices) / wall,
        restores=restores,
        seconds=wall,
        error=_error(slices),
    )


def cpu_seconds() -> float:
    """Of this process and of all that it started and that still runs."""
    here = psutil.Process()
    times = [process.cpu_times() for process in (here, *here.children(recursive=True))]
    return float(sum(t.user + t.system for t in times))


def _collecting(cfg: Config[Any], collector: VectorCollector) -> Callable[[], _Slice]:
    """Collects a slice when called: rollouts as long as it takes, which is found out first."""
    policy = policy_for(*collector.spaces[ROLE], cfg)
    policy.initialize(cfg.seed, ROLE)
    policy.act(collector.envs.obs, None)  # which loads what it acts with
    fix_threads(cfg.threads, in_shares=splits_batch_over_threads(cfg, policy.network))
    clock = Clock()
    collector.start_episodes()

    def collect(vec_steps: int) -> _Slice:
        began = perf_counter()
        done = collector.collect({ROLE: policy}, Span(vec_steps), clock)
        clock.rollouts += 1
        if done.failed is not None:
            raise_fault(collector.envs.name, [done.failed])
        return _Slice(done.steps, perf_counter() - began, done.env_seconds)

    vec_steps = SHORTEST
    while collect(vec_steps).seconds < SLICE:
        vec_steps *= 2
    return lambda: collect(vec_steps)


def _sure(slices: list[_Slice]) -> bool:
    return len(slices) >= LEAST and _error(slices) < SURE


def _error(slices: list[_Slice]) -> float:
    rates = [one.env_steps / one.seconds for one in slices]
    if len(rates) < 2:
        return math.inf
    return stdev(rates) / math.sqrt(len(rates)) / fmean(rates)
