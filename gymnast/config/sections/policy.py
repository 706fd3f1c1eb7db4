"""Architecture of the policy network: encoders, hidden layers, action distribution."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gymnast.config.applies import (
    TO_BUILTIN_LAYERS,
    TO_CONTINUOUS_ACTIONS,
    TO_IMAGES,
    WITH_A_CRITIC,
    Applies,
)
from gymnast.config.memory_spec import MemorySpec
from gymnast.config.numbers import OFF, Count, Maybe, Number, PlainField, Switch, Whole
from gymnast.config.section import Section

ActivationName = Literal["tanh", "relu", "silu", "gelu", "elu"]
Width = Annotated[Count, Field(le=65_536)]
TO_EMBEDDINGS = Applies(
    "to Discrete and MultiDiscrete observations, and to vectors next to images",
    lambda on: on.has_embeddings,
)
WITH_HIDDEN_LAYERS = Applies(
    "to hidden layers (policy.hidden)", lambda on: bool(on.config.policy.hidden)
)
WITH_A_MODULE = Applies("with policy.module", lambda on: on.config.policy.module is not None)
WITH_MEMORY = Applies("with policy.memory", lambda on: on.config.policy.memory is not None)


class PolicyConfig(Section):
    hidden: Annotated[tuple[Width, ...], Field(max_length=64), TO_BUILTIN_LAYERS] = (64, 64)
    """Width of each hidden layer. With images, these layers follow the dense layer of the CNN."""
    activation: Annotated[ActivationName, TO_BUILTIN_LAYERS, WITH_HIDDEN_LAYERS] = "tanh"
    """Activation function of the hidden layers. GELU is the exact one, ELU has alpha 1. A CNN always uses
    ReLU, as in its paper."""
    shared: Annotated[Switch, TO_BUILTIN_LAYERS, WITH_A_CRITIC] = False
    """Actor and critic share their hidden layers instead of having separate ones. The CNN is always
    shared."""
    layer_norm: Annotated[Switch, TO_BUILTIN_LAYERS, WITH_HIDDEN_LAYERS] = False
    """Apply layer normalization to each hidden layer before its activation."""
    memory: Annotated[Maybe[MemorySpec], TO_BUILTIN_LAYERS] = OFF
    """Recurrent layers between the encoder and the hidden layers: the kind of cell and its units, `lstm:128`
    or `gru:64`, and optionally the number of layers, `lstm:128x2`. off: the policy sees only the current
    observation."""
    memory_shared: Annotated[Switch, TO_BUILTIN_LAYERS, WITH_A_CRITIC, WITH_MEMORY] = False
    """Actor and critic share encoder and memory, but not the hidden layers after them."""
    bptt: Annotated[Count, TO_BUILTIN_LAYERS, WITH_MEMORY, Field(le=65_536)] = 64
    """Steps through which gradients flow back in time (truncated backpropagation through time). Rollouts are
    cut into sequences of at most this length, and minibatches consist of whole sequences."""
    burn_in: Annotated[Whole, TO_BUILTIN_LAYERS, WITH_MEMORY, Field(le=65_536)] = 0
    """Steps before each sequence that are run again to refresh its initial state, without being learned from
    (arXiv:1902.03633, a paper on replayed sequences)."""
    embedding: Annotated[Width, TO_BUILTIN_LAYERS, TO_EMBEDDINGS] = 64
    """Width of the embedding of a Discrete observation, of each element of a MultiDiscrete observation, and
    of a vector that is combined with an image."""
    cnn: Annotated[Literal["auto", "nature", "small", "impala"], TO_BUILTIN_LAYERS, TO_IMAGES] = (
        "auto"
    )
    """Image encoder: three convolutions (nature, Mnih et al. 2015), up to three of 3 x 3 pixels (small), or
    six residual blocks (impala, Espeholt et al. 2018). auto: nature for images of at least 36 x 36 pixels,
    else impala. Without a preset, smaller images get small."""
    precision: Annotated[Literal["float32", "bfloat16"], TO_BUILTIN_LAYERS, TO_IMAGES] = "float32"
    """Precision in which the CNN computes; weights and all other layers stay float32. bfloat16 takes about
    half the time on CPUs that support it, and several times as long on others."""
    image_channels: Annotated[Literal["auto", "first", "last"], TO_IMAGES] = "auto"
    """Axis of an image that holds its channels. auto: the first or the last, whichever is shorter, if it has
    at most 16 entries."""
    log_std: Annotated[Number, TO_CONTINUOUS_ACTIONS] = 0.0
    """Initial log standard deviation of continuous actions."""
    squash: Annotated[Switch, TO_CONTINUOUS_ACTIONS] = False
    """Squash continuous actions into their range with tanh instead of clipping them."""
    module: Maybe[str] = OFF
    """Your own torch module, `package.module:Class`, instead of all layers above."""
    module_kwargs: Annotated[dict[str, PlainField], WITH_A_MODULE] = {}
    """Keyword arguments of the module's constructor, in addition to the observation space and the number of
    outputs."""
