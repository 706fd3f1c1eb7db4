"""What every timed process tells the one that started it: one JSON line, its last."""

from __future__ import annotations

import json
import platform
import resource
from importlib.metadata import version


def cpu_seconds() -> float:
    """User and system time of this process and of its ended children."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def tell(library: str, env_steps: int, learning: float, **more: object) -> None:
    versions = {"python": platform.python_version()}
    versions |= {name: version(name) for name in (library, "torch", "gymnasium", "numpy")}
    told = {"env_steps": env_steps, "learning": learning, "versions": versions, **more}
    print(json.dumps(told), flush=True)
