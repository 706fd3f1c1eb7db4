"""Compares results of collecting down to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from gymnast.collect.collector import CollectResult
from gymnast.images import Images

MEASURED = ("env_seconds", "inference_seconds", "host_row", "host_events")
"""Fields of a result that depend on machines."""


def differences(a: Any, b: Any, at: str = "") -> list[str]:
    """Returns the places in which two values differ: arrays in type, shape or a bit."""
    if isinstance(a, np.ndarray | Images):
        x, y = np.asarray(a), np.asarray(b)
        equal = x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
        return [] if equal else [f"{at}: {x.dtype} {x.shape} against {y.dtype} {y.shape}"]
    if is_dataclass(a) and not isinstance(a, type):
        names = [field.name for field in fields(a) if field.name not in MEASURED]
        return [d for n in names for d in differences(getattr(a, n), getattr(b, n), f"{at}.{n}")]
    if isinstance(a, Mapping):
        if list(a) != list(b):
            return [f"{at}: keys {sorted(a)} against {sorted(b)}"]
        return [d for key in a for d in differences(a[key], b[key], f"{at}[{key}]")]
    if isinstance(a, list | tuple):
        if len(a) != len(b):
            return [f"{at}: {len(a)} items against {len(b)}"]
        return [
            d
            for k, pair in enumerate(zip(a, b, strict=True))
            for d in differences(*pair, f"{at}[{k}]")
        ]
    return [] if a == b else [f"{at}: {a!r} against {b!r}"]


def assert_same(a: CollectResult | Mapping[str, Any], b: CollectResult | Mapping[str, Any]) -> None:
    found = differences(a, b)
    assert not found, "; ".join(found)
