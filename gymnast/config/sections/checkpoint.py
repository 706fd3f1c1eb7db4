"""Checkpoints: how often they are saved and how many are kept."""

from __future__ import annotations

from gymnast.config.cadence import Cadence
from gymnast.config.numbers import Count, Maybe
from gymnast.config.section import Section


class CheckpointConfig(Section):
    LIVE = ("every", "keep")
    every: Maybe[Cadence] = Cadence.parse("10%")
    """How often a checkpoint is saved, in addition to those at a new best score, on a signal and at exit."""
    keep: Count = 3
    """Number of checkpoints kept, in addition to the best one."""
