"""Measures how fast a backend with a given number of environment copies collects on this machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from statistics import fmean, stdev
from time import perf_counter

import psutil

from gymnast.clock import Clock
from gymnast.collect.collector import ROLE
from gymnast.collect.open_vector import open_vector_collector
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.section import RolloutLength
from gymnast.engine.choice import splits_batch_over_threads
from gymnast.engine.threads import set_num_threads
from gymnast.envs.backends.backend import raise_fault
from gymnast.errors import GymnastError
from gymnast.training.learner import build_policy
from gymnast.tune.record import SpeedSample

SLICE_SECONDS = 0.1
"""Minimum duration of one timed slice."""
MIN_VEC_STEPS = 16
"""Minimum number of vector steps in a slice, which keeps the cost per rollout negligible."""
MIN_SLICES = 4
"""Minimum number of slices in a sample."""
TARGET_ERROR = 0.02
"""Relative standard error of the mean speed at which a measurement ends."""


@dataclass(frozen=True)
class _Slice:
    env_steps: int
    seconds: float
    env_seconds: float


def measure_speed(cfg: Config, backend: str, n_envs: int, seconds: float) -> SpeedSample:
    """Collects as training does, with an untrained policy, for up to `seconds`, or less once the slices
    agree. Startup and warmup are not timed."""
    env = cfg.env.model_copy(update={"backend": backend, "n_envs": n_envs})
    try:
        collector = open_vector_collector(cfg.model_copy(update={"env": env}))
    except GymnastError as problem:
        return SpeedSample(backend, n_envs, refused=problem.message)
    with closing(collector):
        collect = _slice_collector(cfg, collector)
        slices: list[_Slice] = []
        cpu = cpu_seconds()
        # Slices give the spread of the speed, so that a quiet machine needs less time than a busy one.
        while sum(one.seconds for one in slices) < seconds and not _is_precise(slices):
            slices.append(collect())
        cpu = cpu_seconds() - cpu
        # "history" does not count: it restores only for a limited number of steps after seeding.
        restores = collector.envs.restore_mode in ("replay", "together")
    steps, wall = sum(one.env_steps for one in slices), sum(one.seconds for one in slices)
    return SpeedSample(
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
    """Returns the CPU time of this process and of its running descendants."""
    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return float(sum(t.user + t.system for t in times))


def _slice_collector(cfg: Config, collector: VectorCollector) -> Callable[[], _Slice]:
    """Returns a function that collects one slice. The rollout length that takes SLICE_SECONDS is found
    first, which is also the warmup."""
    policy = build_policy(*collector.spaces[ROLE], cfg)
    policy.initialize(cfg.seed, ROLE)
    # Loads the inference engine before anything is timed.
    policy.step(collector.envs.obs, policy.initial_state(collector.envs.n_envs))
    set_num_threads(cfg.threads, split_batch=splits_batch_over_threads(cfg, policy.network))
    clock = Clock()
    collector.start_episodes()

    def collect(vec_steps: int) -> _Slice:
        """Collects one rollout of `vec_steps` and returns its env steps and times; raises EnvError
        if an environment failed for good."""
        started = perf_counter()
        collected = collector.collect({ROLE: policy}, RolloutLength(vec_steps), clock)
        clock.rollouts += 1  # each rollout has its own random stream
        if collected.fatal_fault is not None:
            raise_fault(collector.envs.name, [collected.fatal_fault])
        return _Slice(collected.steps, perf_counter() - started, collected.env_seconds)

    vec_steps = MIN_VEC_STEPS
    while collect(vec_steps).seconds < SLICE_SECONDS:
        vec_steps *= 2
    return lambda: collect(vec_steps)


def _is_precise(slices: list[_Slice]) -> bool:
    return len(slices) >= MIN_SLICES and _error(slices) < TARGET_ERROR


def _error(slices: list[_Slice]) -> float:
    """Returns the relative standard error of the mean speed; infinite for fewer than two slices."""
    rates = [one.env_steps / one.seconds for one in slices]
    if len(rates) < 2:
        return math.inf
    return stdev(rates) / math.sqrt(len(rates)) / fmean(rates)
