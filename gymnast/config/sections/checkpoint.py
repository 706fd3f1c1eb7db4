"""What is saved while training, and how much of it is kept."""

from __future__ import annotations

from gymnast.config.cadence import Cadence
from gymnast.config.numbers import Count, Maybe
from gymnast.config.section import Section


class CheckpointConfig(Section):
    LIVE = ("every", "keep")
    every: Maybe[Cadence] = Cadence.parse("10%")
    """How often, besides best, signal and exit."""
    keep: Count = 3
    """Checkpoints kept besides the best."""
