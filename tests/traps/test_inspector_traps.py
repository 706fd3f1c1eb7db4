"""Trap 39: an inspector whose returns ignored episode ends, whose cumulative reward never restarted, and that
simulated again instead of showing what had happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import accumulate

import numpy as np
import pytest

from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.episode import OpenEpisode
from gymnast.runs.episodes import list_episodes
from gymnast.runs.run import Run
from tests.small_runs import train_small

GAMMA = 0.9


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Short training episodes, several per rollout, some of which are truncated."""
    changes = {
        "stop.env_steps": 512,
        "env.n_envs": 4,
        "env.max_episode_steps": 15,
        "algo.n_steps": 64,
        "algo.gamma": GAMMA,
        "algo.gae_lambda": 1.0,
        "eval.every": "256 env_steps",
        "traces.train": "100%",
    }
    return train_small("CartPole-v1", changes, runs_dir=tmp_path_factory.mktemp("39") / "runs")


def training_episodes(run: Run) -> Iterator[OpenEpisode]:
    for info in list_episodes(run, "train"):
        address = EpisodeAddress(str(run.path), "train", info.version, info.number)
        with closing(OpenEpisode(address)) as episode:
            yield episode


def test_39_every_episode_starts_again_and_ends_by_itself(run: Run):
    ends: set[bool] = set()
    for episode in training_episodes(run):
        table, steps = episode.table, len(episode.trace)
        reward = table["reward_raw"].tolist()
        assert table["reward_so_far_raw"].tolist() == list(accumulate(reward))
        assert table["return_to_go_raw"].tolist() == list(accumulate(reversed(reward)))[::-1]
        ends.add(episode.trace.terminated)
        if (
            episode.trace.terminated
        ):  # with lambda 1: the discounted sum up to the end, and nothing after it
            learned = table["reward_learned"]
            sums = [sum(GAMMA**k * r for k, r in enumerate(learned[t:])) for t in range(steps)]
            np.testing.assert_allclose(table["return_learned"], sums, rtol=1e-5)
    assert ends == {True, False}


def test_39_what_happened_is_shown_whatever_the_policy_would_do_now(run: Run):
    """The weights are changed first: an episode that is simulated again would be another one."""
    info = max(list_episodes(run, "eval"), key=lambda episode: episode.version)
    address = EpisodeAddress(str(run.path), "eval", info.version, info.number)
    with closing(OpenEpisode(address)) as episode:
        before = {name: column.copy() for name, column in episode.table.items()}
    with closing(OpenEpisode(address)) as episode:
        assert episode.policy is not None
        episode.policy.parameters.flat[:] *= -1
        after = episode.table
    for name in ("action", "reward_raw", "value_learned", "obs/pole angle", "logprob"):
        np.testing.assert_array_equal(after[name], before[name], err_msg=name)
