"""Mistakes in roles are reported once, with their key, before any environment is created."""

from __future__ import annotations

from typing import Any

import pytest

from gymnast.config.problems import InvalidConfig
from gymnast.config.resolve import resolve
from gymnast.config.target import split_target

BAD = {
    "learner in a ladder": (
        {"roles.hider.plays": ["random", "learner"]},
        "roles.hider.plays: learner cannot be part of a ladder",
    ),
    "nobody at all": ({"roles.hider.plays": []}, "roles.hider.plays"),
    "another's setting": (
        {"roles.hider.set": {"env.n_envs": 3}},
        "roles.hider.set: env.n_envs cannot differ between roles",
    ),
    "steps of one role": (
        {"roles.hider.set": {"algo.n_steps": 3}},
        "roles.hider.set: algo.n_steps cannot differ between roles",
    ),
    "another algorithm": (
        {"roles.hider.set": {"algo.name": "a2c"}},
        "roles.hider.set: algo.name cannot differ between roles",
    ),
    "a name that stands for something else": ({"roles.eval.plays": "random"}, "cannot name a role"),
    "no such key": ({"roles.hider.play": "random"}, "did you mean roles.hider.plays"),
    "no such remedy": ({"league.balance.remedies": ["prayer"]}, "league.balance.remedies"),
    "a time limit of one agent": ({"env.max_episode_steps": 9}, "env.max_episode_steps"),
    "noise around one agent": ({"env.noise.reward": 0.5}, "env.noise"),
    "the return of one agent": ({"stop.train_return": 1}, "stop.train_return"),
    "an evaluation of one agent": ({"eval.start_at": 1}, "eval.start_at"),
}


@pytest.mark.parametrize("case", BAD)
def test_each_mistake_gives_one_clear_error(case: str):
    settings, words = BAD[case]
    with pytest.raises(InvalidConfig) as refused:
        resolve("tag", settings)
    (problem,) = refused.value.problems
    assert words in problem
    assert problem.startswith(("--set", "roles."))


def test_single_agent_environments_reject_roles():
    settings: dict[str, Any] = {"roles.seeker.plays": "random"}
    with pytest.raises(InvalidConfig, match="CartPole-v1 has no roles"):
        resolve("CartPole-v1", settings)


def test_a_single_player_needs_no_list():
    role = resolve("tag", {"roles.hider.plays": "random"}).config.roles["hider"]
    assert role.plays == ("random",)
    assert not role.is_learner


def test_settings_of_a_role_may_be_nested():
    dotted = resolve("tag", {"roles.hider.set": {"algo.lr": 1e-4}}).config.roles["hider"]
    tree = resolve("tag", {"roles.hider.set.algo.lr": 1e-4}).config.roles["hider"]
    assert dotted.set == tree.set == {"algo.lr": 1e-4}


def test_multi_agent_environments_may_be_user_classes():
    for target, expected in {
        "pettingzoo/py:my.game:make": ("pettingzoo/py:my.game:make", None),
        "pettingzoo/py:my.game:make:a2c": ("pettingzoo/py:my.game:make", "a2c"),
        "pettingzoo/py:my.game": ("pettingzoo/py:my.game", None),
        "pettingzoo/simple_spread_v3:a2c": ("pettingzoo/simple_spread_v3", "a2c"),
        "py:my.env:Mine:a2c": ("py:my.env:Mine", "a2c"),
    }.items():
        assert split_target(target) == expected
