"""Traces: episodes as they happened, many in one file.

Arrays of all episodes are joined end to end, with offsets, in one safetensors file. Films, tables
and replays are made from these, never by asking the policy again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.errors import RunError
from gymnast.images import Observed, as_arrays, from_arrays, joined
from gymnast.runs import durable
from gymnast.runs.tensors import header_of, pack, unpack

VERSION = 1
_STEPPED = ("action", "reward", "value", "dist")
"""Arrays with one entry per step."""
_SINGLE = {
    "seed": np.int64,
    "terminated": np.bool_,
    "truncated": np.bool_,
    "raw_return": np.float64,
    "env": np.int64,
    "version": np.int64,
}
"""One number per episode."""
_NUMBER = "number:"
"""What the names of further ones begin with; NaN where an episode has none."""
KEPT_PLACES = "kept"
"""In the meta of an evaluation of which most episodes were removed: the places of those that stay. `episodes`
and `mean` are those of all."""


@dataclass(frozen=True, eq=False)
class Trace:
    """One recorded episode of T steps."""

    seed: int
    """What the environment was reset with."""
    action: np.ndarray
    """[T, ...] as given to the environment."""
    reward: np.ndarray
    """[T] float64, raw."""
    value: np.ndarray
    """[T] float32, the critic's estimate before each step."""
    dist: np.ndarray
    """[T, k] parameters of the action distribution: logits, or means and log deviations."""
    obs: Observed | None
    """[T + 1, ...] with the last one reached; None where seed and actions give it back."""
    terminated: bool
    truncated: bool
    raw_return: float
    env: int
    """Which copy of the environment."""
    version: int
    """Env steps the policy had been trained for when the episode ended."""
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    """What its last info told: the preset's own metrics, and what was drawn for it."""

    def __len__(self) -> int:
        return len(self.reward)


def write_traces(path: Path, episodes: Sequence[Trace], meta: Mapping[str, Any]) -> None:
    """Store episodes of one environment and one policy in a new or replaced file, atomically."""
    arrays = {
        name: np.array([getattr(e, name) for e in episodes], dtype)
        for name, dtype in _SINGLE.items()
    }
    for name in sorted({name for e in episodes for name in e.numbers}):
        told = [e.numbers.get(name, math.nan) for e in episodes]
        arrays[f"{_NUMBER}{name}"] = np.array(told, np.float64)
    arrays["offset"] = _offsets([len(e) for e in episodes])
    arrays["obs_offset"] = _offsets([0 if e.obs is None else len(e.obs) for e in episodes])
    for name in _STEPPED:
        if episodes:
            arrays[name] = np.concatenate([getattr(e, name) for e in episodes])
    seen = [e.obs for e in episodes if e.obs is not None]
    if seen:
        arrays |= as_arrays({"obs": joined(seen)})
    _check(arrays, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(path, pack(arrays, {"version": VERSION, "meta": dict(meta)}))


def read_traces(path: Path) -> list[Trace]:
    """The episodes of a file, in the order they were written."""
    from safetensors import SafetensorError

    content = _content(path)
    _header(path, content)
    try:
        arrays = unpack(content)
    except SafetensorError as error:
        raise RunError(f"traces are damaged: {error}", at=str(path)) from error
    shown = from_arrays(arrays).get("obs")
    offset, obs_offset = arrays["offset"], arrays["obs_offset"]
    told = {name.removeprefix(_NUMBER): a for name, a in arrays.items() if name.startswith(_NUMBER)}
    episodes: list[Trace] = []
    for i in range(len(offset) - 1):
        steps = slice(offset[i], offset[i + 1])
        seen = slice(obs_offset[i], obs_offset[i + 1])
        single: dict[str, Any] = {name: arrays[name][i].item() for name in _SINGLE}
        stepped: dict[str, Any] = {name: arrays[name][steps] for name in _STEPPED}
        obs = shown[seen] if shown is not None and seen.stop > seen.start else None
        numbers = {name: column[i].item() for name, column in told.items()}
        numbers = {name: number for name, number in numbers.items() if not math.isnan(number)}
        episodes.append(Trace(**single, **stepped, obs=obs, numbers=numbers))
    return episodes


def read_meta(path: Path) -> dict[str, Any]:
    """What was said about the episodes of a file when it was written."""
    return _header(path, _content(path))["meta"]


def _offsets(lengths: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _check(arrays: Mapping[str, np.ndarray], path: Path) -> None:
    steps = arrays["offset"][-1]
    for name in _STEPPED:
        if name in arrays and len(arrays[name]) != steps:
            problem = f"{name} has {len(arrays[name])} entries for {steps} steps"
            raise ValueError(f"{path.name}: {problem}")


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RunError(f"traces cannot be read: {error.strerror}", at=str(path)) from error


def _header(path: Path, content: bytes) -> dict[str, Any]:
    try:
        header = header_of(content)
        version = header["version"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError("is not a file of traces, or damaged", at=str(path)) from error
    if version != VERSION:
        problem = f"trace format {version} is not known here (this is {VERSION})"
        raise RunError(problem, at=str(path), fix="update gymnast")
    return header
