"""Reads `.wandb` files, which W&B writes in offline mode: a LevelDB log, whose chunks are parts of records.

A training that was killed leaves a chunk that is cut. Everything before it is read, and the problem is
reported.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from gymnast.foreign.log import Logged
from gymnast.foreign.protobuf import DamagedMessage, fields, int64, messages, text

HEADER = b":W&B"
_HEADER_SIZE = 7
_BLOCK = 32_768
_CHUNK = struct.Struct("<IHB")
_WHOLE, _FIRST, _LAST = 1, 2, 4
_HISTORY, _CONFIG, _RUN, _EXIT = 2, 5, 17, 18
"""Field numbers of the records in `wandb_internal.proto`."""


@dataclass(frozen=True)
class WandbFile:
    """The content of a `.wandb` file."""

    logged: tuple[Logged, ...]
    """The numbers of each call of `wandb.log`, in order; the step is W&B's own, which counts calls."""
    config: dict[str, object]
    """`wandb.config`."""
    name: str
    """Name or id of the run; empty if the file has none."""
    exit_code: int | None
    """Exit code of the training; None if the run was not finished."""
    problem: str
    """The damage, as a clause; empty if nothing is damaged or cut."""


def is_wandb_file(data: bytes) -> bool:
    """Returns whether these are the first bytes of a `.wandb` file."""
    return data.startswith(HEADER)


def read_wandb(data: bytes) -> WandbFile:
    """Returns the history and the config of a `.wandb` file, as far as it can be read."""
    logged: list[Logged] = []
    config: dict[str, object] = {}
    name, exit_code, problem = "", None, ""
    records, problem = _records(data)
    for index, record in enumerate(records):
        try:
            for number, value in fields(record):
                if not isinstance(value, bytes):
                    continue
                if number == _HISTORY:
                    logged.append(_history(value))
                elif number == _RUN:
                    name = name or text(value, 8) or text(value, 1)
                    config |= dict(_config(next(messages(value, 4), b"")))
                elif number == _CONFIG:
                    config |= dict(_config(value))
                elif number == _EXIT:
                    exit_code = next((int64(v) for n, v in fields(value) if n == 1), 0)
        except DamagedMessage as error:
            problem = f"record {index + 1} is damaged ({error}); what follows was not read"
            break
    return WandbFile(tuple(logged), config, name, exit_code, problem)


def _records(data: bytes) -> tuple[list[bytes], str]:
    """Returns the records before the first chunk that is cut or damaged, and what is wrong with that one."""
    found: list[bytes] = []
    at, parts = _HEADER_SIZE, b""
    while at < len(data):
        left = _BLOCK - at % _BLOCK
        if left < _CHUNK.size:  # too little for another chunk: padding
            at += left
            continue
        if at + _CHUNK.size > len(data):
            return found, f"the file is cut after {len(found):,} records"
        checksum, length, kind = _CHUNK.unpack_from(data, at)
        end = at + _CHUNK.size + length
        if end > len(data):
            return found, f"the file is cut after {len(found):,} records"
        # the checksum covers the kind and the content
        if zlib.crc32(data[at + 6 : end]) != checksum:
            return found, f"record {len(found) + 1:,} is damaged; what follows was not read"
        content = data[at + _CHUNK.size : end]
        parts = content if kind in (_WHOLE, _FIRST) else parts + content
        if kind in (_WHOLE, _LAST):
            found.append(parts)
        at = end
    return found, ""


def _history(message: bytes) -> Logged:
    """Returns the numbers of one call of `wandb.log`, and its time. Other values are left out."""
    values: dict[str, float] = {}
    step = time = None
    for key, value in _items(message, 1):
        if key == "_timestamp" and isinstance(value, int | float):
            time = float(value)
        elif key == "_step" and isinstance(value, int | float):
            step = float(value)
        elif not key.startswith("_") and isinstance(value, int | float):
            values[key] = float(value)
    return Logged(values, step=step, time=time)


def _config(message: bytes) -> Iterator[tuple[str, object]]:
    """Yields the settings of a config, without W&B's own."""
    for key, value in _items(message, 1):
        if not key.startswith("_"):
            yield key, value


def _items(message: bytes, number: int) -> Iterator[tuple[str, object]]:
    """Yields key and value of every item; the parts of a nested key are joined by dots."""
    for item in messages(message, number):
        nested = [part.decode("utf-8", "replace") for part in messages(item, 2)]
        try:
            value = cast(object, json.loads(text(item, 16)))
        except ValueError:
            continue
        yield text(item, 1) or ".".join(nested), _unwrapped(value)


def _unwrapped(value: object) -> object:
    """Returns the plain value of a config entry; older versions of W&B store `{"value": 1, "desc": ""}`."""
    if isinstance(value, dict) and "value" in value and value.keys() <= {"value", "desc"}:
        return cast("dict[str, object]", value)["value"]
    # NaN and infinity are stored as texts
    texts = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
    return texts.get(value, value) if isinstance(value, str) else value
