"""Access to the compiled kernels, which are missing if gymnast was installed without a C++ compiler."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

NATIVE_VAR = "GYMNAST_NATIVE"
"""Environment variable that hides the kernels if it is `off`. Each process reads it only once."""


@cache
def kernels() -> ModuleType | None:
    """Returns the compiled module; None if it is missing or hidden."""
    if os.environ.get(NATIVE_VAR) == "off":
        return None
    try:
        from gymnast import _native
    except ImportError:
        return None
    return _native


def missing_reason() -> str:
    """Returns why `kernels` is None; "" if nothing is wrong."""
    if os.environ.get(NATIVE_VAR) == "off":
        return f"{NATIVE_VAR}=off"
    if find_spec("gymnast._native") is None:
        return "the native engine was not built (reinstall gymnast with a C++ compiler available)"
    try:
        import_module("gymnast._native")
    except ImportError as problem:
        return f"the native engine cannot be loaded: {problem}"
    return ""


def instruction_sets() -> tuple[str, ...]:
    """Returns the instruction sets of the kernels that this processor supports, the best one last; none
    without kernels."""
    native = kernels()
    return () if native is None else tuple(native.instruction_sets())


def use_instruction_set(name: str) -> None:
    """Selects the instruction set of the kernels; an empty name changes nothing."""
    native = kernels()
    if native is not None and name and native.instruction_set() != name:
        native.use_instruction_set(name)
