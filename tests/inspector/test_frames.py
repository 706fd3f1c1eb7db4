"""Frames on demand: exactly those of the stored episode in any order, or none, with the reason."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pygame
import pytest

from gymnast.errors import UsageError
from gymnast.film.drawing import pixels
from gymnast.film.renderer import EnvRenderer, enlarged
from gymnast.film.replay import episode_frames
from gymnast.images import Images
from gymnast.inspector import pictures as encoding
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.frames import FrameCache, frames, missing_frames, pictures
from gymnast.inspector.frames_record import MAX_FRAMES
from gymnast.inspector.open_episodes import OpenEpisodes
from gymnast.runs.trace import Trace
from tests.film.film_envs import Camera, Swatch, record_episode, swatch_color
from tests.film.test_replaying import CASES
from tests.inspector.envs import Cockpit
from tests.inspector.stored_runs import config_of, observations, play_and_store, store_episodes

SWATCH = "py:tests.film.film_envs:Swatch"


@contextmanager
def opened(address: EpisodeAddress) -> Iterator[OpenEpisode]:
    with closing(OpenEpisode(address)) as episode:
        yield episode


def swatch_trace(length: int = 6, *, luck: bool = False) -> Trace:
    return record_episode(Swatch(length=length, luck=luck), 3, np.zeros(length, int))


def unpacked(payload: bytes) -> dict[int, np.ndarray]:
    """Returns step -> decoded frame."""
    (count,), at = struct.unpack_from("<I", payload), 4
    found: dict[int, np.ndarray] = {}
    for _ in range(count):
        step, length = struct.unpack_from("<II", payload, at)
        at += 8
        found[step] = pixels(pygame.image.load(io.BytesIO(payload[at : at + length])))
        at += length
    assert at == len(payload)
    return found


@pytest.mark.parametrize("target", CASES)
def test_frames_are_those_of_a_film_in_any_order(target: str, tmp_path: Path):
    address = play_and_store(tmp_path, target, CASES[target])
    with opened(address) as episode, closing(EnvRenderer(episode.config)) as renderer:
        film = [shot.picture for shot in episode_frames(renderer, episode.trace, strict=True)]
        order = np.random.default_rng(0).permutation(len(film)).tolist()
        assert len(film) == len(episode.trace) + 1
        for step in [*range(len(film)), *order[:8]]:
            ((at, picture),) = pictures(episode, range(step, step + 1))
            assert at == step
            assert np.array_equal(picture, film[step])
        episode.close()
        ((_, after_a_jump),) = pictures(episode, range(len(film) - 1, len(film)))
        assert np.array_equal(after_a_jump, film[-1])
        _, payload = frames(episode, 0, len(film) - 1, 5, 4096, FrameCache())
        for step, decoded in unpacked(payload).items():
            assert np.array_equal(decoded, film[step])  # these are small enough for PNG
        assert missing_frames(episode) == ""


def test_the_frames_of_an_image_environment_are_those_of_a_film(tmp_path: Path):
    pytest.importorskip("ale_py")
    actions = np.random.default_rng(5).integers(0, 6, 12)
    address = play_and_store(tmp_path, "ALE/Pong-v5", actions)
    with opened(address) as episode, closing(EnvRenderer(episode.config)) as renderer:
        film = [shot.picture for shot in episode_frames(renderer, episode.trace, strict=True)]
        shown = dict(pictures(episode, range(len(film))))
    assert all(np.array_equal(shown[step], film[step]) for step in range(len(film)))
    assert len(shown) == 13


def test_steps_width_and_limits_of_a_request(tmp_path: Path):
    address = store_episodes(tmp_path, SWATCH, [swatch_trace(400)], length=400)
    with opened(address) as episode:
        found, payload = frames(episode, 3, 9, 3, 100)
        shown = unpacked(payload)
        assert (found.count, list(shown)) == (3, [3, 6, 9])
        assert {picture.shape for picture in shown.values()} == {(100, 100, 3)}
        assert shown[6][0, 0].tolist() == pytest.approx(swatch_color(6), abs=3)  # it was scaled
        assert list(unpacked(frames(episode, 399, 900, 1, 50)[1])) == [399, 400]
        assert frames(episode, 401, 500, 1, 50)[0].count == 0
        assert frames(episode, 0, MAX_FRAMES - 1, 1, 50)[0].count == MAX_FRAMES
        with pytest.raises(UsageError, match="more than 300"):
            frames(episode, 0, MAX_FRAMES, 1, 50)
        for wrong in ((-1, 5, 1, 50), (5, 4, 1, 50), (0, 5, 0, 50), (0, 5, 1, 0)):
            with pytest.raises(UsageError):
                frames(episode, *wrong)


def test_a_replay_that_differs_has_frames_up_to_that_step_and_says_where(tmp_path: Path):
    trace = swatch_trace()
    changed = trace.reward.copy()
    changed[3] += 1e-12
    address = store_episodes(tmp_path, SWATCH, [replace(trace, reward=changed)])
    with opened(address) as episode:
        assert (episode.replay.mismatch, episode.replay.is_exact) == (3, False)
        assert "at step 3" in episode.replay.note
        assert len(episode.obs) == 4
        found, payload = frames(episode, 0, 6, 1, 400)
        assert list(unpacked(payload)) == [0, 1, 2, 3]
        assert (found.count, found.mismatch) == (4, 3)
        assert "from step 4 on" in found.note
        # An earlier request has not reached the difference.
        assert list(unpacked(frames(episode, 1, 2, 1, 400)[1])) == [1, 2]
        assert list(unpacked(frames(episode, 5, 6, 1, 400)[1])) == []


def test_an_environment_that_ignores_its_seed_is_found_by_its_rewards_or_its_observations(
    tmp_path: Path,
):
    address = store_episodes(tmp_path / "lucky", SWATCH, [swatch_trace(luck=True)], luck=True)
    with opened(address) as episode:
        assert episode.replay.mismatch == 0
    drift = config_of("py:tests.inspector.envs:Drift")
    with closing(EnvRenderer(drift, render=False)) as played:
        trace = record_episode(played.env, 3, np.zeros(6, int))
        trace = replace(trace, obs=observations(played.env, trace))
    with opened(store_episodes(tmp_path / "drift", drift.env.id, [trace])) as episode:
        assert (trace.reward == 1).all()
        assert episode.replay.mismatch == 0
        assert np.array_equal(np.asarray(episode.obs), np.asarray(trace.obs))


def test_stored_image_observations_are_the_frames(tmp_path: Path):
    images = np.random.default_rng(0).integers(0, 255, (7, 12, 16, 3), dtype=np.uint8)
    trace = replace(record_episode(Camera(), 1, np.zeros(6, int)), obs=images)
    with opened(store_episodes(tmp_path, "py:tests.film.film_envs:Camera", [trace])) as episode:
        shown = unpacked(frames(episode, 0, 6, 1, 4096)[1])
        assert list(shown) == list(range(7))
        for step, picture in shown.items():
            assert np.array_equal(picture, enlarged(images[step]))


def test_stored_images_in_a_dict_or_a_stack_are_shown_where_the_replay_differs(tmp_path: Path):
    env = Cockpit()
    trace = record_episode(env, 1, np.zeros(6, int))
    trace = replace(trace, obs=observations(env, trace))
    address = store_episodes(tmp_path / "dict", "py:tests.inspector.envs:Cockpit", [trace])
    with opened(address) as episode:
        shown = unpacked(frames(episode, 0, 6, 1, 4096)[1])
        assert [int(picture[0, 0, 0]) for picture in shown.values()] == list(range(0, 70, 10))
    stacks = np.arange(7 * 4, dtype=np.uint8).reshape(7, 4, 1, 1).repeat(8, 2).repeat(8, 3)
    stacked = replace(swatch_trace(luck=True), obs=Images.from_array(stacks, "first"))
    address = store_episodes(tmp_path / "stack", SWATCH, [stacked], luck=True)
    with opened(address) as episode:
        shown = unpacked(frames(episode, 1, 6, 1, 4096)[1])
        newest = [int(picture[0, 0, 0]) for picture in shown.values()]
        assert newest == stacks[1:, -1, 0, 0].tolist()


def test_an_environment_without_a_renderer_has_no_frames_and_says_why(tmp_path: Path):
    target = "py:tests.scripted:Script"
    address = play_and_store(tmp_path, target, np.zeros(5, int), length=5)
    with opened(address) as episode:
        assert "no render mode" in missing_frames(episode)
        found, payload = frames(episode, 0, 4, 1, 400)
        assert (found.count, unpacked(payload)) == (0, {})
        assert "no render mode" in found.note
        assert episode.replay.is_exact


def test_text_renderers_are_drawn(tmp_path: Path):
    address = play_and_store(tmp_path, "py:tests.film.film_envs:Letterbox", np.zeros(6, int))
    with opened(address) as episode:
        shown = unpacked(frames(episode, 0, 6, 6, 4096)[1])
        assert not np.array_equal(shown[0], shown[6])


def test_frames_come_from_the_cache_which_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    address = store_episodes(tmp_path, SWATCH, [swatch_trace(50)], length=50)
    cache = FrameCache(max_bytes=20_000)
    with opened(address) as episode:
        first = frames(episode, 0, 3, 1, 420, cache)
        rendered: list[int] = []
        monkeypatch.setattr(Swatch, "render", lambda self: rendered.append(self.t))
        assert frames(episode, 0, 3, 1, 420, cache) == first
        assert not rendered
        monkeypatch.undo()
        for width in range(100, 120):
            frames(episode, 0, 50, 1, width, cache)
            assert 0 < cache.n_bytes <= 20_000
    with opened(address) as again:  # opened again: its file may have changed
        assert cache.get(again, 50, 119) is None


def test_noise_is_encoded_as_jpeg_and_drawings_without_loss():
    noise = np.random.default_rng(0).integers(0, 256, (100, 120, 3), dtype=np.uint8)
    assert encoding.encode(noise)[:2] == b"\xff\xd8"
    drawing = np.zeros((101, 67, 3), np.uint8)
    drawing[20:40, 10:50] = (255, 3, 77)
    png = encoding.encode(drawing)
    assert png[:4] == b"\x89PNG"
    assert np.array_equal(pixels(pygame.image.load(io.BytesIO(png))), drawing)
    assert np.array_equal(pixels(pygame.image.load(io.BytesIO(encoding.to_fast_png(noise)))), noise)


def test_episodes_that_take_turns_keep_their_pictures(tmp_path: Path):
    """Closing an environment quits pygame, which ends the fonts and windows of the others."""
    addresses = [
        play_and_store(tmp_path / str(i), target, CASES[target])
        for i, target in enumerate(("Taxi-v4", "CartPole-v1", "Taxi-v4"))
    ]
    episodes = OpenEpisodes(maximum=2)
    first: dict[EpisodeAddress, bytes] = {}
    for _ in range(2):
        for address in addresses:
            shown = frames(episodes.open(address), 4, 5, 1, 400, FrameCache())[1]
            assert first.setdefault(address, shown) == shown
    episodes.close()


def test_an_episode_is_read_again_when_its_file_has_changed(tmp_path: Path):
    trace = swatch_trace()
    address = store_episodes(tmp_path, SWATCH, [trace])
    episodes = OpenEpisodes()
    before = episodes.open(address)
    assert episodes.open(address) is before
    other = store_episodes(tmp_path / "other", SWATCH, [replace(trace, seed=4)])
    name = f"traces/eval-{address.version:012d}.safetensors"
    (address.path / name).write_bytes((other.path / name).read_bytes())
    assert episodes.open(address).trace.seed == 4
    episodes.close()
