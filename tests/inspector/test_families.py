"""An episode of every kind of environment opens, whatever it lacks: facts, labels, a spec or a renderer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, Tuple

from gymnast.check.inspection import inspection_problem
from gymnast.check.presets import preset_targets, short_run_overrides
from gymnast.config import families
from gymnast.config.resolve import resolve
from gymnast.errors import NotInstalled
from gymnast.inspector.address import find_address
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.frames import frames
from gymnast.inspector.inspection import inspect
from gymnast.inspector.matches import OpenMatch, open_episode
from gymnast.inspector.record import EpisodeInspection
from gymnast.runs.run import Run
from gymnast.training.python_api import train


class Bare(gym.Env[Any, Any]):
    """An environment without a spec, metadata or a renderer; its observation is a Dict with an image."""

    observation_space = Dict(
        {
            "image": Box(0, 255, (8, 8, 3), np.uint8),
            "speed": Box(-np.inf, np.inf, (2,)),
            "gear": Discrete(3),
        }
    )
    action_space: gym.Space[Any] = Discrete(2, start=5)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.t = 0
        return self._obs(), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return self._obs(), float(self.np_random.normal()), self.t == 7, False, {"t": self.t}

    def _obs(self) -> dict[str, Any]:
        return {
            "image": np.full((8, 8, 3), self.t, np.uint8),
            "speed": np.array([self.t, -1.5], np.float32),
            "gear": self.t % 3,
        }


class BareComposite(Bare):
    """The same with an action that has discrete, binary and continuous parts."""

    action_space: gym.Space[Any] = Tuple((Discrete(3), MultiBinary(2), Box(-1.0, np.inf, (2,))))


class Silent(Bare):
    """An environment with one observation, which says nothing, and one action."""

    observation_space = Discrete(1)
    action_space: gym.Space[Any] = Discrete(1)

    def _obs(self) -> Any:
        return 0


def short_run(target: str, runs_dir: Path, **settings: Any) -> Run:
    """Trains two rollouts, and stores training and evaluation episodes."""
    cfg = resolve(target).config
    return train(
        target, overrides=short_run_overrides(cfg) | settings, quiet=True, runs_dir=runs_dir
    )


def opened(run: Run, **more: Any) -> Iterator[tuple[OpenEpisode, EpisodeInspection]]:
    """Yields the first evaluation episode, or every seat of the first match, with its record."""
    with closing(open_episode(find_address(run, "eval", **more))) as episode:
        for agent in episode.all_seats() if isinstance(episode, OpenMatch) else [episode]:
            yield agent, inspect(agent)


@pytest.mark.parametrize("name", ["Bare", "BareComposite", "Silent"])
def test_environments_without_spec_facts_or_renderer_show_everything_but_pictures(
    runs_dir: Path, name: str
):
    run = short_run(f"py:tests.inspector.test_families:{name}", runs_dir)
    ((episode, record),) = opened(run)
    assert not record.has_frames or name != "Silent"
    assert record.replay.exact
    assert record.table["reward_raw"] == episode.trace.reward.tolist()
    assert record.table["info/t"] == [1, 2, 3, 4, 5, 6, 7]
    assert record.info.length == 7
    if name != "Silent":
        assert record.table["obs/speed/0"] == [0, 1, 2, 3, 4, 5, 6]
    assert sum(1 for _ in record.actions) == {"Bare": 2, "BareComposite": 5, "Silent": 1}[name]


def test_a_bandit_shows_everything_but_pictures(runs_dir: Path):
    run = short_run("Bandit-v0", runs_dir)
    ((_, record),) = opened(run)
    assert not record.has_frames
    assert "no render mode" in record.frames_note
    assert record.replay.exact
    assert len(record.actions) == 10
    probabilities = [record.table[name] for name in record.table if name.startswith("p/")]
    assert np.allclose(np.sum(probabilities, 0), 1)
    assert {"info/regret", "info/optimal_arm_share", "value_raw"} <= set(record.table)


def test_a_match_of_several_roles_with_their_own_observations(runs_dir: Path):
    """Speaker and listener see different things, and neither sees everything."""
    pytest.importorskip("mpe2")
    run = short_run("pettingzoo/simple_speaker_listener_v4", runs_dir)
    (speaker, said), (listener, received) = opened(run)
    assert (said.address.role, received.address.role) == ("speaker", "listener")
    assert speaker.obs.shape[1] == 3
    assert listener.obs.shape[1] == 11
    for episode, record in ((speaker, said), (listener, received)):
        assert record.replay.exact
        assert record.policy_note == ""
        columns = [name for name in record.table if name.startswith("obs/")]
        assert len(columns) == episode.obs.shape[1]
        assert np.isfinite(np.array(record.table["value_raw"])).all()
        assert record.seats == said.seats
    shown, _ = frames(listener, 0, 2, 1, 100)
    assert shown.count == 3


@pytest.mark.slow
@pytest.mark.parametrize("target", preset_targets())
def test_an_episode_of_every_preset_opens(runs_dir: Path, target: str):
    cfg = resolve(target).config
    try:
        run = short_run(target, runs_dir)
    except NotInstalled as missing:
        pytest.skip(missing.message)
    assert families.family_of(cfg.env.id) is not None
    assert inspection_problem(run, deterministic=cfg.facts.deterministic == "yes") == ""
    for episode, record in opened(run):
        steps = np.array(record.table["reward_raw"])
        assert np.allclose(np.cumsum(steps), np.array(record.table["reward_so_far_raw"]))
        assert len(record.table["step"]) == len(episode.trace)
        named = {component.column for component in record.observations}
        assert named == {name for name in record.table if name.startswith("obs/")}
        declared = {column.name for column in record.columns}
        assert declared == set(record.table)
