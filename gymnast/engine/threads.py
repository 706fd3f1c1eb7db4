"""What the engine computes on: a device, and a fixed number of threads, since one and two give
different float sums."""

from __future__ import annotations

import importlib
import sys

from threadpoolctl import threadpool_limits

from gymnast.compiled import kernels
from gymnast.errors import ConfigError


def fix_threads(count: int, *, in_shares: bool) -> None:
    """For every numerical library that is loaded by now. `in_shares`: torch computes with one thread,
    on as many shares of the rows at once."""
    threadpool_limits(count)
    if (native := kernels()) is not None:
        native.set_threads(count)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1 if in_shares else count)
        shares = importlib.import_module("gymnast.engine.torch.shares")
        shares.fix_shares(count if in_shares else 1)


def refuse_missing_device(device: str) -> None:
    if device == "cpu":
        return
    torch = importlib.import_module("torch")
    here = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available}
    if not here[device]():
        raise ConfigError(f"device: {device} is not available here", fix="set device=cpu")
