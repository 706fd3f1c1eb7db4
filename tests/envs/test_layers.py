"""Observation wrappers: kept entries, image preprocessing, one-hot encoding."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.resolve import resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.build.open import open_envs
from gymnast.errors import EnvError
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.spaces.spaces import convert_obs_space


class Shown(gym.Env[Any, Any]):
    """Returns random images, a speed, category indices and a word as observation."""

    def __init__(self, alone: str = "") -> None:
        self.alone = alone
        spaces = gym.spaces
        every: dict[str, gym.Space[Any]] = {
            "camera": spaces.Box(0, 255, (6, 4, 3), np.uint8),
            "grey": spaces.Box(0, 255, (4, 8), np.uint8),
            "screen": spaces.Box(0, 255, (6, 4, 1), np.uint8),
            "speed": spaces.Box(-1.0, 1.0, (2,), np.float32),
            "things": spaces.Box(0, 255, (2, 3, 2), np.uint8),
            "word": spaces.Text(3),
        }
        self.action_space = spaces.Discrete(2)
        self.observation_space = every[alone] if alone else spaces.Dict(every)

    def _obs(self) -> Any:
        draw = self.np_random
        every = {
            "camera": draw.integers(256, size=(6, 4, 3), dtype=np.uint8),
            "grey": draw.integers(256, size=(4, 8), dtype=np.uint8),
            "screen": draw.integers(256, size=(6, 4, 1), dtype=np.uint8),
            "speed": draw.uniform(-1, 1, 2).astype(np.float32),
            "things": draw.integers((3, 5), size=(2, 3, 2)).astype(np.uint8),
            "word": "yes",
        }
        return every[self.alone] if self.alone else every

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        return self._obs(), 0.0, False, False, {}


def both(alone: str = "", **settings: Any) -> tuple[gym.Env, list[tuple[Any, Any]]]:
    """Returns the wrapped environment, and pairs of observations with and without the wrappers."""
    env = make_env(EnvConfig(id=f"py:{__name__}:Shown", kwargs={"alone": alone}, **settings))
    bare = Shown(alone)
    seen = [(env.reset(seed=3)[0], bare.reset(seed=3)[0])]
    seen += [(env.step(0)[0], bare.step(0)[0]) for _ in range(5)]
    assert all(env.observation_space.contains(ours) for ours, _ in seen)
    return env, seen


def test_kept_entries_are_unchanged_and_the_others_are_dropped():
    _, seen = both(keep=("speed", "camera"))
    for ours, whole in seen:
        assert ours.keys() == {"speed", "camera"}
        assert all(np.array_equal(ours[name], whole[name]) for name in ours)


def test_a_single_kept_entry_is_the_observation_itself():
    env, seen = both(keep=("speed",))
    assert isinstance(env.observation_space, gym.spaces.Box)
    assert all(np.array_equal(ours, whole["speed"]) for ours, whole in seen)


def test_hidden_components_are_left_out_and_the_names_of_the_others_follow():
    cfg = resolve(
        "CartPole-v1", {"env.hide": [3, 1], "env.stack": 2, "env.backend": "inprocess"}
    ).config
    env, bare = make_env(cfg.env), make_env(cfg.env.model_copy(update={"hide": (), "stack": 1}))
    ours, whole = env.reset(seed=3)[0], bare.reset(seed=3)[0]
    assert np.array_equal(ours.reshape(2, 2)[-1], whole[[0, 2]])
    space = convert_obs_space(env.observation_space)
    named = facts_for_policy_obs(cfg.facts, cfg.env, space).observations
    assert [part.name for part in named] == [
        *("cart position 1 step ago", "pole angle 1 step ago", "cart position", "pole angle")
    ]
    alone = facts_for_policy_obs(
        cfg.facts,
        cfg.env.model_copy(update={"stack": 1}),
        convert_obs_space(gym.spaces.Box(-1.0, 1.0, (2,))),
    )
    assert [part.unit for part in alone.observations] == ["m", "rad"]


@pytest.mark.parametrize("name", ["camera", "grey", "screen"])
def test_downscaling_averages_blocks_of_pixels(name: str):
    size = [2, 4] if name == "grey" else [3, 2]
    color = "rgb" if name == "camera" else "gray"
    settings = {"view": "image", "stack": 1, "image": {"size": size, "color": color}}
    _, seen = both(keep=(name,), **settings)
    for ours, whole in seen:
        image = whole[name].reshape(*whole[name].shape[:2], -1).astype(float)
        height, width, channels = image.shape
        squares = image.reshape(height // 2, 2, width // 2, 2, channels).mean(axis=(1, 3))
        expected = np.rint(squares if color == "gray" else np.moveaxis(squares, -1, 0))
        assert np.array_equal(ours, expected.reshape(ours.shape))


def test_every_image_of_a_dict_is_processed_and_the_rest_is_unchanged():
    picture = {"view": "image", "stack": 1, "image": {"size": [2, 2]}}
    _, alone = both(keep=("grey",), **picture)
    _, seen = both(keep=("grey", "camera", "speed"), **picture)
    for (ours, whole), (grey, _) in zip(seen, alone, strict=True):
        assert np.array_equal(ours["grey"], grey)
        assert ours["camera"].shape == (2, 2)
        assert np.array_equal(ours["speed"], whole["speed"])


def test_each_category_index_becomes_a_one_hot_vector():
    _, seen = both(keep=("things",), one_hot=(3, 5))
    for ours, whole in seen:
        expected = [
            np.eye(n)[k]
            for row in whole["things"].reshape(-1, 2)
            for k, n in zip(row, (3, 5), strict=True)
        ]
        assert np.array_equal(ours, np.concatenate(expected))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"keep": ("sped",)},
            "env.keep: .* has no entry sped\n.*its entries are camera, grey, screen, speed",
        ),
        ({"alone": "speed", "keep": ("speed",)}, "env.keep: .* not a Dict"),
        ({"alone": "speed", "view": "image"}, "env.view: .* not uint8 images"),
        ({"keep": ("speed", "word"), "view": "image"}, "env.view: .* not uint8 images"),
        ({"alone": "camera", "view": "image"}, "env.image.size: a cropped image has 6 x 4 pixels"),
        ({"alone": "camera", "hide": (0,)}, "env.hide: .* not a vector"),
        ({"alone": "speed", "hide": (0, 99)}, "env.hide: .* cannot be hidden"),
        ({"alone": "speed", "one_hot": (2, 2)}, "env.one_hot: .* category indices"),
        ({"alone": "things", "one_hot": (3, 5, 1)}, "env.one_hot: .* 3 along the last axis"),
        (
            {"alone": "things", "one_hot": (3, 2)},
            r"env.one_hot: .* too large for env.one_hot \[3, 2\]",
        ),
    ],
)
def test_impossible_wrapper_settings_are_refused_with_their_key(
    settings: dict[str, Any], message: str
):
    with pytest.raises(EnvError, match=message):
        both(**settings)


def test_a_native_vector_refuses_wrappers_with_their_key():
    cfg = EnvConfig(id="CartPole-v1", backend="vector", keep=("speed",))
    with pytest.raises(EnvError, match=r"env\.keep"):
        open_envs(cfg, limit=EpisodeLimit(), on_output=print)


def test_an_unreadable_entry_is_named_with_the_entries_to_keep():
    with pytest.raises(EnvError) as refused:
        convert_obs_space(Shown().observation_space)
    assert "entry word: Text observations" in str(refused.value)
    assert "fix: leave it out: --set 'env.keep=[camera, grey, screen, speed, things]'" in str(
        refused.value
    )
