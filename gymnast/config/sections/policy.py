"""The network: trunk, activation, heads."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import JsonValue

from gymnast.config.applies import (
    TO_CONTINUOUS_ACTIONS,
    TO_IMAGES,
    TO_OWN_LAYERS,
    WITH_A_CRITIC,
    Applies,
)
from gymnast.config.numbers import OFF, Count, Maybe, Number, Switch
from gymnast.config.section import Section

ActivationName = Literal["tanh", "relu", "silu", "gelu", "elu"]
TO_EMBEDDINGS = Applies(
    "to Discrete and MultiDiscrete observations, and to vectors next to images",
    lambda on: on.has_embeddings,
)
WITH_HIDDEN_LAYERS = Applies(
    "to hidden layers (policy.hidden)", lambda on: bool(on.config.policy.hidden)
)
WITH_A_MODULE = Applies("with policy.module", lambda on: on.config.policy.module is not None)


class PolicyConfig(Section):
    hidden: Annotated[tuple[Count, ...], TO_OWN_LAYERS] = (64, 64)
    """Width of each hidden layer; they follow a CNN's own dense layer."""
    activation: Annotated[ActivationName, TO_OWN_LAYERS, WITH_HIDDEN_LAYERS] = "tanh"
    """What follows each hidden layer. GELU is the exact one, ELU has alpha 1. A CNN keeps the ReLU of
    its paper."""
    shared: Annotated[Switch, TO_OWN_LAYERS, WITH_A_CRITIC] = False
    """One trunk for actor and critic instead of one each. What encodes an image is always shared."""
    layer_norm: Annotated[Switch, TO_OWN_LAYERS, WITH_HIDDEN_LAYERS] = False
    """Normalise each hidden layer before its activation."""
    embedding: Annotated[Count, TO_OWN_LAYERS, TO_EMBEDDINGS] = 64
    """Width of the embedding of a Discrete observation, of each element of a MultiDiscrete one, and of
    a vector beside an image."""
    cnn: Annotated[Literal["auto", "nature", "impala"], TO_OWN_LAYERS, TO_IMAGES] = "auto"
    """What encodes an image: three convolutions (nature), or three residual sections (impala). Auto:
    nature where it has at least 36 x 36 pixels."""
    precision: Annotated[Literal["float32", "bfloat16"], TO_OWN_LAYERS, TO_IMAGES] = "float32"
    """What encodes an image computes in this; weights and all that follows stay float32. bfloat16 takes
    about half the time on processors that have it, and several times as long on others."""
    image_channels: Annotated[Literal["auto", "first", "last"], TO_IMAGES] = "auto"
    """Which axis of an image holds its channels. Auto: the shorter end, where it has at most 16."""
    log_std: Annotated[Number, TO_CONTINUOUS_ACTIONS] = 0.0
    """Initial logarithm of the standard deviation of continuous actions."""
    squash: Annotated[Switch, TO_CONTINUOUS_ACTIONS] = False
    """Bring continuous actions into their range by tanh instead of clipping them."""
    module: Maybe[str] = OFF
    """A torch module of your own, `package.module:Class`, in place of all layers above."""
    module_kwargs: Annotated[dict[str, JsonValue], WITH_A_MODULE] = {}
    """Arguments for its constructor, beside the observation and the number of outputs."""
