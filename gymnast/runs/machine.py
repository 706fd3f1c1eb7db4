"""The machine and software of a run: what must be equal for the same seed to give bit-identical results."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path

from gymnast.runs.info import CpuInfo, MachineInfo
from gymnast.runs.revision import revision

PACKAGES = ("torch", "gymnasium", "numpy")
_INSTRUCTIONS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "neon", "asimd")


def machine_info() -> MachineInfo:
    """Returns the fields of run.json about this process, this machine and this installation."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "revision": revision(),
        "versions": {"python": platform.python_version()}
        | {p: installed_version(p) for p in PACKAGES},
        "cpu": cpu_info(),
    }


def cpu_info() -> CpuInfo:
    """Returns the CPU model, the number of cores and the instruction sets that affect float sums."""
    cpuinfo: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            cpuinfo[key.strip()] = value.strip()
    except OSError:  # not Linux
        pass
    flags = set((cpuinfo.get("flags") or cpuinfo.get("Features") or "").split())
    return {
        "model": cpuinfo.get("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "instructions": [name for name in _INSTRUCTIONS if name in flags],
    }


def usable_cores() -> int:
    """Returns the number of cores this process may run on (its CPU affinity, where the system has one)."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def installed_version(package: str) -> str:
    """Returns the version of an installed package without importing it; empty if it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""
