"""Runs with Dict actions: training, resume, evaluation, traces, step tables, films, play and checks."""

from __future__ import annotations

import csv
import io
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gymnast
from gymnast.check.environment import check_environment
from gymnast.config.resolve import resolve
from gymnast.evaluation.rescore import rescore
from gymnast.film.actions import ActionLabels
from gymnast.film.choose import ChosenEpisode
from gymnast.film.make import FilmOptions, film_episode
from gymnast.film.renderer import EnvRenderer
from gymnast.film.replay import ReplayMismatch, episode_frames
from gymnast.play.keys import KeyBindings
from gymnast.play.players import RandomPlayer, TrainedPlayer
from gymnast.play.step_text import action_text
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.training.python_api import train
from tests.film.film_envs import Cockpit, decode_film
from tests.identity import Identity
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

N, T = 4, 8
TARGET = "py:tests.identity:Identity"
SETTINGS: dict[str, Any] = SMALL | {
    "env.kwargs": {"action": "dict", "masked": True, "length": 6},
    "env.n_envs": N,
    "algo.n_steps": T,
    "stop.rollouts": 5,
    "checkpoint.every": "1 rollouts",
    "checkpoint.keep": 9,
    "eval.every": "2 rollouts",
    "traces.train": "100%",
}
COCKPIT = "py:tests.film.film_envs:Cockpit"
NAMES = ["gear", "keys.0", "keys.1", "stick.0", "stick.1"]


@pytest.fixture(scope="module", params=["native", "torch"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    given = SETTINGS | {"engine": request.param}
    return train(TARGET, overrides=given, quiet=True, runs_dir=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def cockpit(tmp_path_factory: pytest.TempPathFactory) -> Run:
    given = {k: v for k, v in SETTINGS.items() if k != "env.kwargs"}
    return train(COCKPIT, overrides=given, quiet=True, runs_dir=tmp_path_factory.mktemp("runs"))


def test_a_run_gets_the_same_score_again_and_resumes_bit_exactly(run: Run):
    assert gymnast.evaluate(run).mean == run.info["score"]["mean"]
    again = resume_run(copy_killed_at(run, 3 * N * T))
    for stem in ("policy", "learner", "collector"):
        assert same_arrays(checkpoint_arrays(again, stem), checkpoint_arrays(run, stem))
    assert [exact_metrics(row) for row in rows(again)] == [exact_metrics(row) for row in rows(run)]
    for kind in ("train", "eval", "confirm"):
        ours, theirs = traces(again, kind), traces(run, kind)
        assert ours.keys() == theirs.keys()
        assert all(same_traces(ours[step], theirs[step]) for step in ours)


def test_actions_are_sampled_in_evaluations(run: Run):
    score = rescore(str(run.path), episodes=3, sampled=True)
    assert (score.episodes, score.deterministic, score.numbers) == (3, False, {})
    assert score == rescore(str(run.path), episodes=3, sampled=True)


def test_worker_processes_give_the_same_run(cockpit: Run, tmp_path: Path):
    given = {k: v for k, v in SETTINGS.items() if k != "env.kwargs"} | {"env.backend": "process"}
    other = train(COCKPIT, overrides=given, quiet=True, runs_dir=tmp_path)
    for stem in ("policy", "learner"):
        assert same_arrays(checkpoint_arrays(other, stem), checkpoint_arrays(cockpit, stem))


def test_a_stored_policy_takes_the_actions_of_its_traces(run: Run):
    player = gymnast.load(run)
    space = player.policy.action_space
    for trace in traces(run, "confirm")[run.info["score"]["env_steps"]][:2]:
        assert trace.action.dtype == np.float32
        env = Identity(**SETTINGS["env.kwargs"])
        obs, info = env.reset(seed=trace.seed)
        for row in trace.action:
            action = player.act(obs, info["action_mask"])
            assert np.array_equal(space.pack(action), row)
            obs, _, _, _, info = env.step(action)


@pytest.mark.parametrize("sampled", [False, True, None], ids=["greedy", "sampled", "chance"])
def test_players_take_only_actions_that_the_mask_allows(run: Run, sampled: bool | None):
    env = Identity(**SETTINGS["env.kwargs"])
    policy = gymnast.load(run).policy
    player = (
        RandomPlayer(env.action_space)
        if sampled is None
        else TrainedPlayer(policy, sampled=sampled)
    )
    for seed in range(4):
        obs, info = env.reset(seed=seed)
        player.start_episode(seed)
        for _ in range(6):  # the environment compares every action with its mask
            obs, _, _, _, info = env.step(player.decide(obs, info["action_mask"]).action)


def test_step_tables_and_metrics_have_a_column_per_element(cockpit: Run):
    saved = checkpoint.find(cockpit.path, "latest")
    table = list(csv.DictReader(io.StringIO(saved.text("rollout.csv"))))
    assert len(table) == N * T
    assert [name for name in table[0] if name.startswith("action")] == [
        f"action/{name}" for name in NAMES
    ]
    assert {line["action/gear"] for line in table} <= {"0", "1", "2"}
    for line in table:
        chances = [float(line[f"p/gear.{i}"]) for i in range(3)]
        assert sum(chances) == pytest.approx(1)
        assert -5 < float(line["mean/stick.0"]) < 5
    last = [row for row in rows(cockpit) if "rollout/action_mean.4" in row][-1]
    assert 0 <= last["rollout/action_mean.0"] <= 2
    assert -1 <= last["rollout/action_mean.3"] <= 1
    assert 0 <= last["rollout/action_at_limit"] <= 1
    assert "policy/entropy_share" not in last
    assert "network/logit_range" not in last
    assert 0 < last["policy/prob_min_mean"] < last["policy/prob_max_mean"] < 1


def test_a_film_repeats_a_stored_episode_and_shows_every_element(cockpit: Run, tmp_path: Path):
    cfg = resolve(COCKPIT).config
    (trace, *_) = traces(cockpit, "eval")[max(traces(cockpit, "eval"))]
    with closing(EnvRenderer(cfg)) as stage:
        frames = list(episode_frames(stage, trace, strict=True))
        labels = ActionLabels(stage.action_space)
        bars = labels.bars(frames[0])
        other = replace(trace, action=np.roll(trace.action, 1, axis=0) * np.float32(0.5))
        with pytest.raises(ReplayMismatch):
            list(episode_frames(stage, other, strict=True))
    assert frames[-1].total == pytest.approx(trace.raw_return)
    assert [bar.label.split()[0] for bar in bars] == NAMES
    gear, *keys = [bar.high for bar in bars[:3]]
    assert all(0.5 <= chance <= 1 for chance in keys)  # evaluation takes the most likely options
    assert 1 / 3 <= gear <= 1
    assert f"({gear * keys[0] * keys[1]:.0%})" in action_text(frames[0], labels)
    chosen = ChosenEpisode("eval", 0, "0", 0, trace)
    about = film_episode(cfg, chosen, FilmOptions(tmp_path / "film.mp4"))
    assert about.exact
    assert len(decode_film(tmp_path / "film.mp4")[0]) > len(trace)


def test_keys_are_one_number_per_element_and_add_up_where_they_are_continuous():
    keys = {"left": [1, 0, 0, -0.8, 0], "up": [3, 1, 0, -0.8, 0.5]}
    facts = resolve(COCKPIT, {"facts.keys": keys}).config.facts
    bindings = KeyBindings(Cockpit().action_space, facts)
    action = bindings.action(["left", "up"])
    assert action["gear"] == 3
    assert action["keys"].tolist() == [1, 0]
    assert action["stick"].tolist() == [-1.0, 0.5]


def test_check_renders_an_environment_with_dict_actions():
    report = check_environment(COCKPIT, resolve(COCKPIT).config, steps=100)
    wrong = {f.check: f.what for f in report.findings if f.verdict == "wrong"}
    assert wrong.keys() == {"time limit"}  # its episodes end after 6 steps by design
    assert any(f.check == "rendering" and f.verdict == "ok" for f in report.findings)


@pytest.mark.parametrize("kind", ["tuple", "dict"])
@pytest.mark.parametrize("masked", [False, True])
def test_check_finds_nothing_wrong(kind: str, masked: bool):
    kwargs = {"action": kind, "masked": masked}
    cfg = resolve(TARGET, {"env.kwargs": kwargs}).config
    report = check_environment(TARGET, cfg, steps=200)
    assert {f.check: f.what for f in report.findings if f.verdict == "wrong"} == {}
    assert any(f.check == "actions" and "were taken" in f.what for f in report.findings)
