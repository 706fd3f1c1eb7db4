"""The settings in docs/noise.md work."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.config.source import Source
from gymnast.envs.build.make import make_env
from gymnast.envs.wrappers import enabled_wrappers

PAGE = (Path(__file__).parents[2] / "docs" / "noise.md").read_text()
SHOWN = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)


@pytest.mark.parametrize("text", SHOWN, ids=["noise", "randomize"])
def test_every_example_on_the_noise_page_can_be_played(text: str):
    cfg = resolve("LunarLander-v3", Source.parse(text).data).config.env
    env = make_env(cfg)
    assert enabled_wrappers(cfg)
    env.reset(seed=1)
    for _ in range(5):
        assert env.observation_space.contains(env.step(np.int64(2))[0])


def test_the_noise_page_names_every_kind_of_noise():
    noise = resolve("LunarLander-v3", Source.parse(SHOWN[0]).data).config.env.noise
    assert all(value not in (None, 0) for key, value in noise if key != "idle")
