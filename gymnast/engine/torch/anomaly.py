"""NaN in a backward pass, reported at the operation of the forward pass that made it."""

from __future__ import annotations

from contextlib import AbstractContextManager

from torch import autograd


def detected() -> AbstractContextManager[object]:
    """While inside, backward passes are checked and remember where they came from: slow, exact."""
    return autograd.set_detect_anomaly(True)
