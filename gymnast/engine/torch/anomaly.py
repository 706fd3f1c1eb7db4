"""Autograd's anomaly detection: a NaN in a backward pass is reported with the forward operation that
produced it."""

from __future__ import annotations

from torch import autograd


def detect(on: bool) -> None:
    """Switches anomaly detection on or off. It is slow."""
    autograd.set_detect_anomaly(on)
