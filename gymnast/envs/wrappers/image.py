"""Pictures as a network takes them: cropped, grey or in colour, shrunk; channels first. Of a Dict, every
entry that is a picture."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.image import ImageConfig
from gymnast.errors import EnvError

Array = np.ndarray
_BRIGHTNESS = np.array([0.299, 0.587, 0.114], np.float32)
"""Of red, green and blue (ITU-R BT.601)."""


def around(env: gym.Env[Any, Any], cfg: EnvConfig) -> gym.Env[Any, Any]:
    space = env.observation_space
    entries = space.spaces if isinstance(space, gym.spaces.Dict) else {"": space}
    pictures = {name: _picture(entry, cfg) for name, entry in entries.items() if _is_picture(entry)}
    if not pictures:
        what = f"{cfg.id} shows {space}, not pictures of bytes [height, width] or [..., 1 or 3]"
        raise EnvError(what, at="env.view", fix="set env.view=raw")
    if not isinstance(space, gym.spaces.Dict):
        (one,) = pictures.values()
        return gym.wrappers.TransformObservation(env, one, one.space)

    def prepared(shown: dict[str, Any]) -> dict[str, Any]:
        return shown | {name: picture(shown[name]) for name, picture in pictures.items()}

    after = entries | {name: picture.space for name, picture in pictures.items()}
    return gym.wrappers.TransformObservation(env, prepared, gym.spaces.Dict(after))


def _is_picture(space: gym.Space[Any]) -> bool:
    shape: Any = space.shape or ()
    return space.dtype == np.uint8 and len(shape) in (2, 3) and shape[2:] in ((), (1,), (3,))


def _picture(space: gym.Space[Any], cfg: EnvConfig) -> Picture:
    image = cfg.image
    shape: Any = space.shape
    if image.colour == "rgb" and shape[2:] != (3,):
        raise EnvError(f"the pictures of {cfg.id} have no colours", at="env.image.colour")
    top, bottom, left, right = image.crop
    height, width = shape[0] - top - bottom, shape[1] - left - right
    if height < image.size[0] or width < image.size[1]:
        what = f"{height} x {width} pixels are left of a picture, less than {list(image.size)}"
        raise EnvError(what, at="env.image.size", fix="make env.image.size or crop smaller")
    return Picture(image, (height, width))


class Picture:
    """What is made of one."""

    def __init__(self, image: ImageConfig, cropped: tuple[int, int]) -> None:
        top, _, left, _ = image.crop
        self._crop = slice(top, top + cropped[0]), slice(left, left + cropped[1])
        self._gray = image.colour == "gray"
        self._rows, self._columns = map(_Shares, cropped, image.size)
        shape = tuple(image.size) if self._gray else (3, *image.size)
        self.space = gym.spaces.Box(0, 255, shape, np.uint8)

    def __call__(self, shown: Array) -> Array:
        picture = shown[self._crop]
        if picture.shape[2:] == (1,):
            picture = picture[..., 0]
        if self._gray and picture.ndim == 3:
            picture = np.rint(picture @ _BRIGHTNESS).astype(np.uint8)
        if picture.ndim == 3:
            picture = np.moveaxis(picture, -1, 0)
        if picture.shape == self.space.shape:
            return np.ascontiguousarray(picture)
        narrow = self._columns.mixed(picture.astype(np.float32), -1)
        return np.rint(self._rows.mixed(narrow, -2)).astype(np.uint8)


class _Shares:
    """Shrinking along one axis: a new pixel is the mean of what it covers, in OpenCV's order of
    adding (INTER_AREA), by which ALE's vector shrinks its frames."""

    def __init__(self, n: int, fewer: int) -> None:
        covers = [_covered(i, n / fewer, n) for i in range(fewer)]
        most = max(map(len, covers))
        padded = [cover + [(cover[-1][0], 0.0)] * (most - len(cover)) for cover in covers]
        self._index = np.array([[at for at, _ in cover] for cover in padded]).T
        self._share = np.array([[share for _, share in cover] for cover in padded], np.float32).T

    def mixed(self, picture: Array, axis: int) -> Array:
        share = self._share if axis == -1 else self._share[:, :, None]
        total = picture.take(self._index[0], axis)
        total *= share[0]
        for index, part in zip(self._index[1:], share[1:], strict=True):
            piece = picture.take(index, axis)
            piece *= part
            total += piece
        return total


def _covered(i: int, scale: float, n: int) -> list[tuple[int, float]]:
    """The old pixels that the new pixel i covers, each with its share."""
    first, last = i * scale, (i + 1) * scale
    width = min(scale, n - first)
    begin, end = int(np.ceil(first)), min(int(np.floor(last)), n - 1)
    begin = min(begin, end)
    found = [(begin - 1, (begin - first) / width)] if begin - first > 1e-3 else []
    found += [(at, 1.0 / width) for at in range(begin, end)]
    if last - end > 1e-3:
        found.append((end, min(last - end, 1.0, width) / width))
    return found
