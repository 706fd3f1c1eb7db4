"""Settings of the C memory allocator for updates that repeatedly free and allocate large tensors."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h."""
_SIZES = (1 << 30, 1 << 25)
"""Thresholds in bytes, tried in this order: older versions of glibc accept only the second."""


@cache
def keep_freed_memory() -> None:
    """Makes glibc keep freed memory in this process for reuse. Does nothing without glibc.

    By default glibc returns the activations of each minibatch of images to the system, and the system
    clears every page again for the next minibatch, which takes a tenth of the time of an update.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for setting in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
            any(mallopt(setting, size) for size in _SIZES)  # 1 on success: stops at the first
