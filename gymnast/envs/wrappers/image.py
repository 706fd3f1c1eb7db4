"""Image preprocessing: crops, converts to grayscale and downscales; the result has channels first.

In a Dict observation, every entry that is an image is processed.
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.image import ImageConfig
from gymnast.envs.env_types import Env, dict_obs
from gymnast.errors import EnvError

Array = np.ndarray
_BRIGHTNESS = np.array([0.299, 0.587, 0.114], np.float32)
"""Weights of red, green and blue in the luminance (ITU-R BT.601)."""


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment with processed images. Raises EnvError if its observations contain none."""
    space = env.observation_space
    # A plain image is treated as a Dict with one unnamed entry.
    entries = space.spaces if isinstance(space, gym.spaces.Dict) else {"": space}
    transforms = {
        name: _transform(entry.shape or (), cfg)
        for name, entry in entries.items()
        if _is_image(entry)
    }
    if not transforms:
        what = (
            f"{cfg.id} has observations {space}, not uint8 images [height, width] or [..., 1 or 3]"
        )
        raise EnvError(what, at="env.view", fix="set env.view=raw")
    if not isinstance(space, gym.spaces.Dict):
        (only,) = transforms.values()
        return gym.wrappers.TransformObservation(env, only, only.space)

    def process(obs: object) -> dict[str, object]:
        given = dict_obs(obs)
        return {**given, **{name: transform(given[name]) for name, transform in transforms.items()}}

    after = entries | {name: transform.space for name, transform in transforms.items()}
    return gym.wrappers.TransformObservation(env, process, gym.spaces.Dict(after))


def _is_image(space: gym.Space[object]) -> bool:
    shape = space.shape or ()
    return space.dtype == np.uint8 and len(shape) in (2, 3) and shape[2:] in ((), (1,), (3,))


def _transform(shape: tuple[int, ...], cfg: EnvConfig) -> ImageTransform:
    """Returns the preprocessing for images of this shape. Raises EnvError for settings that do not fit."""
    image = cfg.image
    if image.color == "rgb" and shape[2:] != (3,):
        raise EnvError(f"the images of {cfg.id} have no RGB channels", at="env.image.color")
    top, bottom, left, right = image.crop
    height, width = shape[0] - top - bottom, shape[1] - left - right
    if height < image.size[0] or width < image.size[1]:
        what = f"a cropped image has {height} x {width} pixels, less than {list(image.size)}"
        raise EnvError(
            what, at="env.image.size", fix="make env.image.size or env.image.crop smaller"
        )
    return ImageTransform(image, (height, width))


class ImageTransform:
    """The preprocessing of one image."""

    def __init__(self, image: ImageConfig, cropped: tuple[int, int]) -> None:
        top, _, left, _ = image.crop
        self._crop = slice(top, top + cropped[0]), slice(left, left + cropped[1])
        self._gray = image.color == "gray"
        self._rows, self._columns = map(_AreaWeights, cropped, image.size)
        shape = tuple(image.size) if self._gray else (3, *image.size)
        self.space = gym.spaces.Box(0, 255, shape, np.uint8)

    def __call__(self, obs: object) -> Array:
        """Returns the processed image, uint8 [height, width] in gray or [3, height, width] in color, for an
        image [height, width] or [height, width, channels]."""
        pixels = np.asarray(obs)[self._crop]  # [height, width] or [height, width, channels]
        if pixels.shape[2:] == (1,):
            pixels = pixels[..., 0]
        if self._gray and pixels.ndim == 3:
            pixels = np.rint(pixels @ _BRIGHTNESS).astype(np.uint8)
        if pixels.ndim == 3:
            pixels = np.moveaxis(pixels, -1, 0)  # channels first
        if pixels.shape == self.space.shape:
            return np.ascontiguousarray(pixels)
        # Columns before rows, and one rounding at the end, as OpenCV does.
        narrowed = self._columns.downscale(pixels.astype(np.float32), -1)
        return np.rint(self._rows.downscale(narrowed, -2)).astype(np.uint8)


class _AreaWeights:
    """Area interpolation along one axis: a new pixel is the mean of the old pixels that it covers.

    The order of additions is that of OpenCV's INTER_AREA, which ALE's vectorized games use, so that the
    results are identical.
    """

    def __init__(self, n: int, smaller: int) -> None:
        covers = [_covered(i, n / smaller, n) for i in range(smaller)]
        longest = max(map(len, covers))
        # All covers get the same length, with weight 0, so that `downscale` can add whole arrays.
        padded = [cover + [(cover[-1][0], 0.0)] * (longest - len(cover)) for cover in covers]
        # [longest, smaller]: for each new pixel, its old pixels and their weights in order
        self._index = np.array([[at for at, _ in cover] for cover in padded]).T
        self._weight = np.array([[weight for _, weight in cover] for cover in padded], np.float32).T

    def downscale(self, pixels: Array, axis: int) -> Array:
        """Returns the image downscaled along this axis (-1 or -2)."""
        weight = self._weight if axis == -1 else self._weight[:, :, None]
        total = pixels.take(self._index[0], axis)
        total *= weight[0]
        for index, part in zip(self._index[1:], weight[1:], strict=True):
            piece = pixels.take(index, axis)
            piece *= part
            total += piece
        return total


def _covered(i: int, scale: float, n: int) -> list[tuple[int, float]]:
    """Returns (old pixel, weight) for the old pixels that the new pixel i covers. `scale`: old pixels per new
    pixel; `n`: number of old pixels."""
    first, last = i * scale, (i + 1) * scale
    width = min(scale, n - first)
    begin, end = int(np.ceil(first)), min(int(np.floor(last)), n - 1)
    begin = min(begin, end)
    # A part of the first pixel, whole pixels, and a part of the last one. OpenCV ignores parts of less
    # than 1e-3 of a pixel.
    cover = [(begin - 1, (begin - first) / width)] if begin - first > 1e-3 else []
    cover += [(at, 1.0 / width) for at in range(begin, end)]
    if last - end > 1e-3:
        cover.append((end, min(last - end, 1.0, width) / width))
    return cover
