"""Every component of a policy's observation has a name, also in stacks and for previous actions."""

from __future__ import annotations

import csv
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from gymnast.check.environment import check_environment
from gymnast.config.resolve import resolve
from gymnast.envs.build.make import make_env
from gymnast.measure.limits import metric_limits
from gymnast.play.request import PlayRequest
from gymnast.play.session import play
from gymnast.runs import checkpoint
from gymnast.shaping.cartpole import EDGE
from gymnast.spaces.observations import BoxObs
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.spaces.spaces import convert_obs_space
from gymnast.training.collectors import open_collector
from gymnast.training.learner import build_policy
from tests.play.test_playing import hide_display
from tests.small_runs import rows, train_small

CART = ("cart position", "cart velocity", "pole angle", "pole angular velocity")
BOTH = {"env.stack": 2, "env.previous_actions": 2}


def named(
    settings: dict[str, Any], actions: list[Any], env_id: str = "CartPole-v1"
) -> dict[str, float]:
    """Returns the observation after these actions, by component name."""
    cfg = resolve(env_id, settings).config
    env = make_env(cfg.env)
    obs, _ = env.reset(seed=3)
    for action in actions:
        obs, *_ = env.step(action)
    parts = facts_for_policy_obs(
        cfg.facts, cfg.env, convert_obs_space(env.observation_space)
    ).observations
    assert env.observation_space.contains(obs)
    space: Any = env.observation_space
    ends = zip(space.low[-2:].tolist(), space.high[-2:].tolist(), strict=True)
    assert [(part.low, part.high) for part in parts[-2:]] == list(ends)
    return dict(zip((part.name for part in parts), obs.tolist(), strict=True))


def test_stacked_observations_are_named_by_age_and_actions_by_label():
    plain = gym.make("CartPole-v1")
    rows = [plain.reset(seed=3)[0], *(plain.step(action)[0] for action in (1, 0))]
    seen = named(BOTH, [1, 0])
    assert [seen[name] for name in CART] == rows[2].tolist()
    assert [seen[f"{name} 1 step ago"] for name in CART] == rows[1].tolist()
    before = {"action 2 steps ago: push left": 0, "action 2 steps ago: push right": 1}
    last = {"last action: push left": 1, "last action: push right": 0}
    assert list(seen.items())[8:] == list((before | last).items())


def test_actions_without_labels_are_numbered():
    settings = {"env.previous_actions": 1, "facts.actions": []}
    assert list(named(settings, [1]).items())[4:] == [("last action: 0", 0), ("last action: 1", 1)]


def test_box_actions_have_the_bounds_of_their_space():
    settings = {"env.previous_actions": 2, "facts.actions": ["torque"]}
    seen = named(settings, [np.array([0.5], np.float32)], "Pendulum-v1")
    assert (seen["action 2 steps ago: torque"], seen["last action: torque"]) == (0, 0.5)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"env.stack": 2, "facts.observations": []},
        {"env.previous_actions": 1, "facts.observations": [{"name": "x", "low": 0, "high": 1}] * 6},
        {"env.previous_actions": 2, "facts.observations": [{"name": "x", "low": 0, "high": 1}]},
    ],
    ids=["unchanged", "nothing declared", "all declared", "does not fit"],
)
def test_facts_are_unchanged_if_there_is_nothing_to_name(settings: dict[str, Any]):
    cfg = resolve("CartPole-v1", settings).config
    space = convert_obs_space(make_env(cfg.env).observation_space)
    assert facts_for_policy_obs(cfg.facts, cfg.env, space) == cfg.facts


def test_declared_ranges_hold_for_every_observation_of_a_stack():
    parts = [{"name": name, "low": -2 - i, "high": 1 + i} for i, name in enumerate(CART)]
    settings = {**BOTH, "normalize.obs": "static", "facts.observations": parts}
    cfg = resolve("CartPole-v1", settings).config
    collector = open_collector(cfg)
    policy = build_policy(*collector.spaces["agent"], cfg)
    collector.close()
    assert isinstance(policy.obs_space, BoxObs)
    assert policy.obs_space.low == (-2, -3, -4, -5) * 2 + (0,) * 4
    assert policy.obs_space.high == (1, 2, 3, 4) * 2 + (1,) * 4


def test_shaping_terms_and_step_tables_use_the_component_names():
    settings = {**BOTH, "env.n_envs": 2, "algo.n_steps": 16, "stop.env_steps": 96}
    run = train_small(
        "CartPole-v1", {**settings, "eval.every": "off", "shaping.centered.weight": 1}
    )
    table = checkpoint.find(run.path, "latest").path / "rollout.csv"
    lines = list(csv.DictReader(table.read_text().splitlines()))
    away = [abs(float(line["obs/cart position"])) / EDGE for line in lines]
    assert rows(run)[-1]["shaping/centered"] == pytest.approx(-np.mean(away))
    for before, line in pairwise(line for line in lines if line["env"] == "0"):
        if line["starts"] == "False":
            assert line["obs/cart position 1 step ago"] == before["obs/cart position"]
            assert float(line[f"obs/last action: {before['action']}"]) == 1


def test_metrics_use_the_component_names_and_ranges():
    cfg = resolve("CartPole-v1", {"env.previous_actions": 1}).config
    collector = open_collector(cfg)
    components = metric_limits(collector, cfg).obs_dims
    collector.close()
    names = [*CART, "last action: push left", "last action: push right"]
    assert [part.name for part in components] == names
    assert [(part.low, part.high) for part in components[4:]] == [(0, 1), (0, 1)]


def test_check_compares_observations_with_the_declared_ranges():
    report = check_environment("CartPole", resolve("CartPole-v1", BOTH).config, steps=100)
    (found,) = (finding for finding in report.findings if finding.check == "facts.observations")
    assert (found.verdict, found.what) == ("ok", "12 components, within their declared bounds")


def test_a_narration_includes_the_last_action(monkeypatch: pytest.MonkeyPatch):
    hide_display(monkeypatch)
    said: list[str] = []
    options = PlayRequest("CartPole-v1", "random", seed=1, step_by_step=True)
    cfg = resolve("CartPole-v1", {"env.previous_actions": 1}).config
    play(cfg, None, options, echo=said.append, ask=lambda _: "", on_episode_end=lambda _: None)
    chosen = next(text for text in said if text.startswith("  push")).strip()
    second = next(text for text in said if text.startswith("step 1"))
    assert f"last action: {chosen} 1" in second
