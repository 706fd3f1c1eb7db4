"""The record that comes with rendered frames. It can be imported without gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

MAX_FRAMES = 300
"""Number of frames that may be asked for at once."""


@dataclass(frozen=True)
class FrameSet:
    """Frames of an episode. Their bytes are separate: a uint32 with the number of frames and, for each, a
    uint32 with its step, a uint32 with its length, and the bytes of a PNG or a JPEG; little-endian."""

    count: int
    """Number of frames, which may be fewer than asked for: the page asks for the others separately."""
    mismatch: int | None
    """Number of the first step at which the replay differs, so that there are no rendered frames after it.
    None: no step."""
    note: str
    """The reason why frames are missing; empty if none are."""
