"""All parameters of a network in one flat float32 vector, with a named view of each.

Every view starts on a 64-byte boundary (a cache line); the gaps stay zero. Engines and the optimizer
share this memory, so that parameters are never copied between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from gymnast.memory import check_memory

_FLOATS_PER_LINE = 16
"""Number of float32 in a cache line of 64 bytes."""


class Parameters:
    """The flat vector `flat`, and in `views` the array of each parameter by name, on the same memory."""

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        self.device = "cpu"
        """Device on which updates are computed. The vector itself stays in main memory."""
        sizes = [math.prod(shape) for shape in self.shapes.values()]
        copies = 4  # the parameters, their gradient and Adam's two moments
        check_memory(
            copies * 4 * sum(sizes),
            f"a network of {sum(sizes):,} parameters",
            "set smaller layers: policy.hidden, policy.embedding",
        )
        # Every parameter starts on a cache line, so its size is rounded up to whole lines.
        padded = [-(-size // _FLOATS_PER_LINE) * _FLOATS_PER_LINE for size in sizes]
        self.count = sum(sizes)
        """Number of parameters, without the gaps."""
        self._offsets = dict(zip(self.shapes, np.cumsum([0, *padded[:-1]]).tolist(), strict=True))
        self.flat = aligned_zeros(sum(padded))
        self.views = self.views_of(self.flat)

    def views_of(self, flat: np.ndarray) -> dict[str, np.ndarray]:
        """Returns named views of any vector with the same layout, such as a gradient."""
        return {name: flat[self.slice_of(name)].reshape(s) for name, s in self.shapes.items()}

    def slice_of(self, name: str) -> slice:
        """Returns the slice of the flat vector with this parameter, without the gap after it."""
        start = self._offsets[name]
        return slice(start, start + int(np.prod(self.shapes[name])))

    def prefix_slice(self, prefix: str) -> slice:
        """Returns the slice of the flat vector with all parameters whose names start with `prefix`."""
        # Parameters of one stack follow each other in the vector (see `parameter_shapes`).
        spans = [self.slice_of(name) for name in self.shapes if name.startswith(prefix)]
        return slice(spans[0].start, spans[-1].stop) if spans else slice(0, 0)


def aligned_zeros(size: int) -> np.ndarray:
    """Returns float32 zeros that start on a 64-byte boundary."""
    raw = np.zeros(size + _FLOATS_PER_LINE, dtype=np.float32)
    # NumPy promises less alignment than a cache line, so some of the extra floats are skipped.
    skip = -(raw.ctypes.data // 4) % _FLOATS_PER_LINE
    return raw[skip : skip + size]
