"""Imports objects of the user by their import path."""

from __future__ import annotations

import importlib
import os
import sys
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
