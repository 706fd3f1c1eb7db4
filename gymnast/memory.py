"""The memory of the machine; rejects settings that need more of it, before anything is allocated."""

from __future__ import annotations

import os

from gymnast.errors import ConfigError


def check_memory(n_bytes: float, what: str, fix: str) -> None:
    """Raises ConfigError if `n_bytes` exceed the main memory of the machine. For the message:
    `what` needs the memory, and `fix` says what to change."""
    total = total_memory()
    # The total, not what is free now: other programs may end, but no machine grows.
    if n_bytes > total:
        needs, has = (f"{size / 2**30:,.3g} GiB" for size in (n_bytes, total))
        raise ConfigError(f"{what} needs {needs} of memory; this machine has {has}", fix=fix)


def total_memory() -> int:
    """Returns the main memory of the machine in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
