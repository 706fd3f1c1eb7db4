"""The features of a rollout as an update reads them: some rows at a time, images laid out in memory
as convolutions want them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.torch.layers import channels_last
from gymnast.engine.torch.quick import side_by_side
from gymnast.images import Images, Observed
from gymnast.policy.layers import Network, Pixels

Chosen = Callable[[Tensor], Tensor]
"""From the numbers of rows to these rows, [b, ...]."""


def ready(network: Network, features: Observed) -> Chosen:
    """What does not depend on the rows that are chosen is done once."""
    match network.shared[:1]:
        case (Pixels(shape=(_, _, _)) as layer,) if isinstance(features, Images):
            return _put_together(layer, features)
        case (Pixels(shape=(_, _, _), channels="first") as layer,):
            rows = channels_last(layer, torch.from_numpy(np.asarray(features)))
            pixels = rows.permute(0, 2, 3, 1)
            return lambda index: pixels.index_select(0, index).permute(0, 3, 1, 2)
    rows = torch.from_numpy(np.asarray(features))
    return lambda index: rows.index_select(0, index)  # row by row; rows[index] goes byte by byte


def _put_together(layer: Pixels, images: Images) -> Chosen:
    """From planes that are kept once, straight to pixels with their channels side by side."""
    plane, numbers = map(torch.from_numpy, (images.plane, np.ascontiguousarray(images.index)))

    def chosen(index: Tensor) -> Tensor:
        rows = side_by_side(plane, numbers, index)
        return rows.permute(0, 3, 1, 2) if layer.channels == "first" else rows

    return chosen
