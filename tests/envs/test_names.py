"""Removed ids name their successor; non-numeric entries do not prevent training."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.defaults import resolve_for_spaces
from gymnast.envs.build.env_ids import preset_of
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError


@pytest.mark.parametrize(
    ("old", "what", "fix"),
    [
        ("Ant-v2", "Ant-v2 was removed; its successor is Ant-v5", "use Ant-v5"),
        ("Hopper-v3", "Hopper-v3 was removed; its successor is Hopper-v5", "use Hopper-v5"),
        ("LunarLander-v2", "its successor is LunarLander-v3", "use LunarLander-v3"),
        ("ALE/Pong-v4", "its successor is ALE/Pong-v5", "use ALE/Pong-v5"),
        ("CartPole-v7", "does not exist; the highest version is CartPole-v1", "use CartPole-v1"),
        (
            "PongNoFrameskip-v4",
            "is now ALE/Pong-v5, which repeats each action for env.frames_per_step=4 frames",
            "gymnast train ALE/Pong-v5 --set env.kwargs.repeat_action_probability=0",
        ),
        ("SpaceInvaders-v0", "is now ALE/SpaceInvaders-v5", "gymnast train ALE/SpaceInvaders-v5"),
        (
            "Breakout-ramDeterministic-v0",
            "is now ALE/Breakout-v5",
            "gymnast train ALE/Breakout-v5 --set env.view=ram",
        ),
    ],
)
def test_a_removed_id_names_its_successor(old: str, what: str, fix: str):
    if "ALE/" in fix:
        pytest.importorskip("ale_py")
    if old.startswith(("Ant", "Hopper")):
        pytest.importorskip("mujoco")
    with pytest.raises(EnvError) as refused:
        make_env(EnvConfig(id=old))
    assert what in refused.value.message
    assert refused.value.fix == fix


def test_the_successor_of_a_continuous_environment_is_the_variant_with_a_preset():
    pytest.importorskip("Box2D")
    with pytest.raises(EnvError) as refused:
        make_env(EnvConfig(id="LunarLanderContinuous-v2"))
    assert refused.value.fix == "use LunarLander-v3:continuous"
    spec = gym.spec("LunarLanderContinuous-v3")
    variant = resolve("LunarLander-v3:continuous").config
    assert variant.env.kwargs == spec.kwargs
    assert preset_of("LunarLander-v3") is None
    assert preset_of("MountainCarContinuous-v0") is None


@pytest.mark.parametrize("name", ["Nowhere-v4", "Nowhere"])
def test_an_unknown_id_names_no_successor(name: str):
    with pytest.raises(EnvError, match="doesn't exist") as refused:
        make_env(EnvConfig(id=name))
    assert "successor" not in str(refused.value)


@pytest.mark.parametrize("name", ["MountainCarContinuous", "MountainCarContinuous:a2c"])
def test_an_id_without_version_or_preset_is_stored_with_the_highest_version(name: str):
    resolved = resolve_for_spaces(name)
    assert resolved.config.env.id == "MountainCarContinuous-v0"
    assert resolved.requested_env == "MountainCarContinuous"
    assert resolved.config.algo.name == ("a2c" if name.endswith("a2c") else "ppo")


@pytest.mark.parametrize("id", ["MiniGrid-Empty-5x5-v0", "BabyAI-GoToRedBall-v0"])
def test_minigrid_ids_without_a_preset_get_one_hot_observations(id: str):
    pytest.importorskip("minigrid")
    resolved = resolve_for_spaces(id)
    assert resolved.config.env.keep == ("image",)
    assert resolved.config.env.one_hot == (11, 6, 3)
    assert resolved.provenance["env.keep"] == "default for its spaces"
    chosen = resolve_for_spaces(id, {"env.keep": ["direction"]}).config.env
    assert (chosen.keep, chosen.one_hot) == (("direction",), ())


class Wordy(gym.Env[Any, Any]):
    """Returns a useful number and a text as observation."""

    observation_space = gym.spaces.Dict(
        {
            "note": gym.spaces.Text(8),
            "place": gym.spaces.Box(-1, 1, (2,), np.float32),
            "turn": gym.spaces.Discrete(3),
        }
    )
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return {"note": "x", "place": np.zeros(2, np.float32), "turn": 1}, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.reset()[0], 1.0, True, False, {}


def test_numeric_entries_of_a_dict_are_kept():
    resolved = resolve_for_spaces("py:tests.envs.test_names:Wordy")
    assert resolved.config.env.keep == ("place", "turn")
