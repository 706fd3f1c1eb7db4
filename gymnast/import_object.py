"""Imports objects by name: those of the user, and our own that take long to import."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from types import ModuleType
from typing import Any


def import_object(path: str) -> Any:
    """Returns the object at `package.module:Name`. The working directory is searched too. Raises
    ValueError for a path of another form, ImportError or AttributeError if there is no such object,
    and whatever the module raises while it is imported."""
    module, _, name = path.partition(":")
    if not module or not name:
        raise ValueError(f"{path} is not of the form package.module:Name")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return getattr(importlib.import_module(module), name)


def import_frozen(module: str) -> ModuleType:
    """Returns a module, imported with garbage collection off; afterwards all objects are frozen.

    Collections during the import find no garbage but take time, and frozen objects (torch alone has
    many) are skipped by every later collection.
    """
    gc.disable()
    try:
        imported = importlib.import_module(module)
    finally:
        gc.enable()
    gc.freeze()
    return imported
