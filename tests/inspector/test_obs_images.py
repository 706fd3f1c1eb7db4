"""The image that the network reads, as pictures: compared with the observation by decoding them."""

from __future__ import annotations

import base64
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from gymnast.errors import UsageError
from gymnast.inspector.decision_record import ObsImage
from gymnast.inspector.obs_images import named_pictures, obs_images
from gymnast.inspector.obs_parts import image_part
from tests.inspector.test_attribution import episode_of, setting_of


def decoded(image: ObsImage) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(base64.b64decode(image.picture))))


@pytest.mark.parametrize("obs", ["image", "grey image", "parts"])
def test_an_image_is_one_picture_with_its_pixels(obs: str):
    episode = episode_of(setting_of(obs))
    part = image_part(episode.policy.obs_space) if episode.policy else None
    assert part is not None
    for step in (0, 4, 9):
        found = obs_images(episode, step=step)
        assert (found.height, found.width) == (6, 8)
        (image,) = found.images
        assert image.name == ""
        pixels = part.pixels(episode.replay.obs[step : step + 1])[0]
        assert np.array_equal(decoded(image), np.broadcast_to(pixels, (6, 8, 3)))


def test_the_frames_of_a_stack_are_pictures_from_the_oldest_to_the_newest():
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 12), np.uint8)
    gray = named_pictures(pixels[:, :, :4], 4)
    assert list(gray) == ["-3", "-2", "-1", "now"]
    for i, picture in enumerate(gray.values()):
        assert all(np.array_equal(picture[:, :, c], pixels[:, :, i]) for c in range(3))
    colored = named_pictures(pixels, 4)
    assert list(colored) == list(gray)
    assert np.array_equal(colored["now"], pixels[:, :, 9:])


def test_other_channels_than_red_green_and_blue_are_pictures_of_their_own():
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 4), np.uint8)
    assert list(named_pictures(pixels, 1)) == [f"channel {i}" for i in range(4)]
    assert list(named_pictures(pixels, 2)) == [
        *("channel 0 -1", "channel 1 -1", "channel 0 now", "channel 1 now")
    ]
    # An environment that stacks by itself, in another number.
    assert len(named_pictures(pixels, 3)) == 4


def test_an_observation_without_an_image_has_no_pictures():
    assert obs_images(episode_of(setting_of()), step=0).images == []
    with pytest.raises(UsageError, match="no step 10"):
        obs_images(episode_of(setting_of("image")), step=10)
