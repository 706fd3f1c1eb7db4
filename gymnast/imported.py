"""Things of the user's own, by their import path."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any


def imported(path: str) -> Any:
    """`package.module:Name`, found from the working directory too."""
    module, _, name = path.partition(":")
    if not module or not name:
        raise ValueError(f"{path} is not of the form package.module:Name")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return getattr(importlib.import_module(module), name)
