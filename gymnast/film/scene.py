"""What can be filmed: moments one after the other, and a band of numbers below each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

Array = np.ndarray


class Moment(Protocol):
    @property
    def picture(self) -> Array:
        """[H, W, 3] uint8."""
        ...

    @property
    def step(self) -> int:
        """Steps taken so far."""
        ...


S = TypeVar("S", bound=Moment)
Shown = TypeVar("Shown", contravariant=True)


class BandOf(Protocol[Shown]):
    def draw(self, shot: Shown, /) -> Array:
        """The band alone, [height, width, 3]."""
        ...


@dataclass(frozen=True)
class Scene(Generic[S]):
    fps: float
    """How fast it looks natural."""
    length: int
    """Steps of the whole of it."""
    shots: Callable[[bool], Iterator[S]]
    """Every moment; where told to be strict, raises Differs at the first that is not as stored."""
    band: Callable[[int, str], BandOf[S]]
    """Of pictures of a width, with a note on every one."""

    def frames(self, note: str) -> Iterator[tuple[int, Array]]:
        """Step and picture with its band; strict where there is no note."""
        band = None
        for shot in self.shots(not note):
            band = band or self.band(shot.picture.shape[1], note)
            yield shot.step, np.concatenate([shot.picture, band.draw(shot)])
