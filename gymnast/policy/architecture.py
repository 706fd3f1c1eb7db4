"""Builds the network for an observation space: an encoder, hidden layers, and actor and critic heads."""

from __future__ import annotations

import numpy as np

from gymnast.config.sections.policy import PolicyConfig
from gymnast.errors import ConfigError
from gymnast.policy.layers import (
    Activation,
    Conv,
    CustomModuleSpec,
    Embedding,
    ExtraParameters,
    Flatten,
    Float32,
    Layer,
    LayerNorm,
    Linear,
    MaxPool,
    Network,
    Parallel,
    Pixels,
    Recurrent,
    Residual,
    Stack,
)
from gymnast.spaces.observations import (
    BoxObs,
    CompositeObs,
    DiscreteObs,
    ImageObs,
    MultiDiscreteObs,
    Observation,
)

GAIN = float(np.sqrt(2))
"""Gain of the orthogonal initialization of hidden layers."""
NATURE_MIN_PIXELS = 36
"""Shortest side of an image that the three unpadded convolutions of the Nature CNN can process."""


SMALL_MIN_PIXELS = 3
"""Shortest side of an image that a convolution of 3 x 3 pixels can process."""


def network_for(
    obs: Observation,
    n_outputs: int,
    cfg: PolicyConfig,
    *,
    extra_parameters: ExtraParameters,
    critic: bool,
) -> Network:
    """Returns the network of actor and critic, with shared or separate hidden layers. `n_outputs`: width of
    the actor's last layer; `critic`: False if the actor's outputs are Q-values.

    An image encoder is always shared, because it dominates the cost. The actor's output layer has near-zero
    initial weights, so that the initial policy is close to uniform (arXiv:2006.05990).
    """
    if cfg.module is not None:
        module = CustomModuleSpec(cfg.module, dict(cfg.module_kwargs), obs, n_outputs)
        return Network((), (), (), extra_parameters, module)
    encoder, width = encoder_for(obs, cfg)
    memory, width = recurrent(width, cfg)
    hidden, last = mlp(width, cfg)
    actor_head: Stack = (Linear(last, n_outputs, gain=0.01),)
    critic_head: Stack = (Linear(last, 1, gain=1.0),) if critic else ()
    if cfg.shared:
        return Network(encoder + memory + hidden, actor_head, critic_head, extra_parameters)
    # The same descriptions in both stacks are separate layers: parameters belong to their position.
    if memory and cfg.memory_shared:
        shared, separate = encoder + memory, hidden
    elif _has_images(obs):
        shared, separate = encoder, memory + hidden
    else:
        shared, separate = (), encoder + memory + hidden
    critic_stack = separate + critic_head if critic else ()
    return Network(shared, separate + actor_head, critic_stack, extra_parameters)


def encoder_for(obs: Observation, cfg: PolicyConfig) -> tuple[Stack, int]:
    """Returns the layers that encode features of this kind as one vector, and the vector's width."""
    match obs:
        case BoxObs():
            return (), obs.size
        case DiscreteObs(n):
            return (Embedding(n, cfg.embedding),), cfg.embedding
        case MultiDiscreteObs(_, n):  # one table holds the rows of all elements
            return (Embedding(sum(n), cfg.embedding), Flatten()), len(n) * cfg.embedding
        case ImageObs():
            return cnn(obs, cfg)
        case CompositeObs():
            encoders = {name: _entry(leaf, obs, cfg) for name, leaf in obs.leaves.items()}
            branches = tuple((name, stack) for name, (stack, _) in encoders.items())
            return (Parallel(obs.dtype, branches),), sum(width for _, width in encoders.values())


def _entry(leaf: Observation, obs: CompositeObs, cfg: PolicyConfig) -> tuple[Stack, int]:
    """Returns the encoder of one entry `leaf` of the Dict or Tuple `obs`, and its width.

    A vector next to an image is widened by a linear layer: a few raw numbers would have little weight among
    the hundreds of image features.
    """
    if not isinstance(leaf, BoxObs):
        return encoder_for(leaf, cfg)
    if not _has_images(obs):
        return (Flatten(),), leaf.size
    widen = Linear(leaf.size, cfg.embedding, gain=GAIN)
    return (Flatten(), widen, Activation("relu")), cfg.embedding


def recurrent(width: int, cfg: PolicyConfig) -> tuple[Stack, int]:
    """Returns the recurrent layers for inputs of this width, and the width of their output (that of the
    inputs if there is no memory)."""
    layers: list[Layer] = []
    for _ in range(0 if cfg.memory is None else cfg.memory.layers):
        assert cfg.memory is not None
        layers.append(Recurrent(cfg.memory.cell, width, cfg.memory.width))
        width = cfg.memory.width
    return tuple(layers), width


def mlp(width: int, cfg: PolicyConfig) -> tuple[Stack, int]:
    """Returns the hidden layers for inputs of this width, and the width of the last one (that of the inputs
    if there are none)."""
    layers: list[Layer] = []
    for n in cfg.hidden:
        layers.append(Linear(width, n, gain=GAIN))
        if cfg.layer_norm:
            layers.append(LayerNorm(n))
        layers.append(Activation(cfg.activation))
        width = n
    return tuple(layers), width


def cnn(image: ImageObs, cfg: PolicyConfig) -> tuple[Stack, int]:
    """Returns the convolutional encoder of an image and its width."""
    assert image.channels != "unknown"
    channels, height, width = image.planes
    kind = cfg.cnn
    if kind == "auto":
        kind = "nature" if min(height, width) >= NATURE_MIN_PIXELS else "impala"
    pixels = Pixels(image.shape, image.channels, image.top, cfg.precision)
    layers, dense = _CNNS[kind](channels, height, width)
    # Only the encoder has a lower precision; hidden layers and heads are float32.
    cast = () if cfg.precision == "float32" else (Float32(),)
    return (pixels, *layers, *cast), dense


def _nature(channels: int, height: int, width: int) -> tuple[list[Layer], int]:
    """Returns the CNN of Mnih et al. 2015 (https://www.nature.com/articles/nature14236) and its width."""
    if min(height, width) < NATURE_MIN_PIXELS:
        raise ConfigError(
            f"policy.cnn: nature needs images of at least {NATURE_MIN_PIXELS} x {NATURE_MIN_PIXELS} pixels; "
            f"these have {height} x {width}",
            fix="set policy.cnn=impala",
        )
    layers: list[Layer] = []
    for n, kernel, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
        layers += [Conv(channels, n, kernel, stride), Activation("relu")]
        channels = n
        height, width = ((size - kernel) // stride + 1 for size in (height, width))  # no padding
    layers += _dense(channels * height * width, 512)
    return layers, 512


def _small(channels: int, height: int, width: int) -> tuple[list[Layer], int]:
    """Returns up to three convolutions of 3 x 3 pixels, as many as fit, and the width of the dense layer
    after them. Their stride is 2 while the image has at least 12 x 12 pixels, then 1."""
    if min(height, width) < SMALL_MIN_PIXELS:
        raise ConfigError(
            f"policy.cnn: small needs images of at least {SMALL_MIN_PIXELS} x {SMALL_MIN_PIXELS} pixels; "
            f"these have {height} x {width}",
            fix="set policy.cnn=impala",
        )
    layers: list[Layer] = []
    for n in (32, 64, 64):
        if min(height, width) < 3:
            break
        stride = 2 if min(height, width) >= 12 else 1
        layers += [Conv(channels, n, 3, stride), Activation("relu")]
        channels = n
        height, width = ((size - 3) // stride + 1 for size in (height, width))  # no padding
    layers += _dense(channels * height * width, 256)
    return layers, 256


def _impala(channels: int, height: int, width: int) -> tuple[list[Layer], int]:
    """Returns the residual CNN of IMPALA (arXiv:1802.01561, figure 3, without its LSTM) and its width."""
    layers: list[Layer] = []
    for n in (16, 32, 32):
        layers += [Conv(channels, n, 3, padding=1), MaxPool(3, 2, padding=1)]
        layers += [_block(n), _block(n)]
        channels = n
        height, width = ((size + 1) // 2 for size in (height, width))  # pooling with stride 2
    layers += [Activation("relu"), *_dense(channels * height * width, 256)]
    return layers, 256


_CNNS = {"nature": _nature, "small": _small, "impala": _impala}
"""Value of `policy.cnn` -> its layers for an image of so many channels, rows and columns, and their width."""


def _block(n: int) -> Residual:
    """Returns a residual block with n channels: two convolutions, each after a ReLU."""
    # the second gain is below 1: otherwise six residual blocks in a row would amplify their input
    first, second = Conv(n, n, 3, padding=1), Conv(n, n, 3, padding=1, gain=0.5)
    return Residual((Activation("relu"), first, Activation("relu"), second))


def _dense(n_in: int, n_out: int) -> list[Layer]:
    return [Flatten(), Linear(n_in, n_out, gain=GAIN), Activation("relu")]


def _has_images(obs: Observation) -> bool:
    """Returns whether the observation is an image or contains one."""
    return isinstance(obs, ImageObs) or (
        isinstance(obs, CompositeObs)
        and any(isinstance(leaf, ImageObs) for leaf in obs.leaves.values())
    )
