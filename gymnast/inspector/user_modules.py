"""Notices that the user has edited Python code that this process has imported."""

from __future__ import annotations

import site
import sys
import sysconfig
from pathlib import Path

import gymnast


class UserModules:
    """The imported modules that are neither gymnast's nor installed, such as those of `py:` environments."""

    def __init__(self) -> None:
        installed = {*sysconfig.get_paths().values(), *site.getsitepackages(), sys.prefix}
        self._not_theirs = (str(Path(gymnast.__file__).parent), *map(str, installed))
        self._seen: set[str] = set()
        self._changed_at: dict[str, int] = {}
        """File of a module -> when it had been changed last when the module was first seen, in ns."""

    def have_changed(self) -> bool:
        """Returns whether the file of a module has changed since an earlier call."""
        for name in [name for name in sys.modules if name not in self._seen]:
            self._seen.add(name)
            file = getattr(sys.modules[name], "__file__", None)
            if isinstance(file, str) and not file.startswith(self._not_theirs):
                self._changed_at[file] = _changed_at(file)
        return any(_changed_at(file) != at for file, at in self._changed_at.items())


def _changed_at(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:  # it was deleted
        return 0
