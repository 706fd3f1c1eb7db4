"""Where a run happens: what must be equal for the same seed to give the same bits."""

from __future__ import annotations

import os
import platform
import socket
from pathlib import Path
from typing import Any

from gymnast.runs.revision import revision

PACKAGES = ("torch", "gymnasium", "numpy")
_INSTRUCTIONS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "neon", "asimd")


def here() -> dict[str, Any]:
    """Fields of run.json about this process, this machine and this installation."""
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "revision": revision(),
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in PACKAGES},
        "cpu": cpu(),
    }


def cpu() -> dict[str, Any]:
    """Model, number of cores, and the instruction sets that change how floats are summed."""
    listed: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
            key, _, value = line.partition(":")
            listed[key.strip()] = value.strip()
    except OSError:  # not Linux
        pass
    flags = set((listed.get("flags") or listed.get("Features") or "").split())
    return {
        "model": listed.get("model name") or platform.processor() or platform.machine(),
        "cores": os.cpu_count() or 1,
        "instructions": [name for name in _INSTRUCTIONS if name in flags],
    }


def usable_cores() -> int:
    """Those this process may run on, where the system says."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""
