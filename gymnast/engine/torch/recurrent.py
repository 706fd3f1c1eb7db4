"""Recurrent layers over sequences, for autograd. `policy/cells.py` has the same cells in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from gymnast.config.memory_spec import CellName
from gymnast.policy.layers import Network, Recurrent

Vectors = tuple[Tensor, ...]
"""The state of one layer: vectors [M, n_out], the hidden state h first."""
Step = Callable[[Tensor, Vectors, Mapping[str, Tensor]], Vectors]


def lstm_step(projection: Tensor, state: Vectors, weights: Mapping[str, Tensor]) -> Vectors:
    """Returns (h, c) after one step; `projection` [M, 4 n]: the part of the gates that depends on the
    input."""
    hidden, cell = state
    gates = torch.addmm(projection, hidden, weights["recurrent"])
    i, f, g, o = gates.chunk(4, -1)
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


def gru_step(projection: Tensor, state: Vectors, weights: Mapping[str, Tensor]) -> Vectors:
    """Returns (h,) after one step; `projection` [M, 3 n]: the part of the gates that depends on the input."""
    (hidden,) = state
    x_r, x_z, x_n = projection.chunk(3, -1)
    h_r, h_z, h_n = (hidden @ weights["recurrent"]).chunk(3, -1)
    candidate = torch.tanh(x_n + torch.sigmoid(x_r + h_r) * (h_n + weights["recurrent_bias"]))
    return (candidate + torch.sigmoid(x_z + h_z) * (hidden - candidate),)


STEPS: dict[CellName, Step] = {"lstm": lstm_step, "gru": gru_step}


class SequenceTensors(NamedTuple):
    """M sequences of L steps, without their features."""

    state: Tensor
    """Policy states before the first step, [M, S]."""
    start: Tensor
    """Steps before which the state is reset, because an episode starts, [L, M]."""
    detached: Tensor
    """Steps that pass no gradient to the state before them, [L, M]."""


class SequenceMemory:
    """The states of all recurrent layers during a forward pass over M sequences of L steps."""

    def __init__(
        self,
        network: Network,
        state: Tensor,
        start: Tensor | None = None,
        detached: Tensor | None = None,
    ) -> None:
        """`state`: policy states before the first step, [M, S]; `start` [L, M]: steps before which the state
        is reset, because an episode starts; None for a single step without any. `detached` [L, M]: steps
        that pass no gradient to the state before them; None for none."""
        self._slices, self._state = network.state_slices, state
        self._after: dict[str, Tensor] = {}
        self._length = 1 if start is None else len(start)
        self._resets: list[Tensor | None] = [None] * self._length
        """Factors [M, 1] of the state before each step, 0 where an episode starts; None if none does."""
        if start is not None:
            any_starts = start.any(1).tolist()
            keep = (~start).to(state.dtype).unsqueeze(-1)
            self._resets = [keep[t] if any_starts[t] else None for t in range(self._length)]
        self._cuts: list[Tensor | None] = [None] * self._length
        """Flags [M, 1] of the states before each step that get no gradient; None if all do."""
        if detached is not None:
            for t in (
                detached[1:].any(1).nonzero()[:, 0] + 1
            ).tolist():  # the first states are constants
                self._cuts[t] = detached[t].unsqueeze(-1)

    def run(self, name: str, layer: Recurrent, x: Tensor, tensors: Mapping[str, Tensor]) -> Tensor:
        """Returns the output [L * M, n_out] of a recurrent layer for its input x [L * M, n_in], in
        time-major order."""
        own = {key: tensors[f"{name}.{key}"] for key in ("recurrent", *layer.cell.extra)}
        # The input weights do not depend on the state: one product for all steps.
        projection = torch.addmm(tensors[f"{name}.bias"], x, tensors[f"{name}.weight"])
        inputs = projection.view(self._length, -1, projection.shape[1])
        state: Vectors = self._state[:, self._slices[name]].split(layer.n_out, -1)
        outputs: list[Tensor] = []
        for t, (keep, cut) in enumerate(zip(self._resets, self._cuts, strict=True)):
            if keep is not None:
                state = tuple(vector * keep for vector in state)
            if cut is not None:
                state = tuple(torch.where(cut, vector.detach(), vector) for vector in state)
            state = STEPS[layer.kind](inputs[t], state, own)
            outputs.append(state[0])
        self._after[name] = torch.cat(state, -1)
        return torch.cat(outputs)

    def after(self) -> Tensor:
        """Returns the policy states after the last step, [M, S]."""
        return torch.cat([self._after[name] for name in self._slices], -1)
