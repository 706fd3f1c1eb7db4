"""Memory cells: the parameters, the state and one step of each kind of recurrent layer, in NumPy.

The state of a layer is one row of float32 per copy. Its first `n_out` numbers are the hidden state h, which
is also the layer's output; an LSTM appends its cell state c. `engine/torch/recurrent.py` has the same
cells for autograd, and `native/recurrent.hpp` for the native engine; tests compare all three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.config.memory_spec import CellName

Array = np.ndarray
Step = Callable[[Array, Array, Mapping[str, Array]], Array]
"""A function of the input projection [B, gates * n], the state [B, k * n] and the layer's parameters by name
that returns the state after the step."""


@dataclass(frozen=True)
class Cell:
    """A kind of memory cell."""

    gates: int
    """Number of blocks of `n_out` columns in the weights."""
    vectors: int
    """Number of vectors of `n_out` numbers in the state; the first is the output."""
    step: Step
    extra: tuple[str, ...] = ()
    """Names of further parameters of `n_out` numbers each."""
    open_gate: int | None = None
    """The gate whose bias starts at 1 and not at 0, so that the state is kept at first."""


def lstm_step(projection: Array, state: Array, weights: Mapping[str, Array]) -> Array:
    """Returns the next state (h, c) of an LSTM (Hochreiter & Schmidhuber 1997, with the forget gate of Gers
    et al. 2000). Gates are in the order input, forget, candidate, output, as in torch."""
    n = state.shape[1] // 2
    hidden, cell = state[:, :n], state[:, n:]
    gates = projection + hidden @ weights["recurrent"]
    opened = sigmoid(gates)  # of all four blocks: cheaper than slicing out the candidate
    following = np.empty_like(state)
    c = following[:, n:]
    np.multiply(opened[:, n : 2 * n], cell, out=c)
    c += opened[:, :n] * np.tanh(gates[:, 2 * n : 3 * n])
    np.multiply(opened[:, 3 * n :], np.tanh(c), out=following[:, :n])
    return following


def gru_step(projection: Array, state: Array, weights: Mapping[str, Array]) -> Array:
    """Returns the next state h of a GRU (arXiv:1406.1078, in the variant of cuDNN and torch, in which the
    reset gate acts on the product with the recurrent weights). Gates: reset, update, candidate."""
    n = state.shape[1]
    recurrent = state @ weights["recurrent"]
    opened = sigmoid(projection[:, : 2 * n] + recurrent[:, : 2 * n])
    reset, update = opened[:, :n], opened[:, n:]
    inner = recurrent[:, 2 * n :] + weights["recurrent_bias"]
    candidate = np.tanh(projection[:, 2 * n :] + reset * inner)
    return candidate + update * (state - candidate)


def sigmoid(x: Array) -> Array:
    """Returns 1 / (1 + e^-x), as tanh(x / 2) / 2 + 1 / 2, which cannot overflow."""
    half = np.tanh(x * np.float32(0.5))
    half *= np.float32(0.5)
    half += np.float32(0.5)
    return half


CELLS: dict[CellName, Cell] = {
    "lstm": Cell(gates=4, vectors=2, step=lstm_step, open_gate=1),
    "gru": Cell(gates=3, vectors=1, step=gru_step, extra=("recurrent_bias",)),
}
