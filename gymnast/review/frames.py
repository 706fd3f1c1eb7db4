"""The frames of an episode in a bundle: which steps, and their pictures."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from gymnast.inspector import client
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.frames_record import FrameSet

MAX_FRAMES = 6
"""Number of frames in a bundle."""
WIDTH = 320
"""Largest width of a frame in pixels."""
_PNG = b"\x89PNG"


def choose_frames(length: int, moments: Sequence[int]) -> list[int]:
    """Returns the steps to show as frames: the first state, the last one (of step `length`, after the last
    action), and those of `moments` in their order; at most MAX_FRAMES. If there are fewer moments, the others
    are spread over the episode."""
    chosen = {0, length}
    spread = [round(i * length / (MAX_FRAMES - 1)) for i in range(1, MAX_FRAMES - 1)]
    for step in (*moments, *spread):
        if len(chosen) < MAX_FRAMES and 0 <= step <= length:
            chosen.add(step)
    return sorted(chosen)


def render_frames(address: EpisodeAddress, steps: Sequence[int]) -> tuple[dict[int, bytes], str]:
    """Returns step -> picture as PNG or JPEG, and the reason why some are missing; empty if none are."""
    pictures: dict[int, bytes] = {}
    for step in steps:
        arguments = {"first": step, "last": step, "every": 1, "width": WIDTH}
        found, payload = client.default_pool().call_binary("frames", address, arguments, FrameSet)
        pictures |= _unpacked(payload)
        if found.note:
            return pictures, found.note
    return pictures, ""


def picture_type(picture: bytes) -> str:
    """Returns `png` or `jpeg`."""
    return "png" if picture.startswith(_PNG) else "jpeg"


def _unpacked(payload: bytes) -> dict[int, bytes]:
    """Returns step -> picture, from the layout that `FrameSet` describes."""
    pictures: dict[int, bytes] = {}
    (count,), at = struct.unpack_from("<I", payload), 4
    for _ in range(count):
        step, length = struct.unpack_from("<II", payload, at)
        at += 8
        pictures[step] = payload[at : at + length]
        at += length
    return pictures
