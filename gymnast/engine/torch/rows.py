"""Reads minibatches of rows from the features of a rollout, with images in channels-last format."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from gymnast.engine.torch.fast_ops import gather_images
from gymnast.engine.torch.layers import channels_last
from gymnast.images import Images, ObsArray
from gymnast.policy.layers import Network, Pixels

RowReader = Callable[[Tensor], Tensor]
"""A function from row indices [b] to the features of these rows, [b, ...]."""


def row_reader(network: Network, features: ObsArray) -> RowReader:
    """Returns a reader of rows. Work that does not depend on the selected rows is done here, once."""
    match network.shared[:1]:
        case (Pixels(shape=(_, _, _)) as layer,) if isinstance(features, Images):
            return _image_reader(layer, features)
        case (Pixels(shape=(_, _, _), channels="first") as layer,):
            rows = channels_last(layer, torch.from_numpy(np.asarray(features)))
            pixels = rows.permute(
                0, 2, 3, 1
            )  # contiguous [B, height, width, channels]: rows copy fast
            return lambda index: pixels.index_select(0, index).permute(0, 3, 1, 2)
    rows = torch.from_numpy(np.asarray(features))
    return lambda index: rows.index_select(0, index)  # copies whole rows; rows[index] copies bytes


def _image_reader(layer: Pixels, images: Images) -> RowReader:
    """Returns a reader that gathers images from their shared planes, in channels-last format."""
    plane, plane_index = map(torch.from_numpy, (images.plane, np.ascontiguousarray(images.index)))

    def read(index: Tensor) -> Tensor:
        rows = gather_images(plane, plane_index, index)
        return rows.permute(0, 3, 1, 2) if layer.channels == "first" else rows

    return read
