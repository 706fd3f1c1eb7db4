"""Reads TensorBoard event files: TFRecord frames with checksums, each an event with scalars or texts.

A training that was killed leaves a frame that is cut; one on a full disk may leave a damaged frame. What is
before it is read, and the problem is reported.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gymnast.foreign.crc32c import masked_crc32c
from gymnast.foreign.log import Logged
from gymnast.foreign.protobuf import DamagedMessage, Value, double, fields, int64, messages, text

VERSION = b"brain.Event:"
"""The content of the first event of every file."""
MAX_CHECKED = 4096
"""Size in bytes of the largest event whose checksum is computed. Larger ones are pictures, histograms and
texts, whose content is not used; the checksum of their length is computed all the same."""
_HEADER = struct.Struct("<QI")
_FOOTER = 4
_FLOAT, _DOUBLE, _TEXT = 1, 2, 7
"""Data types of tensors."""


@dataclass(frozen=True)
class EventFile:
    """The content of an event file."""

    logged: tuple[Logged, ...]
    """The scalars of each event, in the order of the file."""
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tag -> the first text of it."""
    problem: str = ""
    """The damage, as a clause; empty if nothing is damaged or cut."""


def is_event_file(data: bytes) -> bool:
    """Returns whether these first bytes of a file are the first event of an event file, perhaps cut."""
    if len(data) < _HEADER.size + 1:
        return False
    size, checksum = _HEADER.unpack_from(data)
    return size <= 1 << 16 and masked_crc32c([data[:8]]) == [checksum]


def read_events(data: bytes) -> EventFile:
    """Returns the scalars and texts of an event file, as far as it can be read."""
    frames, problem = _frames(data)
    logged: list[Logged] = []
    texts: dict[str, str] = {}
    for index, frame in enumerate(frames):
        try:
            entry = _event(frame, texts)
        except DamagedMessage as error:
            problem = f"event {index + 1} is damaged ({error}); what follows was not read"
            break
        if entry.values:
            logged.append(entry)
    return EventFile(tuple(logged), texts, problem)


def _frames(data: bytes) -> tuple[list[bytes], str]:
    """Returns the contents of all frames before the first that is cut or damaged, and what is wrong with
    that one."""
    frames: list[bytes] = []
    expected: list[int] = []
    lengths: list[bytes] = []
    at, problem = 0, ""
    length_sums: list[int] = []
    while at < len(data):
        end = at + _HEADER.size
        if end > len(data):
            problem = _cut(frames)
            break
        size, length_sum = _HEADER.unpack_from(data, at)
        if end + size + _FOOTER > len(data):
            damaged = masked_crc32c([data[at : at + 8]]) != [length_sum]
            problem = _damaged(frames) if damaged else _cut(frames)
            break
        lengths.append(data[at : at + 8])
        length_sums.append(length_sum)
        frames.append(data[end : end + size])
        expected.append(struct.unpack_from("<I", data, end + size)[0])
        at = end + size + _FOOTER
    good = _good_frames(frames, expected, lengths, length_sums)
    return (frames, problem) if good == len(frames) else (frames[:good], _damaged(frames[:good]))


def _good_frames(
    frames: list[bytes], expected: list[int], lengths: list[bytes], length_sums: list[int]
) -> int:
    """Returns the number of frames before the first whose length or content has another checksum."""
    small = [i for i, frame in enumerate(frames) if len(frame) <= MAX_CHECKED]
    sums = dict(zip(small, masked_crc32c([frames[i] for i in small]), strict=True))
    for i, computed in enumerate(masked_crc32c(lengths)):
        if computed != length_sums[i] or sums.get(i, expected[i]) != expected[i]:
            return i
    return len(frames)


def _cut(frames: list[bytes]) -> str:
    return f"the file is cut after {len(frames):,} events"


def _damaged(frames: list[bytes]) -> str:
    return f"event {len(frames) + 1:,} is damaged; what follows was not read"


def _event(frame: bytes, texts: dict[str, str]) -> Logged:
    """Returns the scalars of an event; its texts are added to `texts`."""
    step, time, values = 0, 0.0, dict[str, float]()
    for number, value in fields(frame):
        if number == 1:
            time = double(value)
        elif number == 2:
            step = int64(value)
        elif number == 5 and isinstance(value, bytes):
            for one in messages(value, 1):
                tag = text(one, 1)
                for content in _value(one):
                    if isinstance(content, str):
                        texts.setdefault(tag, content)
                    else:
                        values[tag] = content
    return Logged(values, step=float(step), time=time)


def _value(message: bytes) -> Iterator[float | str]:
    """Yields the number or text of a summary value; nothing for pictures, histograms and other contents."""
    for number, value in fields(message):
        if number == 2 and isinstance(value, bytes) and len(value) == 4:
            yield struct.unpack("<f", value)[0]
        elif number == 8 and isinstance(value, bytes):
            yield from _tensor(value)


def _tensor(message: bytes) -> Iterator[float | str]:
    """Yields the value of a tensor with a single number or text."""
    parts: dict[int, list[Value]] = {}
    for number, value in fields(message):
        parts.setdefault(number, []).append(value)
    kind = parts.get(1, [0])[0]
    if kind == _TEXT and isinstance(first := parts.get(8, [b""])[0], bytes):
        yield first.decode("utf-8", "replace")
    # gymnast writes float32 for TensorBoard and the whole float64 next to it
    for number, code, size in ((6, "<d", 8), (5, "<f", 4)):
        value = parts.get(number, [None])[0]
        if isinstance(value, bytes) and len(value) == size:
            yield struct.unpack(code, value)[0]
            return
    content = parts.get(4, [None])[0]
    codes = {_FLOAT: ("<f", 4), _DOUBLE: ("<d", 8)}
    if kind in codes and isinstance(content, bytes) and len(content) == codes[kind][1]:
        yield struct.unpack(codes[kind][0], content)[0]
