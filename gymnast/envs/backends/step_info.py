"""Reads numbers from the `info` of every step, by key, for reward terms.

The key `reward/forward` or `reward.forward` means an entry of exactly that name, or the entry `forward`
of a nested dict `reward`. A step whose info lacks the key yields NaN; a value that is not a finite
number is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.errors import EnvError

Array = np.ndarray
_FIX = "name a key of info that holds one finite number per step in shaping.NAME.kwargs.key"


def read_info_values(info: Mapping[str, object], keys: Sequence[str], env: str) -> list[float]:
    """Returns the value of each key in the info of one copy's step; NaN where it is missing. `env`: name of
    the environment for messages. Raises EnvError for a value that is not one finite number."""
    located = ((key, *_holder(info, key)) for key in keys)
    return [
        math.nan if holder is None else _number(holder[name], key, env)
        for key, holder, name in located
    ]


def read_vector_info(info: Mapping[str, object], keys: Sequence[str], n: int, env: str) -> Array:
    """Returns the values for all n copies, [n, keys], from the info of a Gymnasium vector: one array per key,
    with the boolean array `_KEY` marking the copies that have it. NaN for the others. `env`: name of the
    environment for messages."""
    table = np.full((n, len(keys)), np.nan)
    for column, key in enumerate(keys):
        holder, name = _holder(info, key)
        if holder is None:
            continue
        values = np.asarray(holder[name])
        # Gymnasium fills the entries of copies without the key with 0: only the marked ones count.
        has = np.asarray(holder.get(f"_{name}", np.ones(n, dtype=bool)), dtype=bool)
        if values.shape != (n,):
            raise _not_a_number(key, holder[name], env)
        for copy in np.flatnonzero(has).tolist():
            table[copy, column] = _number(values[copy], key, env)
    return table


def _holder(info: Mapping[str, object], key: str) -> tuple[Mapping[str, object] | None, str]:
    """Returns the dict that contains the key (None if there is none), and the key's name in that dict."""
    if key in info:
        return info, key
    *path, name = re.split(r"[./]", key)
    for part in path:
        inner = info.get(part)
        if not isinstance(inner, Mapping):
            return None, name
        info = inner
    return (info if name in info else None), name


def _number(value: object, key: str, env: str) -> float:
    """Returns the value as a float. Raises EnvError if it is not one finite number."""
    scalar = value
    if isinstance(value, np.ndarray | np.generic) and value.size == 1:
        scalar = value.item()
    if not isinstance(scalar, int | float) or not math.isfinite(scalar):
        raise _not_a_number(key, value, env)
    return float(scalar)


def _not_a_number(key: str, value: object, env: str) -> EnvError:
    what = f"info[{key!r}] is {value!r} of type {type(value).__name__}, not one finite number"
    return EnvError(f"{env}: {what}", fix=_FIX)
