"""Rejects settings that need more memory than the machine has, before anything is allocated."""

from __future__ import annotations

import os

from gymnast.errors import ConfigError


def check_memory(n_bytes: float, what: str, fix: str) -> None:
    """Raises ConfigError if `n_bytes` exceed the main memory of the machine. For the message:
    `what` needs the memory, and `fix` says what to change."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    # The total, not what is free now: other programs may end, but no machine grows.
    if n_bytes > total:
        needs, has = (f"{size / 2**30:,.3g} GiB" for size in (n_bytes, total))
        raise ConfigError(f"{what} needs {needs} of memory; this machine has {has}", fix=fix)
