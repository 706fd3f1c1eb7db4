"""Runs with Dict observations (an image and several categories): training, evaluation, resume, reading."""

from __future__ import annotations

import csv
import io
import math
from typing import Any

import numpy as np
import pytest

import gymnast
from gymnast.envs.build.defaults import default_settings
from gymnast.errors import EnvError
from gymnast.measure.limits import metric_limits
from gymnast.play.players import RandomPlayer, TrainedPlayer
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.spaces import spaces
from gymnast.spaces.spaces import DiscreteAction
from gymnast.training.lifecycle.prepare import prepare
from gymnast.training.python_api import train
from tests.identity import OBSERVATIONS, Identity
from tests.small_runs import (
    SMALL,
    checkpoint_arrays,
    copy_killed_at,
    exact_metrics,
    resume_run,
    rows,
    same_arrays,
    same_traces,
    traces,
)

TARGET = "py:tests.identity:Identity"
N, T = 4, 8
SETTINGS: dict[str, Any] = SMALL | {
    "env.kwargs": {"obs": "parts", "action": "choices", "masked": True, "length": 6},
    "env.n_envs": N,
    "algo.n_steps": T,
    "algo.epochs": 1,
    "policy.embedding": 8,
    "normalize.obs": "running",
    "stop.rollouts": 5,
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 9,
    "eval.every": "2 rollouts",
    "eval.mode": "process",
    "traces.train": "100%",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train(TARGET, overrides=SETTINGS, quiet=True, runs_dir=tmp_path_factory.mktemp("runs"))


def test_a_run_on_composite_observations_gets_the_same_score_in_its_process_and_here(run: Run):
    assert run.info["status"] == "finished"
    again = gymnast.evaluate(run)
    assert again["mean"] == run.info["score"]["mean"]
    assert 0 < again["mean"] <= 6


def test_a_run_on_composite_observations_resumes_bit_exactly(run: Run):
    again = resume_run(copy_killed_at(run, 3 * N * T))
    for stem in ("policy", "learner", "collector"):
        assert same_arrays(checkpoint_arrays(again, stem), checkpoint_arrays(run, stem))
    assert [exact_metrics(row) for row in rows(again)] == [exact_metrics(row) for row in rows(run)]
    for kind in ("train", "eval", "confirm"):
        ours, theirs = traces(again, kind), traces(run, kind)
        assert ours.keys() == theirs.keys()
        assert all(same_traces(ours[step], theirs[step]) for step in ours)


def test_a_stored_policy_acts_on_dicts_as_it_was_scored(run: Run):
    player = gymnast.load(run)
    for trace in traces(run, "confirm")[run.info["score"]["env_steps"]][:2]:
        env = Identity(**SETTINGS["env.kwargs"])
        obs, info = env.reset(seed=trace.seed)
        for action, value in zip(trace.action, trace.value, strict=True):
            assert np.array_equal(player.act(obs, info["action_mask"]), action)
            both = player.act([obs, obs], [info["action_mask"]] * 2)
            assert np.array_equal(both, [action, action])
            assert player.value(obs) == pytest.approx(float(value), abs=1e-4)
            obs, _, _, _, info = env.step(action)
    with pytest.raises(EnvError, match="lacks the entry sense"):
        player.act({"eye": obs["eye"]})


@pytest.mark.parametrize("sampled", [False, True, None], ids=["greedy", "sampled", "chance"])
def test_a_loaded_policy_takes_only_actions_that_the_mask_allows(run: Run, sampled: bool | None):
    env = Identity(**SETTINGS["env.kwargs"])
    policy = gymnast.load(run).policy
    player = (
        RandomPlayer(env.action_space)
        if sampled is None
        else TrainedPlayer(policy, sampled=sampled)
    )
    taken = set()
    for seed in range(8):
        obs, info = env.reset(seed=seed)  # which holds every action against the mask
        player.start_episode(seed)
        for _ in range(6):
            action = player.decide(obs, info["action_mask"]).action
            taken.add(tuple(action.ravel().tolist()))
            obs, _, _, _, info = env.step(action)
    assert len(taken) > (1 if sampled is False else 4)


def test_rows_and_step_tables_contain_the_numeric_entries_without_the_image(run: Run):
    last = [row for row in rows(run) if "policy/loss" in row][-1]
    assert 100 <= last["rollout/obs_mean"] <= 140  # of `sense`, and of nothing else
    assert last["policy/entropy"] <= math.log(6)
    saved = checkpoint.find(run.path, "latest")
    table = list(csv.DictReader(io.StringIO(saved.text("rollout.csv"))))
    assert len(table) == N * T
    seen = {name for name in table[0] if name.startswith("obs/")}
    assert seen == {"obs/eye.noise/0", "obs/sense/0"}
    assert {"action/0", "action/1", "greedy"} <= table[0].keys()
    assert {line["action/0"] for line in table} <= {"0", "1", "2"}


@pytest.mark.parametrize("backend", ["inprocess", "process"])
def test_traces_store_the_observations_if_episodes_cannot_be_replayed(backend: str):
    settings = {"facts.deterministic": "no", "env.backend": backend, "stop.rollouts": 3}
    run = train(TARGET, overrides=SETTINGS | settings | {"eval.mode": "inline"}, quiet=True)
    found = [t for kind in ("train", "eval") for many in traces(run, kind).values() for t in many]
    assert found
    for trace in found:
        assert len(trace.obs) == len(trace) + 1 == 7
        assert trace.obs.dtype == spaces.convert_obs_space(OBSERVATIONS["parts"]()).dtype
        env = Identity(**SETTINGS["env.kwargs"])
        obs, _ = env.reset(seed=trace.seed)
        for shown, action in zip(trace.obs[:-1], trace.action, strict=True):
            assert np.array_equal(shown["eye.camera"], obs["eye"]["camera"])
            assert shown["eye.noise"] == obs["eye"]["noise"]
            assert shown["sense"] == obs["sense"]
            obs, *_ = env.step(action)


def test_the_preflight_text_describes_every_kind_of_network():
    prepared = prepare(TARGET, SETTINGS)
    try:
        text = prepared.preflight().network
        limits = metric_limits(prepared.collector, prepared.resolved.config)
    finally:
        prepared.collector.close()
    assert "eye.camera: 6 x 8 x 3 image -> 15 convolutions -> 256" in text
    assert "eye.noise: 3 embedded -> 8" in text
    assert text.endswith("| 272 -> 16 -> 5 | 272 -> 16 -> 1")
    assert limits.entropy == pytest.approx(math.log(6))
    assert (limits.action_low, limits.action_high) == (0, 2)


def test_defaults_depend_on_the_observation_space():
    def for_(name: str) -> dict[str, Any]:
        return default_settings(
            spaces.convert_obs_space(OBSERVATIONS[name]()), DiscreteAction(2, 0), "ppo"
        )

    assert for_("image")["policy"]["hidden"] == []
    assert "obs" not in for_("image")["normalize"]
    assert for_("parts")["normalize"]["obs"] == "running"
    assert for_("image")["algo"]["lr"] != for_("vector")["algo"]["lr"]
    assert for_("tuple")["policy"]["hidden"] == for_("vector")["policy"]["hidden"] == [64, 64]
