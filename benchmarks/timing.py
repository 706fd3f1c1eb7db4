"""Timing in the measured process, which prints its sample as one JSON line, its last output."""

from __future__ import annotations

import json
import platform
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("torch", "jax", "gymnasium", "ale-py", "numpy")


@dataclass
class TimeSpent:
    """CPU and wall seconds."""

    cpu: float = 0.0
    wall: float = 0.0


@contextmanager
def measure_time() -> Iterator[TimeSpent]:
    """Measures the block; the times are set when it ends."""
    spent, cpu, wall = TimeSpent(), cpu_seconds(), time.perf_counter()
    yield spent
    spent.cpu, spent.wall = cpu_seconds() - cpu, time.perf_counter() - wall


def cpu_seconds() -> float:
    """Returns the user and system time of this process and of its ended children."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def print_sample(library: str, env_steps: int, spent: TimeSpent, **more: object) -> None:
    """Prints a sample as JSON; `library` is the name of the timed package."""
    versions = {"python": platform.python_version()}
    for name in dict.fromkeys((library, *_PACKAGES)):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    sample = {"env_steps": env_steps, "cpu": spent.cpu, "wall": spent.wall, "versions": versions}
    print(json.dumps(sample | more), flush=True)
