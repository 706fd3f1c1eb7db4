"""The image that the network reads at a step, as pictures: one per stacked frame."""

from __future__ import annotations

import base64

import numpy as np

from gymnast.inspector.decision_record import ObsImage, ObsImages
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.episode_rollout import obs_space_of
from gymnast.inspector.obs_parts import image_part, obs_at
from gymnast.inspector.pictures import to_fast_png

Array = np.ndarray
RGB = 3


def obs_images(episode: OpenEpisode, *, step: int) -> ObsImages:
    """Returns the image of the observation before a step, or of the final one; no pictures if it has none.
    Raises UsageError if the observation is not known."""
    obs = obs_at(episode, step)
    space = obs_space_of(episode)
    part = None if space is None else image_part(space)
    if part is None:
        return ObsImages(width=0, height=0, images=[])
    # Only an observation that is nothing but an image is stacked by `env.stack`.
    stack = 1 if part.field else episode.config.env.stack
    pixels = part.pixels(obs)[0].astype(np.float32) * (255 / part.space.top)
    named = named_pictures(np.rint(pixels).astype(np.uint8), stack)
    height, width = pixels.shape[:2]
    images = [ObsImage(name, _png(picture)) for name, picture in named.items()]
    return ObsImages(width=width, height=height, images=images)


def named_pictures(pixels: Array, stack: int) -> dict[str, Array]:
    """Returns the pictures [H, W, 3] in an image [H, W, C], by name: the frames of a stack, oldest first, and
    each channel by itself unless they are red, green and blue. `stack`: number of stacked frames."""
    channels = pixels.shape[2]
    if channels % stack:  # stacked in another way, by the environment itself
        stack = 1
    size = channels // stack
    found: dict[str, Array] = {}
    for i in range(stack):
        frame = pixels[:, :, i * size : (i + 1) * size]
        age = "" if stack == 1 else "now" if i == stack - 1 else f"{i - stack + 1}"
        if size == RGB:
            found[age] = frame
            continue
        for channel in range(size):
            plane = "" if size == 1 else f"channel {channel}"
            found[" ".join(filter(None, (plane, age)))] = np.repeat(
                frame[:, :, channel : channel + 1], RGB, axis=2
            )
    return found


def _png(picture: Array) -> str:
    return base64.b64encode(to_fast_png(np.ascontiguousarray(picture))).decode()
