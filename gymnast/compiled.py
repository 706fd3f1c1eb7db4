"""The compiled kernels, where they were built: installing without a C++ compiler leaves them out."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

HIDDEN = "GYMNAST_NATIVE"
"""Environment variable: `off` pretends that they were not built. A process looks once."""


@cache
def kernels() -> ModuleType | None:
    if os.environ.get(HIDDEN) == "off":
        return None
    try:
        from gymnast import _native
    except ImportError:
        return None
    return _native


def why_absent() -> str:
    """Of kernels that are not there."""
    if os.environ.get(HIDDEN) == "off":
        return f"{HIDDEN}=off"
    if find_spec("gymnast._native") is None:
        return "the native engine was not built (install with a C++ compiler to have it)"
    try:
        import_module("gymnast._native")
    except ImportError as problem:
        return f"the native engine cannot be loaded: {problem}"
    return ""
