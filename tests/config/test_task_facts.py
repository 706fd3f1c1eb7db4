"""The threshold of a registration is used, and facts are not applied to another task than their own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from gymnast.config.environments import known_environments
from gymnast.config.presets import find_preset
from gymnast.config.resolve import REGISTERED_ORIGIN, apply_overrides, resolve
from gymnast.envs.build.defaults import resolve_for_spaces
from tests.small_runs import train_small

REGISTERED = {
    env.id: env.threshold
    for env in known_environments()
    if env.threshold is not None and find_preset(env.id).path is None
}


@pytest.mark.parametrize("env_id", REGISTERED)
def test_an_environment_without_a_preset_has_its_registered_threshold(env_id: str):
    found = resolve_for_spaces(env_id)
    assert found.config.facts.threshold == REGISTERED[env_id] == gym.spec(env_id).reward_threshold
    assert found.provenance["facts.threshold"] == REGISTERED_ORIGIN
    own = resolve_for_spaces(env_id, {"facts.threshold": 1})
    assert own.config.facts.threshold == 1
    assert own.provenance["facts.threshold"] == "--set"


@pytest.mark.parametrize("change", [{"map_name": "4x4"}, {"is_slippery": False}])
def test_a_registered_threshold_does_not_hold_for_other_arguments(change: dict[str, Any]):
    settings = {f"env.kwargs.{key}": value for key, value in change.items()}
    assert resolve_for_spaces("FrozenLake8x8-v1", settings).config.facts.threshold is None


@pytest.mark.parametrize(
    ("target", "key", "value", "other"),
    [
        ("FrozenLake-v1", "env.kwargs.map_name", "8x8", True),
        ("FrozenLake-v1", "env.kwargs.map_name", "4x4", False),  # the preset's own value
        ("CartPole-v1", "env.kwargs.sutton_barto_reward", True, True),
        ("CartPole-v1", "env.id", "Acrobot-v1", True),
        ("CartPole-v1", "env.tasks.other.id", "Acrobot-v1", True),
        ("CartPole-v1", "env.n_envs", 3, False),
        ("LunarLander-v3:continuous", "env.kwargs.continuous", True, False),
        ("LunarLander-v3", "env.kwargs.gravity", -4, True),
    ],
)
def test_facts_of_a_preset_hold_only_for_its_task(target: str, key: str, value: Any, other: bool):
    whole, changed = resolve(target), resolve(target, {key: value})
    for fact in ("reward", "returns", "optimum", "threshold", "published", "grid"):
        before, after = (getattr(found.config.facts, fact) for found in (whole, changed))
        assert after == ((None if fact != "published" else ()) if other else before), fact
    assert changed.config.facts.actions == whole.config.facts.actions
    assert (key in changed.provenance["facts.threshold"]) == other
    again, origins = apply_overrides(whole.config, {key: value}, provenance=whole.provenance)
    assert (again.facts, origins["facts.threshold"]) == (
        changed.config.facts,
        changed.provenance["facts.threshold"],
    )


def test_declared_facts_of_another_task_are_kept():
    settings = {"env.kwargs.sutton_barto_reward": True, "facts.reward": [-1, 0]}
    facts = resolve("CartPole-v1", settings).config.facts
    assert (facts.reward, facts.threshold) == ((-1.0, 0.0), None)


@pytest.mark.parametrize(
    ("target", "settings"),
    [
        ("CartPole-v1", {"env.kwargs.sutton_barto_reward": True}),
        ("MountainCar-v0", {"env.max_episode_steps": 210, "algo.n_steps": 220}),
    ],
)
def test_a_changed_task_raises_no_alert_about_impossible_values(
    target: str, settings: dict[str, Any]
):
    run = train_small(target, {"stop.rollouts": 1} | settings)
    assert not [alert["id"] for alert in run.info["alerts"] if "impossible" in alert["id"]]
