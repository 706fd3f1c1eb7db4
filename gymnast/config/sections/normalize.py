"""Scaling of what the learner sees. Scores are always of the raw return."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator

from gymnast.config.applies import WITH_A_CRITIC, Applies
from gymnast.config.numbers import Number, Positive
from gymnast.config.section import Section


def _not_zero(scale: float) -> float:
    if scale == 0:
        raise ValueError("0 leaves nothing to learn from (expected any other number)")
    return scale


TO_VECTORS = Applies("to observations that are numbers", lambda on: on.has_vectors)
WITH_NORMALIZED_OBS = Applies(
    "where observations are normalized (normalize.obs)",
    lambda on: on.config.normalize.obs != "off",
)


class NormalizeConfig(Section):
    obs: Annotated[Literal["off", "running", "static"], TO_VECTORS] = "off"
    """Observations by their running mean and deviation, or by their declared bounds."""
    reward: Literal["off", "running", "sign"] = "off"
    """Rewards divided by the running deviation of the discounted return, or their signs alone."""
    reward_scale: Annotated[Number, AfterValidator(_not_zero)] = 1.0
    """What rewards, shaping included, are multiplied by before they are learned from."""
    value: Annotated[Literal["off", "popart"], WITH_A_CRITIC] = "off"
    """Value targets by running statistics, with outputs preserved."""
    clip: Annotated[Positive, TO_VECTORS, WITH_NORMALIZED_OBS] = 10.0
    """Largest magnitude of a normalised observation."""
