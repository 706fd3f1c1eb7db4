"""When an update is undone."""

from __future__ import annotations

from gymnast.config.numbers import Count, Maybe, Positive
from gymnast.config.section import Section


class TransactionConfig(Section):
    max_kl: Maybe[Positive] = 0.5
    """An update that moves the policy further than this, in nats, is undone; NaN always is."""
    kl_factor: Positive = 10.0
    """Unless that is less than this many times the median of recent updates."""
    window: Count = 20
    """How many recent updates that median is of."""
