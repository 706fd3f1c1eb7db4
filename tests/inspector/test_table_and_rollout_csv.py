"""A training episode inside of a checkpoint's rollout has the same rows in `rollout.csv` and in the table of
the inspector.

Some columns differ by what a trace stores: `step` counts from the start of the episode; `logprob` is computed
from the stored distribution and the action that the environment received; and after a truncation, the value
of the final observation is that of the checkpoint's policy, not of the one before its last update.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gymnast import api
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.episode import OpenEpisode
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.runs.trace import read_traces
from gymnast.step_table import to_csv
from gymnast.training.python_api import train
from tests.small_runs import SMALL, train_small

IDENTITY = "py:tests.identity:Identity"
BASE: dict[str, Any] = {
    "env.n_envs": 2,
    "algo.n_steps": 96,
    "stop.rollouts": 3,
    "eval.every": "off",
    "checkpoint.every": "off",
    "traces.train": "100%",
}
SHAPED = {
    "shaping.centered.weight": 0.5,
    "shaping.late.weight": -1.0,
    "shaping.late.kwargs.after": 3,
}
MASKED = {"env.kwargs": {"action": "dict", "masked": True}, "algo.n_steps": 24}
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "plain": ("CartPole-v1", "ppo", {}),
    "normalized": (
        "CartPole-v1",
        "ppo",
        {
            "normalize.reward": "running",
            "normalize.reward_scale": -2.0,
            "normalize.value": "popart",
        },
    ),
    "shaped": ("CartPole-v1", "ppo", {**SHAPED, "normalize.reward": "running"}),
    "reinforce": ("CartPole-v1", "reinforce", {"algo.episodes": 3, "algo.n_steps": "off"}),
    "dqn": ("CartPole-v1", "dqn", {"algo.n_steps": 64, "algo.warmup": 32}),
    "continuous": ("Match", "ppo", {"algo.n_steps": 24}),
    "masked dict": (IDENTITY, "ppo", MASKED),
}
BOOTSTRAPPED = {"return_learned", "advantage_learned", "td_error_learned"}
"""Columns that depend on the value of the final observation of a truncated episode."""


def stored_lines(run: Run) -> list[dict[str, str]]:
    return list(
        csv.DictReader(io.StringIO(checkpoint.find(run.path, "latest").text("rollout.csv")))
    )


def whole_episodes(lines: list[dict[str, str]]) -> Iterator[list[dict[str, str]]]:
    """Yields the lines of each episode that starts and ends in the rollout."""
    episode: list[dict[str, str]] = []
    for line in lines:
        if line["starts"] == "True":
            episode = []
        elif not episode or episode[0]["env"] != line["env"]:
            episode = []
            continue  # the episode started before the rollout
        episode.append(line)
        if "True" in (line["terminated"], line["truncated"]):
            yield episode
            episode = []


def identity(columns: dict[str, list[str]], env: str) -> tuple[object, ...]:
    """Returns what identifies an episode: its env copy, observations and actions."""
    names = [name for name in columns if name.startswith(("obs/", "action"))]
    return env, *(tuple(columns[name]) for name in names)


def csv_columns(text: str) -> dict[str, list[str]]:
    lines = list(csv.DictReader(io.StringIO(text)))
    return {name: [line[name] for line in lines] for name in lines[0]}


@pytest.mark.parametrize("case", CASES)
def test_the_rows_of_a_training_episode_are_those_of_the_checkpoint(
    case: str, monkeypatch: pytest.MonkeyPatch
):
    target, algo, changes = CASES[case]
    monkeypatch.setattr("gymnast.training.lifecycle.saving.TABLE_STEPS", 10**9)
    settings = BASE | changes
    if target == IDENTITY:
        run = train(target, overrides=SMALL | settings, quiet=True)
    else:
        run = train_small(target, settings, algo=algo)
    version = checkpoint.find(run.path, "latest").step
    found = {
        identity(columns, columns["env"][0]): columns
        for lines in whole_episodes(stored_lines(run))
        for columns in [{name: [line[name] for line in lines] for name in lines[0]}]
    }
    assert found
    (file,) = run.traces.glob(f"train-*{version}.safetensors")
    compared = 0
    for number in range(len(read_traces(file))):
        episode = OpenEpisode(EpisodeAddress(str(run.path), "train", version, number))
        table = csv_columns(to_csv(episode.table, max_rows=10**9))
        stored = found.pop(identity(table, str(episode.trace.env)), None)
        episode.close()
        if stored is None:
            continue  # of an earlier rollout, or not completely inside
        compared += 1
        shared = stored.keys() & table.keys()
        assert stored.keys() - table.keys() == {"env", "starts"}
        truncated = table["truncated"][-1] == "True"
        for name in shared - {"step", "logprob"} - (BOOTSTRAPPED if truncated else set()):
            assert table[name] == stored[name], name
        if not any(name.startswith("mean/") for name in table):  # a clipped action is another one
            logprobs = (np.array(x["logprob"], np.float64) for x in (table, stored))
            assert np.allclose(*logprobs, atol=1e-5)
        assert table["step"] == [str(t) for t in range(len(table["step"]))]
    assert not found
    assert compared >= 2
    if case == "plain":  # the CSV of the API is the same text
        where = (str(run.path), "train", version, 0)
        episode = OpenEpisode(EpisodeAddress(*where))
        assert api.steps_csv(*where) == to_csv(episode.table, max_rows=10**9)
        episode.close()
