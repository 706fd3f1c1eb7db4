"""NaN in a backward pass, reported at the operation of the forward pass that made it."""

from __future__ import annotations

from torch import autograd


def detect(on: bool) -> None:
    """From now on backward passes are checked, and remember where they came from: slow, exact."""
    autograd.set_detect_anomaly(on)
