"""The network: trunk, activation, heads."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from gymnast.config.numbers import OFF, Count, Maybe, Number, Switch
from gymnast.config.section import Section

ActivationName = Literal["tanh", "relu", "silu", "gelu", "elu"]


class PolicyConfig(Section):
    hidden: tuple[Count, ...] = (64, 64)
    """Width of each hidden layer; they follow a CNN's own dense layer."""
    activation: ActivationName = "tanh"
    """What follows each hidden layer. GELU is the exact one, ELU has alpha 1. A CNN keeps the ReLU of
    its paper."""
    shared: Switch = False
    """One trunk for actor and critic instead of one each. What encodes an image is always shared."""
    layer_norm: Switch = False
    """Normalise each hidden layer before its activation."""
    embedding: Count = 64
    """Width of the embedding of a Discrete observation, of each element of a MultiDiscrete one, and of
    a vector beside an image."""
    cnn: Literal["auto", "nature", "impala"] = "auto"
    """What encodes an image: three convolutions (nature), or three residual sections (impala). Auto:
    nature where it has at least 36 x 36 pixels."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """What encodes an image computes in this; weights and all that follows stay float32. bfloat16 takes
    about half the time on processors that have it, and several times as long on others."""
    image_channels: Literal["auto", "first", "last"] = "auto"
    """Which axis of an image holds its channels. Auto: the shorter end, where it has at most 16."""
    log_std: Number = 0.0
    """Initial logarithm of the standard deviation of continuous actions."""
    squash: Switch = False
    """Bring continuous actions into their range by tanh instead of clipping them."""
    module: Maybe[str] = OFF
    """A torch module of your own, `package.module:Class`, in place of all layers above."""
    module_kwargs: dict[str, JsonValue] = {}
    """Arguments for its constructor, beside the observation and the number of outputs."""
