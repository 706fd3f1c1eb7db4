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
ShotT = TypeVar("ShotT", contravariant=True)


class BandLike(Protocol[ShotT]):
    def draw(self, shot: ShotT, /) -> Array:
        """Returns the band alone, [height, width, 3]."""
        ...


@dataclass(frozen=True)
class FilmSource(Generic[S]):
    fps: float
    """Frames per second at natural speed."""
    length: int
    """Total number of steps."""
    raw_frames: Callable[[bool], Iterator[S]]
    """`shots(strict)` yields every frame; if strict, raises Differs where the replay is not as stored."""
    band: Callable[[int, str], BandLike[S]]
    """`band(width, note)` returns the band for frames of this width, with a note on each."""

    def frames_with_band(self, note: str) -> Iterator[tuple[int, Array]]:
        """Yields the step and the frame with its band; strict if there is no note."""
        band = None
        for shot in self.raw_frames(not note):
            band = band or self.band(shot.picture.shape[1], note)
            yield shot.step, np.concatenate([shot.picture, band.draw(shot)])
