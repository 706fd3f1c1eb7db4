"""The features of a rollout as an update reads them: all made ready once, some rows at a time."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.torch.layers import channels_last
from gymnast.policy.layers import Network, Pixels


def ready(network: Network, features: np.ndarray) -> Tensor:
    """[B, ...] as they are, but images that come with channels first lie in memory as convolutions
    want them: that would be done again for every minibatch otherwise."""
    rows = torch.from_numpy(features)
    match network.shared[:1]:
        case (Pixels(shape=(_, _, _), channels="first") as layer,):
            return channels_last(layer, rows)
    return rows


def chosen(rows: Tensor, index: Tensor) -> Tensor:
    """Rows [b, ...] by their numbers, laid out in memory like the others."""
    if rows.is_contiguous():
        return rows.index_select(0, index)  # row by row; rows[index] goes byte by byte
    return rows.permute(0, 2, 3, 1).index_select(0, index).permute(0, 3, 1, 2)
