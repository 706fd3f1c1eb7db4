"""The same Atari settings give the same frames with our wrappers and with ALE's vectorized games."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.episode_limit import EpisodeLimit
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.build.open import make_vector, open_envs
from gymnast.envs.suites.atari import vector_settings
from gymnast.errors import EnvError

pytest.importorskip("ale_py")
SURE = {"repeat_action_probability": 0.0}


def config(game: str = "Pong", **more: Any) -> EnvConfig:
    return EnvConfig(id=f"ALE/{game}-v5", **more)


def played(cfg: EnvConfig, seed: int, steps: int = 40, limit: int | None = None) -> list[Any]:
    """Returns the observations and rewards of one copy for a seed and random actions."""
    env: Any = make_env(cfg, limit=EpisodeLimit(limit))
    seen = [(env.reset(seed=seed)[0].tobytes(), 0.0, False, False)]
    for action in np.random.default_rng(0).integers(4, size=steps):
        obs, *rest = env.step(action)[:4]
        seen.append((obs.tobytes(), *rest))
        if rest[1] or rest[2]:
            break
    env.close()
    return seen


@pytest.mark.parametrize(
    ("game", "more"),
    [
        ("Pong", {}),
        ("Breakout", {}),
        ("Breakout", {"atari": {"noop_starts": 1, "life_loss_ends": True}}),
        ("Seaquest", {"image": {"size": [64, 72], "max_pool": False}, "stack": 2}),
        ("SpaceInvaders", {"frames_per_step": 3, "stack": 1}),
    ],
)
def test_our_wrappers_and_ales_vector_return_the_same_frames(game: str, more: dict[str, Any]):
    """Frames are bit-identical, except for the last one of an episode: ALE returns an older frame if a game
    ends between two steps. With one no-op frame and no sticky actions, the seed decides nothing."""
    cfg = config(game, kwargs=SURE, n_envs=1, **{"atari": {"noop_starts": 1}} | more)
    one, many = make_env(cfg), make_vector(cfg, None)
    assert isinstance(one.observation_space, gym.spaces.Box)
    ours, theirs = one.reset(seed=7)[0], many.reset(seed=7)[0][0]
    assert np.array_equal(ours.reshape(theirs.shape), theirs)
    for step, action in enumerate(np.random.default_rng(1).integers(4, size=300)):
        ours, reward, terminated, truncated, info = one.step(action)
        theirs, *given, infos = many.step(np.array([action]))
        assert [reward, terminated, truncated] == [column[0] for column in given]
        assert info["lives"] == infos["lives"][0]
        if terminated:
            assert step > 20
            break
        assert np.array_equal(ours.reshape(theirs[0].shape), theirs[0])
    one.close()
    many.close()


def test_a_time_limit_counts_steps_in_both_implementations():
    cfg = config(n_envs=4)
    assert [ended[3] for ended in played(cfg, 7, limit=3)] == [False, False, False, True]
    many = make_vector(cfg, 3)
    many.reset(seed=1)
    ends = [many.step(np.zeros(4, dtype=np.int64))[3].tolist() for _ in range(3)]
    many.close()
    assert ends == [[False] * 4, [False] * 4, [True] * 4]


@pytest.mark.parametrize("view", ["image", "ram", "objects", "raw"])
def test_an_episode_depends_only_on_its_seed_in_every_view(view: str):
    cfg = config(view=view)
    again = make_env(cfg)
    again.reset(seed=99)
    again.step(2)  # a copy that has played before must not differ
    first = again.reset(seed=7)[0].tobytes()
    again.close()
    assert played(cfg, 7) == played(cfg, 7) != played(cfg, 8)
    assert first == played(cfg, 7)[0][0]


def test_sticky_actions_repeat_with_the_configured_probability():
    """Two actions alternate. A frame that repeats the last action (1 in 4) applies the wrong one, unless the
    last one was wrong already: this is the case in a fifth of the frames."""
    env: Any = make_env(config(view="ram", frames_per_step=1))
    env.reset(seed=1)
    repeated, last = 0, None
    for frame in range(2000):
        wanted = 2 + frame % 2
        env.step(wanted)
        held = env._applied
        repeated += held != env._actions[wanted]
        assert held in (env._actions[wanted], last, env._noop)
        last = held
    env.close()
    assert 0.18 < repeated / 2000 < 0.22


def test_episodes_start_after_one_to_thirty_noop_frames():
    env = make_env(config("Breakout", view="ram"))
    frames = [env.reset(seed=seed)[1]["episode_frame_number"] for seed in range(200)]
    env.close()
    assert (min(frames), max(frames)) == (1, 30)


def test_a_lost_life_ends_only_training_episodes_and_fire_serves_the_next_ball():
    idle, cfg = 0, config("Breakout", kwargs=SURE, atari={"life_loss_ends": True, "fire": "life"})
    lengths = {}
    for name, shown in (("training", cfg), ("scored", cfg.for_evaluation())):
        env = make_env(shown)
        env.reset(seed=3)
        ends = (env.step(idle)[2] for _ in range(1000))
        lengths[name] = next(step for step, over in enumerate(ends) if over)
        env.close()
    assert lengths["scored"] > 4 * lengths["training"]  # five balls with an idle paddle


def test_color_crop_and_downscaling_match_the_raw_screen():
    picture = {"color": "rgb", "crop": [34, 16, 0, 0], "size": [160, 160], "max_pool": False}
    env: Any = make_env(config(image=picture, stack=1))
    obs, _ = env.reset(seed=1)
    screen = env.unwrapped.ale.getScreenRGB()
    assert np.array_equal(obs, screen[34:194].transpose(2, 0, 1))
    half = make_env(config(image=picture | {"size": [80, 80]}, stack=1))
    blocks = screen[34:194].reshape(80, 2, 80, 2, 3).mean((1, 3)).transpose(2, 0, 1)
    assert np.abs(half.reset(seed=1)[0] - blocks).max() <= 0.5
    env.close()
    half.close()


@pytest.mark.parametrize(
    ("key", "more"),
    [
        ("env.view", {"view": "objects"}),
        ("env.image.crop", {"image": {"crop": [1, 0, 0, 0]}}),
        ("env.image.color", {"image": {"color": "rgb"}}),
        ("env.atari.fire", {"atari": {"fire": "life"}}),
        ("env.kwargs.difficulty", {"kwargs": {"difficulty": 0}}),
    ],
)
def test_settings_that_ales_vector_does_not_support_are_refused_with_their_key(
    key: str, more: dict[str, Any]
):
    with pytest.raises(EnvError) as refused:
        open_envs(config(backend="vector", n_envs=1, **more), limit=EpisodeLimit(), on_output=print)
    assert key in str(refused.value)


@pytest.mark.parametrize(
    ("message", "more"),
    [
        ("set env.frames_per_step", {"kwargs": {"frameskip": 2}}),
        ("set env.view", {"kwargs": {"obs_type": "ram"}}),
        ("env.image.size", {"image": {"size": [300, 84]}}),
        ("continuous is not supported", {"kwargs": {"continuous": True}}),
    ],
)
def test_kwargs_that_contradict_config_keys_are_refused(message: str, more: dict[str, Any]):
    with pytest.raises(EnvError) as refused:
        make_env(config(**more))
    assert message in str(refused.value)


def test_the_image_view_is_refused_for_environments_without_images():
    with pytest.raises(EnvError, match="not uint8 images"):
        make_env(EnvConfig(id="CartPole-v1", view="image"))


def test_ales_vector_never_clips_rewards():
    assert vector_settings(config(), None)["reward_clipping"] is False


def test_inprocess_and_process_backends_play_the_same_games():
    seen = []
    for backend in ("inprocess", "process"):
        cfg = config("Breakout", view="objects", stack=2, backend=backend, n_envs=2, workers=1)
        envs = open_envs(cfg, limit=EpisodeLimit(), on_output=print)
        assert envs.reset([0, 1], [3, 4]) == ()
        shown = [envs.obs.copy()]
        for action in np.random.default_rng(0).integers(4, size=(30, 2)):
            step = envs.step(action)
            assert step.faults == ()
            shown += [step.obs.copy(), step.reward.copy()]
        envs.close()
        seen.append(b"".join(part.tobytes() for part in shown))
    assert seen[0] == seen[1]
