"""The rows of a batch in shares, one per thread, each computed by one thread of torch.

That is what `threads` means for networks of images: torch's own threads meet after every operation,
and spin in between while environments want the cores; shares meet once per gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import torch

Share = TypeVar("Share")
Found = TypeVar("Found")
_threads = 1
_helpers: ThreadPoolExecutor | None = None
"""Of this process: all threads but the one that asks."""


def fix_shares(threads: int) -> None:
    """Into how many shares rows go from now on, in this process."""
    global _threads, _helpers
    if threads == _threads:
        return
    if _helpers is not None:
        _helpers.shutdown()
    _threads = threads
    _helpers = None
    if threads > 1:
        _helpers = ThreadPoolExecutor(threads - 1, "share", torch.set_num_threads, (1,))


def spans(n: int) -> list[slice]:
    """Where each share of n things lies: one after the other, near-equal, none empty."""
    k = max(1, min(_threads, n))
    return [slice(n * i // k, n * (i + 1) // k) for i in range(k)]


def at_once(work: Callable[[Share], Found], shares: Sequence[Share]) -> list[Found]:
    """What comes of each, in their order. An error comes after all have ended."""
    if _helpers is None or len(shares) == 1:
        return [work(share) for share in shares]
    others = [_helpers.submit(work, share) for share in shares[1:]]
    try:
        first = work(shares[0])
    finally:
        wait(others)
    return [first, *(other.result() for other in others)]
