"""An episode opens whatever is missing: labels, facts, renderer, checkpoint or the environment itself."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.errors import EnvError
from gymnast.film.renderer import EnvRenderer
from gymnast.inspector.address import EpisodeAddress, find_address
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.inspection import inspect
from gymnast.inspector.record import EpisodeInspection, ObsComponent
from gymnast.inspector.replay import replay_episode
from gymnast.inspector.warm_up import warm_up
from gymnast.records import from_json, to_json
from gymnast.runs.run import Run
from tests.film.film_envs import record_episode
from tests.inspector.stored_runs import play_and_store, store_episodes


def inspected(address: EpisodeAddress) -> EpisodeInspection:
    with closing(OpenEpisode(address)) as episode:
        found = inspect(episode)
    assert from_json(EpisodeInspection, to_json(found)).info == found.info
    assert {len(column) for column in found.table.values()} == {found.info.length}
    assert {known.name for known in found.columns} == set(found.table)
    return found


def test_an_episode_of_a_preset_has_labels_and_ranges(cartpole: Run):
    found = inspected(find_address(cartpole, "eval"))
    assert found.replay.exact
    assert found.has_frames
    assert (found.env, found.roles, found.policy_note) == ("CartPole-v1", [], "")
    assert [action.name for action in found.actions] == ["push left", "push right"]
    angle = found.observations[2]
    assert (angle.column, angle.name) == ("obs/pole angle", "pole angle")
    assert angle.low is not None
    assert angle.low < 0
    assert found.fps == 50
    assert found.keys


@pytest.mark.parametrize("kind", ["eval", "confirm", "train"])
def test_every_kind_of_episode_replays_exactly(cartpole: Run, kind: str):
    address = find_address(cartpole, kind)  # type: ignore[arg-type]
    found = inspected(address)
    assert found.replay.exact, found.replay.note
    assert found.info.kind == kind
    with closing(OpenEpisode(address)) as episode:
        assert episode.policy is not None
        dist = episode.policy.dist(np.asarray(episode.obs)[:-1])
    if kind != "train":  # the policy changed while training episodes were played
        assert dist == pytest.approx(episode.trace.dist, abs=1e-4)


def test_without_facts_the_ranges_are_those_of_the_space(tmp_path: Path):
    found = inspected(play_and_store(tmp_path, "py:tests.film.film_envs:Swatch", np.zeros(6, int)))
    assert found.observations == [
        ObsComponent("obs/0", "0", 0.0, 1.0, "", "Its range is that of the observation space.")
    ]
    assert [action.name for action in found.actions] == ["0", "1", "2"]
    assert "no policy" in found.policy_note


def test_components_of_a_dict_observation_have_names_and_ranges(tmp_path: Path):
    found = inspected(play_and_store(tmp_path, "py:tests.inspector.envs:Cockpit", np.zeros(6, int)))
    assert [(c.name, c.low, c.high) for c in found.observations] == [
        ("altitude/0", 0.0, 1.0),
        ("altitude/1", 0.0, 1.0),
    ]
    assert found.replay.mismatch == 0  # its rewards ignore the seed
    assert found.table["obs/altitude/0"] == [0.0, *[None] * 5]
    assert not found.has_frames


def test_an_environment_without_a_renderer_has_everything_but_pictures(tmp_path: Path):
    address = play_and_store(tmp_path, "py:tests.scripted:Script", np.zeros(5, int), length=5)
    found = inspected(address)
    assert (found.has_frames, found.replay.exact) == (False, True)
    assert "no render mode" in found.frames_note
    assert found.table["reward_raw"] == [
        *np.asarray(found.table["reward_so_far_raw"][:1]),
        *np.diff(np.asarray(found.table["reward_so_far_raw"], float)),
    ]


def test_an_episode_opens_although_its_environment_cannot_be_opened(
    cartpole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    address = play_and_store(tmp_path, "CartPole-v1", np.array([0, 1, 1, 0]))
    with_policy = inspected(find_address(cartpole, "eval"))

    def refuse(*_: object, **__: object) -> NoReturn:
        raise EnvError("CartPole needs a package that is not installed")

    monkeypatch.setattr("gymnast.inspector.episode.EnvRenderer", refuse)
    for found in (inspected(address), inspected(find_address(cartpole, "eval"))):
        assert not found.replay.exact
        assert "not installed" in found.replay.note
        assert "not installed" in found.frames_note
        assert not found.has_frames
        assert [action.name for action in found.actions] == ["push left", "push right"]
        assert {"step", "reward_raw", "reward_so_far_raw", "terminated"} <= set(found.table)
    assert found.table["reward_raw"] == with_policy.table["reward_raw"]


def test_a_long_episode_opens_fast(tmp_path: Path):
    """CPU time, since other tests run at the same time; a worker has imported everything before."""
    warm_up()
    config = resolve("CartPole-v1", {"eval.max_episode_steps": 1000}).config
    with closing(EnvRenderer(config, render=False)) as played:
        obs = np.asarray(played.reset(seed=3))
        actions = []
        for _ in range(1000):
            actions.append(int(obs @ [0.1, 0.3, 1.0, 0.7] > 0))  # balances it
            obs = np.asarray(played.step(actions[-1])[0])
        trace = record_episode(played.env, 3, np.array(actions))
    address = store_episodes(tmp_path, config, [trace])

    def opens_fast() -> bool:
        began = time.process_time()
        found = inspected(address)
        took = time.process_time() - began
        assert (found.info.length, found.replay.exact) == (1000, True)
        return took < 0.3

    assert any(opens_fast() for _ in range(5))  # other load on the machine may disturb a try


def test_a_replay_that_takes_too_long_is_stopped(tmp_path: Path):
    address = play_and_store(tmp_path, "CartPole-v1", np.array([0, 1, 1, 0]))
    with closing(OpenEpisode(address)) as episode:
        cut = replay_episode(episode.env(), episode.trace, max_seconds=0.0)
        assert (len(cut.obs), cut.mismatch, cut.is_exact) == (1, None, False)
        assert "stopped after 0 s, at step 0" in cut.note
        assert len(replay_episode(episode.env(), episode.trace).obs) == 5
