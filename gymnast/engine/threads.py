"""The device and the number of threads that an engine computes with.

The number of threads is fixed because it changes the order of float sums, and so the last bits.
"""

from __future__ import annotations

import importlib
import sys

from threadpoolctl import threadpool_limits

from gymnast.compiled import kernels
from gymnast.errors import ConfigError


def set_num_threads(count: int, *, split_batch: bool) -> None:
    """Sets the number of threads of every numerical library that is loaded by now.

    `split_batch`: `count` threads each compute one share of a minibatch, with torch limited to one
    thread per operation.
    """
    threadpool_limits(count)  # BLAS and OpenMP
    if (native := kernels()) is not None:
        native.set_threads(count)
    if "torch" in sys.modules:  # importing torch just for this would take about 2 s
        sys.modules["torch"].set_num_threads(1 if split_batch else count)
        shares = importlib.import_module("gymnast.engine.torch.shares")
        shares.set_num_shares(count if split_batch else 1)


def require_device(device: str) -> None:
    """Raises ConfigError if torch cannot use this device on this machine."""
    if device == "cpu":
        return
    torch = importlib.import_module("torch")
    is_available = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    if not is_available[device]():
        raise ConfigError(f"device: {device} is not available here", fix="set device=cpu")
