"""The interface of what can be filmed: a sequence of frames, and a band of numbers below each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

Array = np.ndarray


class FrameLike(Protocol):
    @property
    def picture(self) -> Array:
        """Rendered frame, [H, W, 3] uint8."""
        ...

    @property
    def step(self) -> int:
        """Number of steps taken so far."""
        ...


S = TypeVar("S", bound=FrameLike)
FrameT = TypeVar("FrameT", contravariant=True)


class BandLike(Protocol[FrameT]):
    def draw(self, frame: FrameT, /) -> Array:
        """Returns the band alone, [height, width, 3]."""
        ...


@dataclass(frozen=True)
class FilmSource(Generic[S]):
    fps: float
    """Frames per second at natural speed."""
    length: int
    """Total number of steps."""
    raw_frames: Callable[[bool], Iterator[S]]
    """`raw_frames(strict)` yields every frame; if strict, raises ReplayMismatch where the replay differs from
    the stored episode."""
    band: Callable[[int, str], BandLike[S]]
    """`band(width, note)` returns the band for frames of this width, with a note on each."""

    def frames(self, note: str) -> Iterator[tuple[int, Array]]:
        """Yields the step and the frame; strict if there is no note."""
        for frame in self.raw_frames(not note):
            yield frame.step, frame.picture

    def frames_with_band(self, note: str) -> Iterator[tuple[int, Array]]:
        """Yields the step and the frame with its band; strict if there is no note."""
        band = None
        for frame in self.raw_frames(not note):
            # The band needs the width of the frames, which is known from the first one.
            band = band or self.band(frame.picture.shape[1], note)
            yield frame.step, np.concatenate([frame.picture, band.draw(frame)])
