"""Records about single decisions of a policy: what if it had seen something else, and why it decided so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gymnast.inspector.branch_record import ActionValue

Target = Literal["action", "value"]
"""The number that is explained: that of the action, or the value."""


@dataclass(frozen=True)
class Decision:
    """The decision of a policy for an observation."""

    action: ActionValue
    """The most likely action."""
    label: str
    """Its name."""
    probabilities: list[float] | None
    """Probability of each option, in the order of an action mask; None if all elements are continuous."""
    mean: list[float] | None
    """Mean of each element in the units of the environment; None if an element is discrete."""
    std: list[float] | None
    """Standard deviation of each element in the units of the environment, before clipping and squashing; None
    if an element is discrete."""
    value: float | None
    """The critic's estimate in learned reward, or the mean Q-value; None without a critic."""
    value_raw: float | None
    """The same in raw reward; None if no constant factor converts it."""


@dataclass(frozen=True)
class WhatIf:
    """The decision of a policy for an observation of an episode, before and after a change of it."""

    original: Decision
    """The decision for the observation of the episode."""
    changed: Decision
    """The decision for the changed observation."""


@dataclass(frozen=True)
class SaliencyMap:
    """The importance of the parts of an image, on a coarse grid."""

    width: int
    """Number of grid points per row."""
    height: int
    """Number of rows."""
    values: list[float]
    """Importance of each grid point, 0 or more, row by row from the top left."""
    image_width: int
    """Width of the image in pixels."""
    image_height: int
    """Height of the image in pixels."""


@dataclass(frozen=True)
class ObsImage:
    """A picture of a part of an observation that is an image."""

    name: str
    """Name of the part: `now`, or `-3` for the frame of three observations before; the channel, if there are
    other ones than red, green and blue. Empty if the picture is the whole image."""
    picture: str
    """The bytes of a PNG, in base64."""


@dataclass(frozen=True)
class ObsImages:
    """The image of an observation, as the network reads it."""

    width: int
    """Width in pixels."""
    height: int
    """Height in pixels."""
    images: list[ObsImage]
    """The pictures in it: the frames of a stack, oldest first; none if the observation has no image."""


@dataclass(frozen=True)
class Attribution:
    """The contributions of the parts of an observation to a decision."""

    components: dict[str, float] | None
    """Column of the observation -> its contribution. All contributions sum to `output` minus `baseline`. None
    if the observation has no component that is a number."""
    image: SaliencyMap | None
    """The importance of the parts of an image; None if the observation has none."""
    output: float
    """The explained number for this observation."""
    baseline: float
    """The explained number for the baseline."""
    target: str
    """A sentence that says which number is explained."""
    method: str
    """A sentence that says how."""
    past: dict[str, float] | None = None
    """Earlier step -> its contribution through the memory of the policy: how much smaller the explained
    number would be if the observation of that step had been the baseline. Each step is explained alone, so
    that these do not add up. None if the policy has no memory."""
