"""Normalization of observations, rewards and value targets. Evaluation scores are always raw returns."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gymnast.config.applies import WITH_A_CRITIC, Applies
from gymnast.config.numbers import FLOAT32_LIMIT, Number, Positive
from gymnast.config.section import Section


def _not_zero(scale: float) -> float:
    if scale == 0:
        raise ValueError("0 would remove all rewards (expected any other number)")
    return scale


TO_VECTORS = Applies("to observations that are numbers", lambda on: on.has_vectors)
WITH_NORMALIZED_OBS = Applies(
    "where observations are normalized (normalize.obs)",
    lambda on: on.config.normalize.obs != "off",
)


class NormalizeConfig(Section):
    obs: Annotated[Literal["off", "running", "static"], TO_VECTORS] = "off"
    """Normalize vector observations: by their running mean and standard deviation (running), or by the bounds
    of their space (static)."""
    reward: Literal["off", "running", "sign"] = "off"
    """Normalize rewards: divide them by the running standard deviation of the discounted return (running), or
    use their sign only (sign)."""
    reward_scale: Annotated[Number, AfterValidator(_not_zero)] = 1.0
    """Factor by which training rewards are multiplied, shaping included."""
    value: Annotated[Literal["off", "popart"], WITH_A_CRITIC] = "off"
    """Normalize value targets by running statistics; PopArt rescales the output layer so that predictions are
    preserved (van Hasselt et al. 2016)."""
    clip: Annotated[Positive, Field(le=FLOAT32_LIMIT), TO_VECTORS, WITH_NORMALIZED_OBS] = 10.0
    """Clip normalized observations to [-clip, clip]."""
