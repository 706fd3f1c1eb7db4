"""Traps 63 and 67: a run that learned nothing, or something else than its task, is neither solved nor
healthy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.config.resolve import resolve
from gymnast.evaluation.evaluate import Evaluation
from gymnast.insight.doctor import diagnose
from gymnast.insight.outcome import run_outcome
from gymnast.metrics.store import MetricStore
from gymnast.training.lifecycle.ending import doubts_about
from tests.small_runs import SMALL, train_small

QUICK = [part for key, value in SMALL.items() for part in ("--set", f"{key}={value}")]


def gymnast(*words: str) -> str:
    """Returns what a command prints."""
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    return result.output


def seen_by_users(run: str) -> str:
    """Returns everything that the commands say about a run, but for its id."""
    pages = [gymnast("show", run), gymnast("runs"), gymnast("doctor", run), gymnast("report", run)]
    report = Path(pages[-1].strip().splitlines()[-1].split()[-1])
    pages[-1] = report.read_text() if report.is_file() else pages[-1]
    return "\n".join(pages)


# ---- 63: a branch that learned nothing --------------------------------------------------------


def test_63_a_branch_that_learned_nothing_is_not_solved_by_the_score_of_its_parent():
    fast = ["--set", "algo.n_steps=16", "--set", "env.n_envs=8", "--set", "algo.lr=0.01"]
    fast += [
        "--set",
        "algo.gamma=0",
        "--set",
        "eval.every=10 rollouts",
        "--set",
        "facts.threshold=7",
    ]
    fast += ["--set", "checkpoint.keep=20", "--set", "eval.episodes=10", "--env-steps", "5120"]
    fast += ["--set", "eval.confirm_episodes=10"]
    target = "py:tests.scripted:Choose"
    gymnast("train", target, "--quiet", "--name", "good", *QUICK, *fast)
    assert "healthy: scored 8.00" in gymnast("doctor", "good")
    wreck = ["--set", "algo.lr=1000", "--set", "transaction.max_kl=off", "--name", "wrecked"]
    end = gymnast("resume", "good", "--at", "2560", "--quiet", *wreck)
    sentence = "no version of this branch is better than its parent (8.00)"
    assert sentence in end
    assert "solved: py:" not in end.replace("not solved: py:", "")
    found = json.loads(gymnast("doctor", "wrecked", "--json"))["diagnoses"][0]
    assert (found["outcome"]["kind"], found["healthy"]) == ("failed", False)
    assert sentence in found["outcome"]["text"]
    page = gymnast("show", "wrecked")
    assert sentence in page
    assert ", solved" not in page
    best = json.loads(gymnast("show", "wrecked", "--json"))
    assert best["best_step"] > 2560
    assert best["best_score"] < 8


# ---- 67: a time limit or a farmed reward ------------------------------------------------------


def test_67_a_time_limit_that_makes_every_policy_score_the_same_is_not_solved():
    limit = ["--set", "env.max_episode_steps=60", "--set", "eval.max_episode_steps=60"]
    run = ["train", "Acrobot-v1", "--name", "short", "--quiet", "--env-steps", "4096", *limit]
    assert "\ndoubtful: Acrobot-v1" in gymnast(*run, *QUICK, "--set", "eval.every=50%")
    text = seen_by_users("short")
    for sentence in (
        "no version of this run is better than the untrained policy (-60.0)",
        "the untrained policy already reaches the threshold (-60.0)",
        "every evaluated episode, also of the untrained policy, has the same return",
    ):
        assert sentence in text
    assert "healthy:" not in text
    assert ", solved" not in text
    found = json.loads(gymnast("doctor", "short", "--json"))["diagnoses"][0]
    assert (found["outcome"]["kind"], found["healthy"]) == ("failed", False)


@pytest.mark.parametrize("unscored", [{"eval.every": "off"}, {"eval.episodes": 1}])
def test_67_without_a_score_of_its_start_a_run_is_compared_with_its_first_training_return(unscored):
    limit = {"env.max_episode_steps": 60, "eval.max_episode_steps": 60, "stop.env_steps": 4096}
    run = train_small("Acrobot-v1", {"eval.every": "50%"} | limit | unscored)
    assert (run.info["score"]["mean"], run.info["solved"]) == (-60, False)
    found = diagnose(run)
    assert (found.outcome.kind, found.healthy) == ("failed", False)
    assert not any("budget" in finding.cause for finding in found.findings)
    text = seen_by_users(run.id)
    assert "the run is no better than its first training episodes" in text
    assert ", solved" not in text


def test_67_training_episodes_with_a_shorter_time_limit_are_no_baseline():
    """Every step costs 1, so that no evaluation can be better than them."""
    limits = {"env.max_episode_steps": 60, "eval.max_episode_steps": 200, "eval.every": "off"}
    run = train_small("Acrobot-v1", limits | {"stop.env_steps": 4096})
    assert run.info["score"]["mean"] < -60
    assert run.info["doubts"] == []
    assert "first training return" not in diagnose(run).outcome.text


HOVER = {
    "env.n_envs": 8,
    "env.max_episode_steps": 20,
    "eval.max_episode_steps": 20,
    "eval.every": "50%",
    "eval.episodes": 20,
    "eval.confirm_episodes": 20,
    "algo.n_steps": 16,
    "algo.lr": 0.01,
    "stop.rollouts": 40,
}


@pytest.mark.parametrize("threshold", [50, "off"])
def test_67_a_reward_that_is_farmed_to_the_time_limit_is_doubtful_unless_that_is_the_goal(
    threshold,
):
    run = train_small("Hover", HOVER | {"facts.threshold": threshold})
    assert run.info["score"]["mean"] == 60
    found = diagnose(run)
    assert (found.outcome.kind, found.healthy) == ("doubtful", False)
    assert "the time limit ended every episode" in found.outcome.text
    assert run.info["solved"] is not True
    text = seen_by_users(run.id)
    assert "doubtful" in text
    assert ", solved" not in text
    survival = {"facts.threshold": threshold, "facts.termination": "failure"}
    meant = diagnose(train_small("Hover", HOVER | survival))
    assert meant.outcome.kind == ("learned" if threshold == "off" else "solved")
    assert threshold == "off" or meant.healthy is True


def start(mean: float, half: float, low: float, high: float, truncated: float) -> Any:
    interval = {"mean": mean, "low": mean - half, "high": mean + half, "iqm": mean, "episodes": 20}
    ends = {"return_min": low, "return_max": high, "truncated_share": truncated}
    return interval | ends | {"env_steps": 0}


ENDINGS = {
    # preset, start, returns of the final episodes, share of them that was truncated -> doubts
    "CartPole solved": ("CartPole-v1", start(30, 3, 20, 40, 0), [500] * 20, 1, []),
    "Hopper hops on": ("Hopper-v5", start(20, 5, 10, 30, 0), [3900, 3950] * 10, 1, []),
    "Acrobot solved": ("Acrobot-v1", start(-500, 0, -500, -500, 1), [-80, -70] * 10, 0, []),
    "MountainCar solved": (
        "MountainCar-v0",
        start(-200, 0, -200, -200, 1),
        [-100, -98] * 10,
        0,
        [],
    ),
    "FrozenLake solved": ("FrozenLake-v1", start(0, 0, 0, 0, 0), [1.0, 0, 1, 1] * 5, 0, []),
    "Pendulum never terminates": (
        "Pendulum-v1",
        start(-1200, 100, -1600, -900, 1),
        [-150, -140] * 10,
        1,
        [],
    ),
    "LunarLander lands": (
        "LunarLander-v3",
        start(-300, 90, -600, -90, 0),
        [250, 270] * 10,
        0.2,
        [],
    ),
    "LunarLander hovers": (
        "LunarLander-v3",
        start(-300, 90, -600, -90, 0),
        [250, 270] * 10,
        1,
        ["all truncated"],
    ),
    "MountainCar stays": (
        "MountainCar-v0",
        start(-200, 0, -200, -200, 1),
        [-200] * 20,
        1,
        ["not better", "no spread"],
    ),
    "CartPole is easy": (
        "CartPole-v1",
        start(480, 4, 470, 490, 0),
        [500] * 20,
        1,
        ["solved at start"],
    ),
    "no score of the start": ("CartPole-v1", None, [500] * 20, 1, []),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_67_a_score_is_doubtful_only_for_a_reason(name, tmp_path):
    preset, at_start, returns, truncated, doubts = ENDINGS[name]
    count = len(returns)
    ends = tuple(i < truncated * count for i in range(count))
    confirmed = Evaluation(
        1000,
        tuple(map(float, returns)),
        (9,) * count,
        tuple(range(count)),
        exact=False,
        truncated=ends,
    )
    with MetricStore(tmp_path / "metrics.db", "w") as store:
        cfg = resolve(preset).config
        found = doubts_about(confirmed, at_start, cfg, store, trained_before=False)
    assert found == doubts


def info(**fields: Any) -> Any:
    known = {"status": "finished", "env": "CartPole-v1", "solved": None, "threshold": None}
    return known | {"score": score(100), "start_score": score(10)} | fields


def score(mean: float, half: float = 1.0) -> Any:
    return {"mean": mean, "low": mean - half, "high": mean + half, "iqm": mean, "episodes": 20}


OUTCOMES = {
    "solved": info(solved=True, threshold=95),
    "learned": info(),
    "doubtful": info(solved=False, threshold=95, doubts=["all truncated"]),
    "unconfirmed": info(solved=False, threshold=99.5),
    "failed": info(solved=False, threshold=101),
    "unknown": info(score=None),
    "early": info(status="running", reason=""),
}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_67_every_kind_of_outcome_follows_from_run_json(kind):
    assert run_outcome(OUTCOMES[kind], []).kind == kind


@pytest.mark.parametrize("solved", [True, False])
@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "than the untrained policy (100.5)"),
        ({"parent": "p", "parent_kind": "branch"}, "of this branch is better than its parent"),
        ({"parent": "p", "parent_kind": "weights"}, "than the weights that it started from"),
    ],
)
def test_67_a_run_that_is_no_better_than_its_start_failed_whatever_its_threshold(
    solved, fields, sentence
):
    found = run_outcome(
        info(
            threshold=50,
            solved=solved,
            start_score=score(100.5),
            doubts=[] if solved else ["not better"],
            **fields,
        ),
        [],
    )
    assert found.kind == "failed"
    assert sentence in found.text or solved


def test_67_runs_of_older_versions_are_compared_with_their_first_training_return():
    row = {"episode/return": 99.9, "episode/return_std": 1.0, "episode/count": 10.0}
    found = run_outcome(info(threshold=50, solved=True, start_score=None), [row])
    assert found.kind == "failed"
    assert "no better than sampled actions, the first training return (99.9)" in found.text
