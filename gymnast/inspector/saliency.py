"""Perturbation saliency of images (Greydanus et al. 2018, "Visualizing and Understanding Atari Agents").

Around each point of a grid, the image is blurred locally. The more the output of the network changes, the
more that part of the image mattered.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
_REFERENCE = 80.0
"""Side of the images in the paper, whose widths are scaled to the image at hand."""
_MASK_WIDTH, _BLUR_WIDTH, _SPACING = 5.0, 3.0, 5.0
"""Standard deviations of mask and blur, and the distance of grid points, in pixels of the paper."""
MAX_BATCH = 64
"""Number of images that are evaluated at once."""


def saliency(function: Callable[[Array], Array], image: Array) -> Array:
    """Returns the importance of each point of a grid over an image, half the squared change of the outputs,
    [rows, columns]. `function` maps images [B, H, W, C] uint8 to outputs
    [B, k]; `image`: [H, W, C] uint8. All channels (colors, stacked frames) are blurred together."""
    height, width, _ = image.shape
    scale = max(height, width) / _REFERENCE
    blurred = _blurred(image.astype(np.float32), max(1.0, _BLUR_WIDTH * scale))
    spacing, mask_width = max(1, round(_SPACING * scale)), max(0.5, _MASK_WIDTH * scale)
    rows, columns = (np.arange(spacing // 2, side, spacing) for side in (height, width))
    # A mask is the product of one Gaussian per axis.
    row_masks = _gaussians(rows, height, mask_width)  # [rows, H]
    column_masks = _gaussians(columns, width, mask_width)  # [columns, W]
    difference = blurred - image
    original = function(image[None]).astype(np.float64)
    changes: list[Array] = []
    points = [(r, c) for r in row_masks for c in column_masks]
    for first in range(0, len(points), MAX_BATCH):
        some = points[first : first + MAX_BATCH]
        masks = np.stack([np.multiply.outer(r, c) for r, c in some])[..., None]  # [B, H, W, 1]
        perturbed = np.clip(np.rint(image + masks * difference), 0, 255).astype(np.uint8)
        changes.append(function(perturbed).astype(np.float64) - original)
    values = 0.5 * (np.concatenate(changes) ** 2).sum(-1)
    return values.reshape(len(rows), len(columns))


def _gaussians(centers: Array, side: int, width: float) -> Array:
    """Returns Gaussians with maximum 1 at these pixels, [centers, side] float32."""
    distance = np.arange(side)[None] - centers[:, None]
    return np.exp(-0.5 * (distance / width) ** 2).astype(np.float32)


def _blurred(image: Array, width: float) -> Array:
    """Returns the image [H, W, C] blurred with a Gaussian; at the border, the mean of what is inside."""
    height, columns, _ = image.shape
    vertical = _gaussians(np.arange(height), height, width)
    horizontal = _gaussians(np.arange(columns), columns, width)
    vertical /= vertical.sum(1, keepdims=True)
    horizontal /= horizontal.sum(1, keepdims=True)
    return np.einsum("ij,jkc,lk->ilc", vertical, image, horizontal, optimize=True)
