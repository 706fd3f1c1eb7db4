"""Memory that an update frees and takes again."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Names of settings in glibc's malloc.h."""
_SIZES = (1 << 30, 1 << 25)
"""Bytes; older versions take no more than the second."""


@cache
def keep_freed_memory() -> None:
    """For this process: what is freed stays at hand. Otherwise glibc returns the activations of each
    minibatch of images to the system, which clears every page of them for the next: a tenth of the
    time of an update. Where there is no glibc, nothing changes."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for setting in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
            any(mallopt(setting, size) for size in _SIZES)
