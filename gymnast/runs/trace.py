"""Traces: recorded episodes, many per file.

The arrays of all episodes are concatenated, with offsets, in one safetensors file. Films, tables and
replays are made from traces; the policy is never run again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

import numpy as np

from gymnast.errors import RunError
from gymnast.images import ObsArray, as_arrays, concatenate, from_arrays
from gymnast.runs import durable, files, layout
from gymnast.runs.tensors import pack, read_header, unpack

VERSION = layout.TRACES.version
_PER_STEP = ("action", "reward", "value", "dist")
"""Arrays with one entry per step."""
_PER_EPISODE = {
    "seed": np.int64,
    "terminated": np.bool_,
    "truncated": np.bool_,
    "raw_return": np.float64,
    "env": np.int64,
    "version": np.int64,
}
"""Arrays with one number per episode, and their dtypes."""
_NUMBER = "number:"
"""Prefix of further arrays with one number per episode (`Trace.numbers`); NaN where an episode has none."""
KEPT_INDICES = "kept"
"""Key in the meta of a thinned evaluation: the indices of the episodes that were kept. The keys `episodes`
(count) and `mean` (return) then describe all episodes before thinning."""


class TraceMeta(TypedDict, total=False):
    """The fields that are stored about all episodes of a file."""

    kind: str
    """How they were played, one of `episode_kinds.KINDS`."""
    version: int
    """Env steps of the policy or, for training episodes, of the checkpoint."""
    kept: list[int]
    """KEPT_INDICES, of a thinned evaluation."""
    episodes: int
    mean: float
    settings: dict[str, object]
    """An EpisodeSettings as JSON, of episodes outside of training."""


class _Header(TypedDict):
    version: int
    meta: TraceMeta


@dataclass(frozen=True, eq=False)
class Trace:
    """One recorded episode of T steps."""

    seed: int
    """Seed passed to `env.reset`."""
    action: np.ndarray
    """Actions as passed to the environment, [T, ...]."""
    reward: np.ndarray
    """Raw rewards, [T] float64."""
    value: np.ndarray
    """The critic's estimate before each step, [T] float32."""
    dist: np.ndarray
    """Parameters of the action distribution, [T, k]: logits, or means and log standard deviations."""
    obs: ObsArray | None
    """Observations including the final one, [T + 1, ...]; None if seed and actions reproduce them."""
    terminated: bool
    truncated: bool
    """Both are False if the recording stops before the end of the episode."""
    raw_return: float
    env: int
    """Index of the environment copy."""
    version: int
    """Env steps that the policy had been trained for when the episode ended."""
    numbers: dict[str, float] = field(default_factory=dict[str, float])
    """Numbers from the last `info`: the preset's own metrics, and the episode's randomized parameters."""

    def __len__(self) -> int:
        return len(self.reward)


def write_traces(path: Path, episodes: Sequence[Trace], meta: Mapping[str, object]) -> None:
    """Writes or replaces a file with episodes of one environment and one policy, atomically. `meta`: JSON
    values about all of them, such as the kind of evaluation. Raises ValueError if the arrays of an episode
    differ in length."""
    arrays = {
        name: np.array([getattr(e, name) for e in episodes], dtype)
        for name, dtype in _PER_EPISODE.items()
    }
    for name in sorted({name for e in episodes for name in e.numbers}):
        column = [e.numbers.get(name, math.nan) for e in episodes]
        arrays[f"{_NUMBER}{name}"] = np.array(column, np.float64)
    arrays["offset"] = _offsets([len(e) for e in episodes])
    arrays["obs_offset"] = _offsets([0 if e.obs is None else len(e.obs) for e in episodes])
    for name in _PER_STEP:
        if episodes:
            arrays[name] = np.concatenate([getattr(e, name) for e in episodes])
    recorded_obs = [e.obs for e in episodes if e.obs is not None]
    if recorded_obs:
        arrays |= as_arrays({"obs": concatenate(recorded_obs)})
    _check(arrays, path)
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(path, pack(arrays, {"version": VERSION, "meta": dict(meta)}))


def read_traces(path: Path) -> list[Trace]:
    """Returns the episodes of a file, in the order in which they were written. Raises RunError if it cannot
    be read, is damaged or has another format version."""
    from safetensors import SafetensorError

    content = _content(path)
    _header(path, content)
    try:
        arrays = unpack(content)
    except SafetensorError as error:
        raise RunError(f"traces are damaged: {error}", at=str(path)) from error
    all_obs = from_arrays(arrays).get("obs")
    offset, obs_offset = arrays["offset"], arrays["obs_offset"]
    number_columns = {
        name.removeprefix(_NUMBER): a for name, a in arrays.items() if name.startswith(_NUMBER)
    }
    episodes: list[Trace] = []
    for i in range(len(offset) - 1):
        steps = slice(offset[i], offset[i + 1])
        obs_range = slice(obs_offset[i], obs_offset[i + 1])
        obs = (
            all_obs[obs_range] if all_obs is not None and obs_range.stop > obs_range.start else None
        )
        numbers = {name: column[i].item() for name, column in number_columns.items()}
        numbers = {name: number for name, number in numbers.items() if not math.isnan(number)}
        episodes.append(
            Trace(
                seed=arrays["seed"][i].item(),
                action=arrays["action"][steps],
                reward=arrays["reward"][steps],
                value=arrays["value"][steps],
                dist=arrays["dist"][steps],
                obs=obs,
                terminated=arrays["terminated"][i].item(),
                truncated=arrays["truncated"][i].item(),
                raw_return=arrays["raw_return"][i].item(),
                env=arrays["env"][i].item(),
                version=arrays["version"][i].item(),
                numbers=numbers,
            )
        )
    return episodes


@dataclass(frozen=True)
class EpisodeTable:
    """The episodes of a file without their steps, one list per field."""

    number: list[int]
    """Number in the whole evaluation, of which only some episodes may have been kept."""
    seed: list[int]
    length: list[int]
    raw_return: list[float]
    terminated: list[bool]
    truncated: list[bool]
    env: list[int]
    numbers: list[dict[str, float]]


def read_episode_table(path: Path) -> EpisodeTable:
    """Returns the table of a file's episodes; reads only the arrays with one number per episode. Raises
    RunError as `read_traces`."""
    from safetensors import SafetensorError, safe_open

    meta = read_meta(path)
    try:
        with safe_open(path, framework="numpy") as file:
            columns = {name: file.get_tensor(name) for name in (*_PER_EPISODE, "offset")}
            number_columns = {
                name.removeprefix(_NUMBER): file.get_tensor(name).tolist()
                for name in file.keys()  # noqa: SIM118 - not a mapping
                if name.startswith(_NUMBER)
            }
    except (SafetensorError, OSError) as error:
        raise RunError(f"traces are damaged: {error}", at=str(path)) from error
    length = np.diff(columns["offset"]).tolist()
    return EpisodeTable(
        number=meta.get("kept", list(range(len(length)))),
        seed=columns["seed"].tolist(),
        length=length,
        raw_return=columns["raw_return"].tolist(),
        terminated=columns["terminated"].tolist(),
        truncated=columns["truncated"].tolist(),
        env=columns["env"].tolist(),
        numbers=[
            {name: c[i] for name, c in number_columns.items() if not math.isnan(c[i])}
            for i in range(len(length))
        ],
    )


@dataclass(frozen=True, eq=False)
class StepValues:
    """The rewards and values of all episodes of a file, concatenated."""

    offset: np.ndarray
    """Index of the first step of each episode, and of the end of the last, [episodes + 1]."""
    reward: np.ndarray
    """Raw rewards, [steps]."""
    value: np.ndarray
    """The critic's estimate before each step, [steps]."""
    terminated: np.ndarray
    """Whether each episode terminated, [episodes]."""


def read_rewards_and_values(path: Path) -> StepValues:
    """Returns the rewards and values of a file, without reading its other arrays. Raises RunError as
    `read_traces`."""
    from safetensors import SafetensorError, safe_open

    _header(path, _head(path))
    try:
        with safe_open(path, framework="numpy") as file:
            offset = file.get_tensor("offset")
            terminated = file.get_tensor("terminated")
            if not len(terminated):  # a file without episodes has no arrays of steps
                return StepValues(offset, np.zeros(0), np.zeros(0), terminated)
            reward, value = file.get_tensor("reward"), file.get_tensor("value")
            return StepValues(offset, reward, value, terminated)
    except (SafetensorError, OSError) as error:
        raise RunError(f"traces are damaged: {error}", at=str(path)) from error


def read_meta(path: Path) -> TraceMeta:
    """Returns the `meta` that was passed to `write_traces`."""
    return _header(path, _head(path))["meta"]


def _offsets(lengths: Sequence[int]) -> np.ndarray:
    """Returns where each of consecutive parts with these lengths starts, and where the last one ends, [n +
    1]."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _check(arrays: Mapping[str, np.ndarray], path: Path) -> None:
    """Raises ValueError if an array with one entry per step has another number of entries than all episodes
    together have steps."""
    steps = arrays["offset"][-1]
    for name in _PER_STEP:
        if name in arrays and len(arrays[name]) != steps:
            problem = f"{name} has {len(arrays[name])} entries for {steps} steps"
            raise ValueError(f"{path.name}: {problem}")


def _content(path: Path) -> bytes:
    try:
        return files.read(path, limit=files.MAX_ARRAYS)
    except OSError as error:
        raise RunError(f"traces cannot be read: {error.strerror}", at=str(path)) from error


def _head(path: Path) -> bytes:
    """Returns the beginning of a safetensors file, up to the end of its header."""
    try:
        with files.open_file(path) as file:
            length = file.read(8)
            return length + file.read(min(int.from_bytes(length, "little"), files.MAX_DOCUMENT))
    except OSError as error:
        raise RunError(f"traces cannot be read: {error}", at=str(path)) from error


def _header(path: Path, content: bytes) -> _Header:
    """Returns the header of a trace file: `version` and `meta`. `content`: its bytes; `path`: for messages.
    Raises RunError if it is damaged or has another format version."""
    try:
        header: _Header = read_header(content)
        version = header["version"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RunError("is not a trace file, or it is damaged", at=str(path)) from error
    if version != VERSION:
        problem = f"unknown trace format {version} (this gymnast reads format {VERSION})"
        raise RunError(problem, at=str(path), fix="update gymnast")
    return header
