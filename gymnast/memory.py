"""Refuses what the memory of this machine cannot hold, before it is allocated."""

from __future__ import annotations

import os

from gymnast.errors import ConfigError


def refuse_more_than_memory(n_bytes: float, what: str, fix: str) -> None:
    """Raises ConfigError where this needs more than all memory of the machine."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if n_bytes > total:
        needs, has = (f"{size / 2**30:,.3g} GiB" for size in (n_bytes, total))
        raise ConfigError(f"{what} needs {needs} of memory; this machine has {has}", fix=fix)
