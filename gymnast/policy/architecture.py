"""Which network for which spaces: an encoder per kind of observation, hidden layers, two heads."""

from __future__ import annotations

import numpy as np

from gymnast.config.sections.policy import PolicyConfig
from gymnast.errors import ConfigError
from gymnast.policy.layers import (
    Activation,
    Conv,
    Embedding,
    Flatten,
    Float32,
    Free,
    Layer,
    LayerNorm,
    Linear,
    MaxPool,
    Network,
    OwnModule,
    Parallel,
    Pixels,
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
NATURE_LEAST = 36
"""Pixels along the shorter side that three unpadded convolutions need."""


def network_for(
    obs: Observation, n_outputs: int, cfg: PolicyConfig, *, free: Free, critic: bool
) -> Network:
    """Encoder, hidden layers and heads for actor and critic, with one trunk or two. A near-zero
    actor head starts the policy close to uniform. Images are encoded once, for both."""
    if cfg.module is not None:
        own = OwnModule(cfg.module, dict(cfg.module_kwargs), obs, n_outputs)
        return Network((), (), (), free, own)
    encoder, width = encode(obs, cfg)
    hidden, last = mlp(width, cfg)
    actor: Stack = (Linear(last, n_outputs, gain=0.01),)
    value: Stack = (Linear(last, 1, gain=1.0),) if critic else ()
    if cfg.shared:
        return Network(encoder + hidden, actor, value, free)
    apart, together = (hidden, encoder) if _sees_images(obs) else (encoder + hidden, ())
    return Network(together, apart + actor, apart + value if critic else (), free)


def encode(obs: Observation, cfg: PolicyConfig) -> tuple[Stack, int]:
    """The layers that turn features of this kind into one vector, and its width."""
    match obs:
        case BoxObs():
            return (), obs.size
        case DiscreteObs(n):
            return (Embedding(n, cfg.embedding),), cfg.embedding
        case MultiDiscreteObs(_, n):
            return (Embedding(sum(n), cfg.embedding), Flatten()), len(n) * cfg.embedding
        case ImageObs():
            return cnn(obs, cfg)
        case CompositeObs():
            encoders = {name: _entry(leaf, obs, cfg) for name, leaf in obs.leaves.items()}
            branches = tuple((name, stack) for name, (stack, _) in encoders.items())
            return (Parallel(obs.dtype, branches),), sum(width for _, width in encoders.values())


def _entry(leaf: Observation, whole: CompositeObs, cfg: PolicyConfig) -> tuple[Stack, int]:
    """A vector beside an image is widened, or a few numbers would drown among hundreds."""
    if not isinstance(leaf, BoxObs):
        return encode(leaf, cfg)
    if not _sees_images(whole):
        return (Flatten(),), leaf.size
    widen = Linear(leaf.size, cfg.embedding, gain=GAIN)
    return (Flatten(), widen, Activation("relu")), cfg.embedding


def mlp(width: int, cfg: PolicyConfig) -> tuple[Stack, int]:
    """The hidden layers, and the width of the last."""
    layers: list[Layer] = []
    for n in cfg.hidden:
        layers.append(Linear(width, n, gain=GAIN))
        if cfg.layer_norm:
            layers.append(LayerNorm(n))
        layers.append(Activation(cfg.activation))
        width = n
    return tuple(layers), width


def cnn(image: ImageObs, cfg: PolicyConfig) -> tuple[Stack, int]:
    assert image.channels != "unknown"
    channels, height, width = image.planes
    kind = cfg.cnn
    if kind == "auto":
        kind = "nature" if min(height, width) >= NATURE_LEAST else "impala"
    pixels = Pixels(image.shape, image.channels, image.top, cfg.precision)
    body = _nature if kind == "nature" else _impala
    layers, dense = body(channels, height, width)
    back = () if cfg.precision == "float32" else (Float32(),)
    return (pixels, *layers, *back), dense


def _nature(channels: int, height: int, width: int) -> tuple[list[Layer], int]:
    """Mnih et al. 2015, https://www.nature.com/articles/nature14236"""
    if min(height, width) < NATURE_LEAST:
        raise ConfigError(
            f"policy.cnn: nature needs images of at least {NATURE_LEAST} x {NATURE_LEAST} pixels; "
            f"these have {height} x {width}",
            fix="set policy.cnn=impala",
        )
    layers: list[Layer] = []
    for n, kernel, stride in ((32, 8, 4), (64, 4, 2), (64, 3, 1)):
        layers += [Conv(channels, n, kernel, stride), Activation("relu")]
        channels = n
        height, width = ((size - kernel) // stride + 1 for size in (height, width))
    layers += _dense(channels * height * width, 512)
    return layers, 512


def _impala(channels: int, height: int, width: int) -> tuple[list[Layer], int]:
    """Espeholt et al. 2018, arXiv:1802.01561, figure 3, without its LSTM."""
    layers: list[Layer] = []
    for n in (16, 32, 32):
        layers += [Conv(channels, n, 3, padding=1), MaxPool(3, 2, padding=1)]
        layers += [_block(n), _block(n)]
        channels = n
        height, width = ((size + 1) // 2 for size in (height, width))
    layers += [Activation("relu"), *_dense(channels * height * width, 256)]
    return layers, 256


def _block(n: int) -> Residual:
    # smaller than the path around it, so that six in a row do not blow up what they carry
    convolve = (Conv(n, n, 3, padding=1), Conv(n, n, 3, padding=1, gain=0.5))
    return Residual((Activation("relu"), convolve[0], Activation("relu"), convolve[1]))


def _dense(n_in: int, n_out: int) -> list[Layer]:
    return [Flatten(), Linear(n_in, n_out, gain=GAIN), Activation("relu")]


def _sees_images(obs: Observation) -> bool:
    return isinstance(obs, ImageObs) or (
        isinstance(obs, CompositeObs)
        and any(isinstance(leaf, ImageObs) for leaf in obs.leaves.values())
    )
