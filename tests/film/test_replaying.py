"""Rendering of traces: a film shows exactly what happened, or has a note that it does not."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.errors import EnvError
from gymnast.film.choose import ChosenEpisode
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.make import FilmOptions, film_episode
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import ReplayMismatch, episode_frames, retry_with_note
from gymnast.runs import films
from gymnast.runs.trace import Trace
from tests.film.film_envs import Camera, Swatch, decode_film, record_episode, swatch_color

CASES = {
    "CartPole-v1": np.random.default_rng(1).integers(0, 2, 30),
    "LunarLander-v3": np.random.default_rng(2).integers(0, 4, 60),
    "LunarLander-v3:continuous": np.random.default_rng(3).uniform(-1, 1, (40, 2)).astype("f4"),
    "Taxi-v4": np.random.default_rng(4).integers(0, 6, 12),
}


def config(name: str = "Swatch", **kwargs):
    return resolve(
        f"py:tests.film.film_envs:{name}", {"env.kwargs": kwargs} if kwargs else {}
    ).config


def episode(stage: EnvRenderer, trace: Trace) -> list[EpisodeFrame]:
    return list(episode_frames(stage, trace, strict=True))


@pytest.mark.parametrize("target", CASES)
def test_every_frame_is_the_one_the_environment_renders_at_that_step(target: str):
    cfg, actions = resolve(target).config, CASES[target]
    plain = gym.make(cfg.env.id, **cfg.env.kwargs)
    trace = record_episode(plain, 7, actions)
    assert len(trace) > 5
    shown = gym.make(cfg.env.id, render_mode="rgb_array", **cfg.env.kwargs)
    shown.reset(seed=7)
    pictures = [shown.render()]
    for action in trace.action:
        shown.step(action)
        pictures.append(shown.render())
    with closing(EnvRenderer(cfg)) as stage:
        drawn = episode(stage, trace)
    assert len(drawn) == len(trace) + 1
    assert all(np.array_equal(shot.picture, p) for shot, p in zip(drawn, pictures, strict=True))
    assert drawn[-1].total == pytest.approx(trace.raw_return)
    assert [shot.value for shot in drawn[:-1]] == trace.value.tolist()
    assert not np.array_equal(drawn[0].picture, drawn[-1].picture)


def test_a_reward_that_differs_from_the_stored_one_is_found_at_its_step():
    trace = record_episode(Swatch(), 3, np.zeros(6, int))
    changed = trace.reward.copy()
    changed[2] += 1e-12
    with closing(EnvRenderer(config())) as stage:
        assert len(episode(stage, trace)) == 7
        with pytest.raises(ReplayMismatch, match="from step 3"):
            episode(stage, replace(trace, reward=changed))
        with pytest.raises(ReplayMismatch, match="from step 6"):
            episode(stage, replace(trace, terminated=False, truncated=True))
        shorter = replace(trace, action=trace.action[:4], reward=trace.reward[:4])
        with pytest.raises(ReplayMismatch, match="from step 4"):
            episode(stage, shorter)


def test_an_episode_that_does_not_replay_is_filmed_with_a_note_and_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    trace = record_episode(Swatch(luck=True), 3, np.zeros(6, int))
    chosen = ChosenEpisode("eval", 0, "best", 0, trace)
    about = film_episode(config(luck=True), chosen, FilmOptions(tmp_path / "luck.mp4"))
    assert not about.exact
    assert "differs from the recorded episode, from step 1" in about.note
    assert about.note in caplog.text
    assert films.read_description(tmp_path / "luck.mp4")["exact"] is False
    noted, _ = decode_film(tmp_path / "luck.mp4")
    exact = record_episode(Swatch(), 3, np.zeros(6, int))
    film_episode(
        config(), ChosenEpisode("eval", 0, "best", 0, exact), FilmOptions(tmp_path / "exact.mp4")
    )
    plain, _ = decode_film(tmp_path / "exact.mp4")
    assert len(noted) == len(plain)
    assert noted.shape[1] > plain.shape[1]  # a line for the note, on every picture
    assert (noted[0, 420:445] > 180).any()


def test_a_film_that_is_not_exact_is_made_again_with_a_note_from_its_first_frame():
    notes: list[str] = []

    def make(note: str) -> int:
        notes.append(note)
        if not note:
            raise ReplayMismatch(9)
        return 5

    made, note = retry_with_note(make)
    assert made == 5
    assert notes == ["", note]


def test_episodes_with_image_observations_show_these_images(tmp_path: Path):
    trace = record_episode(Camera(), 0, np.zeros(6, int))
    seen = np.random.default_rng(0).integers(0, 255, (7, 12, 16, 3), np.uint8)
    with closing(EnvRenderer(config("Camera"), render=False)) as stage:
        drawn = episode(stage, replace(trace, obs=seen))
        first = episode(stage, replace(trace, obs=seen.transpose(0, 3, 1, 2)))
        grey = episode(stage, replace(trace, obs=seen[..., :1]))
    assert len(drawn) == 7
    for shot, obs in zip(drawn, seen, strict=True):
        assert np.array_equal(shot.picture[::25, ::25], obs)  # 16 wide becomes 400
    assert drawn[-1].total == pytest.approx(trace.raw_return)
    assert np.array_equal(first[3].picture, drawn[3].picture)
    assert np.array_equal(grey[3].picture[..., 2], drawn[3].picture[..., 0])
    chosen = ChosenEpisode("eval", 0, "0", 0, replace(trace, obs=seen))
    assert film_episode(config("Camera"), chosen, FilmOptions(tmp_path / "a.mp4")).exact


def test_an_environment_without_a_renderer_is_rejected():
    with pytest.raises(
        EnvError, match=r"can be filmed \(rgb_array or ansi\); its render_modes: none"
    ):
        EnvRenderer(config("Camera"))
    with pytest.raises(EnvError, match="no render mode"):
        EnvRenderer(resolve("py:tests.scripted:Script").config)


def test_the_output_of_a_text_renderer_is_drawn_as_a_picture():
    with closing(EnvRenderer(config("Letterbox"))) as stage:
        stage.env.reset(seed=0)
        first = stage.render()
        stage.step(0)
        later = stage.render()
    assert first.dtype == np.uint8
    assert first.shape == later.shape
    assert (first > 200).any()
    assert not np.array_equal(first, later)


def test_small_pictures_are_enlarged_by_an_integer_factor_and_large_ones_are_not():
    with closing(EnvRenderer(config(size=96))) as stage:
        stage.env.reset(seed=0)
        assert stage.render().shape == (480, 480, 3)
        assert (stage.render() == swatch_color(0)).all()
    with closing(EnvRenderer(config(size=600))) as stage:
        stage.env.reset(seed=0)
        assert stage.render().shape == (600, 600, 3)


def test_the_frame_rate_is_that_of_the_preset_or_the_environment_or_the_default():
    for cfg, fps in (
        (resolve("CartPole-v1", {"facts.fps": 20}).config, 20),
        (config(), 10),
        (config("Letterbox"), 30),
    ):
        with closing(EnvRenderer(cfg)) as stage:
            assert stage.fps == fps
