"""Scaling of what the learner sees. Scores are always of the raw return."""

from __future__ import annotations

from typing import Literal

from gymnast.config.numbers import Positive
from gymnast.config.section import Section


class NormalizeConfig(Section):
    obs: Literal["off", "running", "static"] = "off"
    """Observations by their running mean and deviation, or by their declared bounds."""
    reward: Literal["off", "running", "sign"] = "off"
    """Rewards divided by the running deviation of the discounted return, or their signs alone."""
    value: Literal["off", "popart"] = "off"
    """Value targets by running statistics, with outputs preserved."""
    clip: Positive = 10.0
    """Largest magnitude of a normalised observation."""
