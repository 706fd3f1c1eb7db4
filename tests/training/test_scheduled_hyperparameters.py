"""Every numeric hyperparameter of every algorithm can be a schedule: in runs, roles, rules and on resume."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.clock import Clock
from gymnast.config.resolve import resolve
from gymnast.config.schedule import Schedule
from gymnast.config.sections import ALGORITHMS
from gymnast.errors import ConfigError
from gymnast.runs import checkpoint
from gymnast.training.live.settings import Settings
from tests.small_runs import (
    assert_same_run,
    copy_killed_at,
    resume_run,
    rows,
    train_small,
    train_with_commands,
)

FIXED = {"replay"}
"""Hyperparameters that cannot change during a run, because memory is allocated once."""
COURSES = {
    "lr": "1e-3 -> 1e-4 warmup 50%",
    "gamma": "0.9 -> 0.99",
    "max_grad_norm": "0.5 -> 1",
    "adam_eps": "1e-5 -> 1e-8 exponential",
    "weight_decay": "0 -> 1e-2",
    "reset_optimizer_on_lr_jump": "1.5 -> 3",
    "n_steps": "16 -> 8",
    "epochs": "3 -> 1",
    "batch_size": "8 -> 16",
    "clip": "0.2 -> 0.1",
    "value_clip": "0.2 -> 0.4",
    "entropy_coef": "0.01 -> 0",
    "value_coef": "0.5 -> 1",
    "gae_lambda": "0.9 -> 1",
    "target_kl": "0.1 -> 0.01",
    "kl_coef": "0 -> 0.1",
    "gradient_steps": "2 -> 6",
    "warmup": "8 -> 40",
    "epsilon": "1 -> 0.1",
    "target_every": "1 -> 5",
    "episodes": "1 -> 2",
}
"""A schedule for every hyperparameter, with values small enough for a run of a second."""
WHOLE = {
    *("n_steps", "epochs", "batch_size", "gradient_steps", "warmup", "target_every", "episodes")
}
RUN = {
    "env.n_envs": 3,
    "env.max_episode_steps": 12,
    "stop.env_steps": 300,
    "eval.every": "3 rollouts",
    "eval.warmup": "off",
    "eval.start_at": "off",
    "eval.max_episode_steps": 12,
    "checkpoint.every": "2 rollouts",
    "checkpoint.keep": 20,
    "traces.train": "100%",
}


def is_numeric(value: Any) -> bool:
    return isinstance(value, int | float | Schedule) and not isinstance(value, bool)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_numeric_hyperparameter_can_be_a_schedule(name: str):
    section, _ = ALGORITHMS[name]
    default = resolve("CartPole-v1", algo=name).config.algo
    numeric = {field for field, value in default if is_numeric(value)}
    switched_off = {field for field, value in default if value is None}
    assert (numeric | switched_off) - FIXED == {*section.schedulable_fields()}


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("ppo", "native"),
        ("ppo", "torch"),
        ("a2c", "native"),
        ("reinforce", "native"),
        ("dqn", "torch"),
    ],
)
def test_every_schedule_is_followed_recorded_and_resumed_exactly(name: str, engine: str):
    section, _ = ALGORITHMS[name]
    courses = {field: COURSES[field] for field in section.schedulable_fields()}
    settings = {f"algo.{field}": course for field, course in courses.items()}
    whole = train_small("CartPole-v1", RUN | settings | {"engine": engine}, algo=name)
    recorded = [row for row in rows(whole) if "hyper/lr" in row]
    before = Clock(limits={"env_steps": 300})
    for row in recorded:  # a row has the values that its rollout began with
        for field, course in courses.items():
            due = Schedule.parse(course)(before)
            if field in WHOLE:
                due = max(1, round(due))
            assert row[f"hyper/{field}"] == due, (field, before)
        before.env_steps = int(row["clock/env_steps"])
    assert recorded[0]["hyper/lr"] == pytest.approx(1e-4)  # not 0 in the first rollout
    steps = sorted(checkpoint.list_checkpoints(whole.path))
    assert_same_run(resume_run(copy_killed_at(whole, steps[1])), whole)


def test_a_constant_hyperparameter_stays_a_plain_number_without_a_metric():
    config = resolve("CartPole-v1", {"algo.epochs": 4, "algo.gamma": "0.9"}).config
    assert (config.algo.epochs, config.algo.gamma) == (4, 0.9)
    assert isinstance(config.algo.epochs, int)
    settings = Settings(config)
    row = settings.schedules.row(
        settings.schedules.hyperparameters(Clock(limits={"env_steps": 10}))
    )
    assert "hyper/lr" in row
    assert not {"hyper/epochs", "hyper/gamma"} & row.keys()


def test_a_schedule_can_be_set_while_the_run_trains():
    plan = {2: [("set", {"algo.gamma": "0.5 -> 0.9", "algo.epochs": "3 -> 1"})]}
    run = train_with_commands(
        "CartPole-v1", RUN | {"algo.n_steps": 16, "algo.batch_size": "50%"}, plan
    )
    followed = [row for row in rows(run) if "hyper/gamma" in row]
    assert followed
    assert followed[0]["clock/rollouts"] == 3
    assert 0.5 < followed[0]["hyper/gamma"] < followed[-1]["hyper/gamma"] < 0.9
    assert {row["hyper/epochs"] for row in followed} <= {1, 2, 3}


def test_a_rule_scales_a_schedule_of_whole_numbers_to_whole_numbers():
    config = resolve(
        "CartPole-v1",
        {
            "algo.epochs": "9 -> 1",
            "rules.fewer": {
                "watch": "episode/return",
                "change": {"algo.epochs": "x0.5"},
                "within": {"algo.epochs": "1..20"},
            },
        },
    ).config
    rule = config.rules["fewer"]
    changed = rule.change["algo.epochs"].apply(config.algo.epochs, rule.within["algo.epochs"])
    assert str(changed) == "4 -> 1"
    assert str(resolve("CartPole-v1", {"algo.epochs": str(changed)}).config.algo.epochs) == "4 -> 1"


def test_a_role_has_schedules_of_its_own():
    own = {"roles.seeker.set": {"algo.gamma": "0.9 -> 0.99", "algo.epochs": "4 -> 2"}}
    settings = Settings(resolve("tag", own | {"stop.env_steps": 1000}).config)
    halfway = Clock(env_steps=500, limits={"env_steps": 1000})
    seeker = settings.schedules_for("seeker")
    values: Any = seeker.hyperparameters(halfway)
    assert (values.gamma, values.epochs) == (pytest.approx(0.945), 3)
    assert seeker.row(values)["hyper/epochs"] == 3
    assert not isinstance(settings.for_role("hider").algo.gamma, Schedule)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("algo.gamma", "0.9 -> 2", "at most 1"),
        ("algo.gamma", "0.9 -> 0.5 floor 1.5", "at most 1"),
        ("algo.epochs", "0.5 -> 4", "not a whole number"),
        ("algo.epochs", "0 -> 4", "too small"),
        ("algo.target_kl", "off -> 0.02", "`off` cannot be part of a schedule"),
        ("algo.max_grad_norm", {"0%": 1, "50%": "off"}, "`off` cannot be part of a schedule"),
        ("algo.max_grad_norm", "1 -> 0", "more than 0"),
        ("algo.n_steps", "16 -> fast", "not a number"),
        ("algo.lr", {}, "two or more key frames"),
        ("algo", {}, "sets nothing"),
        ("shaping", {}, "sets nothing"),
        ("env.n_envs", "4 -> 8", "can follow a schedule"),
        ("policy.log_std", "0 -> -1", "can follow a schedule"),
    ],
)
def test_impossible_schedules_are_refused_with_the_reason(key: str, value: Any, problem: str):
    with pytest.raises(ConfigError, match=problem) as refused:
        resolve("CartPole-v1", {key: value})
    assert key in str(refused.value)


def test_the_size_of_the_replay_memory_cannot_follow_a_schedule_and_the_error_says_why():
    with pytest.raises(ConfigError, match="allocated once"):
        resolve("CartPole-v1", {"algo.replay": "1k -> 2k"}, algo="dqn")
