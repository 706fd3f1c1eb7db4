"""The network: trunk, activation, heads."""

from __future__ import annotations

from typing import Literal

from gymnast.config.numbers import Count, Number, Switch
from gymnast.config.section import Section


class PolicyConfig(Section):
    hidden: tuple[Count, ...] = (64, 64)
    """Width of each hidden layer."""
    activation: Literal["tanh", "relu"] = "tanh"
    """What follows each hidden layer."""
    shared: Switch = False
    """One trunk for actor and critic instead of one each."""
    layer_norm: Switch = False
    """Normalise each hidden layer before its activation."""
    embedding: Count = 64
    """Width of the embedding of a Discrete observation."""
    log_std: Number = 0.0
    """Initial logarithm of the standard deviation of continuous actions."""
