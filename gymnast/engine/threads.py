"""A fixed number of threads: one and two give different float sums."""

from __future__ import annotations

import sys

from threadpoolctl import threadpool_limits


def fix_threads(count: int) -> None:
    """For every numerical library that is loaded by now."""
    threadpool_limits(count)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count)
