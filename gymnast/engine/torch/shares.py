"""Divides the rows of a minibatch into shares, one per thread, each computed with a single torch thread.

This is how image networks use `threads`. Torch's own threads synchronize after every operation and
busy-wait in between, which takes cores from the environments; shares synchronize once per gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import torch

Share = TypeVar("Share")
Result = TypeVar("Result")
_threads = 1
_helpers: ThreadPoolExecutor | None = None
"""The threads of this process for all shares except the first, which the calling thread computes."""


def set_num_shares(threads: int) -> None:
    """Sets the number of shares for this process."""
    global _threads, _helpers
    if threads == _threads:
        return
    if _helpers is not None:
        _helpers.shutdown()
    _threads = threads
    _helpers = None
    if threads > 1:
        # torch's number of threads is a setting of each thread, so every helper sets its own to 1
        _helpers = ThreadPoolExecutor(threads - 1, "share", torch.set_num_threads, (1,))


def split_rows(n: int) -> list[slice]:
    """Returns the slices of n rows that make up the shares: nearly equal in size, none empty."""
    k = max(1, min(_threads, n))
    return [slice(n * i // k, n * (i + 1) // k) for i in range(k)]


def run_parallel(work: Callable[[Share], Result], shares: Sequence[Share]) -> list[Result]:
    """Returns the result of `work` for each share, in order. An error is raised after all have finished."""
    if _helpers is None or len(shares) == 1:
        return [work(share) for share in shares]
    others = [_helpers.submit(work, share) for share in shares[1:]]
    try:
        first = work(shares[0])
    finally:
        wait(others)  # also after an error: helpers must not write gradients during a retry
    return [first, *(other.result() for other in others)]
