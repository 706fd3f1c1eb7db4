"""The machine and the installed packages, for the manifest of a bundle."""

from __future__ import annotations

import platform
from importlib.metadata import distributions

from gymnast.memory import total_memory
from gymnast.runs.bundle_manifest import BundleMachine
from gymnast.runs.machine import cpu_info


def this_machine() -> BundleMachine:
    """Returns facts about this machine that identify nobody, and the version of every installed package."""
    cpu = cpu_info()
    return BundleMachine(
        system=platform.platform(),
        python=platform.python_version(),
        cpu=cpu["model"],
        cores=cpu["cores"],
        memory=total_memory(),
        packages=dict(sorted(_packages())),
    )


def _packages() -> set[tuple[str, str]]:
    # Broken installations have no name, whatever the types say.
    return {(str(found.name), found.version) for found in distributions() if found.name}
