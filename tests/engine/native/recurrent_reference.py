"""Recurrent layers in float64, step by step, with torch's own LSTM and GRU cells."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.sequences import Sequences
from gymnast.policy.layers import Network, Recurrent

Weights = dict[str, Tensor]


class Unrolled:
    """Runs recurrent layers over some sequences of a batch, whose rows are in time-major order."""

    def __init__(self, network: Network, sequences: Sequences, chosen: np.ndarray) -> None:
        rows = sequences.rows(chosen).reshape(sequences.length, -1)
        self.start = torch.from_numpy(sequences.start)[rows]
        trained = np.cumsum(sequences.weight[rows], 0) > 0
        # [L, m]: the state that enters a step gets no gradient before the first step with a weight
        self.detached = torch.from_numpy(np.roll(~trained, 1, 0))
        self.state = torch.from_numpy(sequences.state[chosen].astype(np.float64))
        self.slices = network.state_slices

    def run(self, name: str, layer: Recurrent, weights: Weights, x: Tensor) -> Tensor:
        """Returns the outputs [L * m, n_out] of a layer for its inputs [L * m, n_in]."""
        vectors = self.state[:, self.slices[name]].split(layer.n_out, -1)
        outputs = []
        for t, step in enumerate(x.reshape(len(self.start), -1, layer.n_in)):
            zero, cut = self.start[t, :, None], self.detached[t, :, None]
            vectors = [torch.where(zero, torch.zeros_like(v), v) for v in vectors]
            vectors = [torch.where(cut, v.detach(), v) for v in vectors]
            vectors = _cell(name, layer, weights, step, vectors)
            outputs.append(vectors[0])
        return torch.cat(outputs)


def _cell(
    name: str, layer: Recurrent, weights: Weights, x: Tensor, state: list[Tensor]
) -> list[Tensor]:
    # torch stores weights [gates * n_out, n_in]
    own = [weights[f"{name}.{key}"].T for key in ("weight", "recurrent")]
    bias = weights[f"{name}.bias"]
    if layer.kind == "lstm":
        return list(torch.lstm_cell(x, state, *own, bias, torch.zeros_like(bias)))
    inner = torch.cat([bias.new_zeros(2 * layer.n_out), weights[f"{name}.recurrent_bias"]])
    return [torch.gru_cell(x, state[0], *own, bias, inner)]
