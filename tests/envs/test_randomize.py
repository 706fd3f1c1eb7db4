"""Randomized parameters take effect, in the fast step and in Gymnasium's own."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.box2d import lunar_lander
from gymnasium.envs.box2d.lunar_lander import heuristic

from gymnast.config.resolve import resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.errors import EnvError

STARTS = {"start_x": 0, "start_y": 1, "start_vx": 2, "start_vy": 3, "start_angle": 4}
"""Parameter -> index in the observation."""


def randomized(id: str, randomize: dict[str, Any], **kwargs: Any) -> Any:
    return make_env(EnvConfig.model_validate({"id": id, "randomize": randomize, "kwargs": kwargs}))


def episode(env: Any, seed: int, steps: int = 80) -> list[tuple[bytes, float]]:
    rng = np.random.default_rng(1)
    seen = [(env.reset(seed=seed)[0].tobytes(), 0.0)]
    for _ in range(steps):
        obs, reward, terminated, _, _ = env.step(np.int64(rng.integers(env.action_space.n)))
        seen.append((obs.tobytes(), float(reward)))
        if terminated:
            break
    return seen


# ---- LunarLander -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kwargs",
    [{"gravity": -5.5}, {"enable_wind": True, "wind_power": 19.0, "turbulence_power": 0.3}],
)
def test_randomized_parameters_act_like_constructor_arguments(kwargs: dict[str, Any]):
    made = gym.make("LunarLander-v3", disable_env_checker=True, **kwargs)
    wind = {key: kwargs.pop(key) for key in ["enable_wind"] if key in kwargs}
    drawn = randomized("LunarLander-v3", kwargs, **wind)
    assert episode(made, 4) == episode(drawn, 4)


@pytest.mark.parametrize("rendered", [False, True])
def test_engine_power_is_randomized_with_and_without_a_renderer(
    monkeypatch: pytest.MonkeyPatch, rendered: bool
):
    shown = {"render_mode": "rgb_array"} if rendered else {}
    engines = {"main_engine_power": 17.0, "side_engine_power": 0.9}
    drawn = episode(randomized("LunarLander-v3", engines, **shown), 4)
    usual = make_env(EnvConfig(id="LunarLander-v3"))
    assert episode(usual, 4) != drawn, "others keep theirs"
    monkeypatch.setattr(lunar_lander, "MAIN_ENGINE_POWER", 17.0)
    monkeypatch.setattr(lunar_lander, "SIDE_ENGINE_POWER", 0.9)
    assert episode(gym.make("LunarLander-v3", disable_env_checker=True), 4) == drawn


def test_continuous_engine_power_is_randomized(monkeypatch: pytest.MonkeyPatch):
    env = randomized("LunarLander-v3", {"main_engine_power": 17.0}, continuous=True)
    full = np.array([1.0, 0.0], np.float32)
    env.reset(seed=2)
    strong = [env.step(full)[0].tobytes() for _ in range(20)]
    assert lunar_lander.MAIN_ENGINE_POWER == 13.0
    monkeypatch.setattr(lunar_lander, "MAIN_ENGINE_POWER", 17.0)
    original = gym.make("LunarLander-v3", continuous=True, disable_env_checker=True)
    original.reset(seed=2)
    assert [original.step(full)[0].tobytes() for _ in range(20)] == strong


def test_the_lander_starts_in_the_drawn_state():
    bounds = {"start_x": 0.6, "start_y": 1.3, "start_vx": 0.7, "start_vy": 0.4, "start_angle": 0.5}
    wide = {name: f"uniform(-{end}, {end})" for name, end in bounds.items()}
    env = randomized("LunarLander-v3", wide | {"start_y": "uniform(1, 1.3)"})
    for seed in range(20):
        obs, info = env.reset(seed=seed)
        for name, at in STARTS.items():
            assert obs[at] == pytest.approx(info[f"env/{name}"], abs=1e-4), name
        following, reward, terminated, _, _ = env.step(np.int64(0))
        assert not terminated
        assert np.abs(following[:6] - obs[:6]).max() < 0.3, "it holds together"
        assert abs(reward) < 20, "nothing is paid for having been moved"


def test_undrawn_parts_of_the_initial_state_are_unchanged():
    usual = make_env(EnvConfig(id="LunarLander-v3")).reset(seed=5)[0]
    moved = randomized("LunarLander-v3", {"start_x": 0.3}).reset(seed=5)[0]
    assert np.allclose(moved[1:], usual[1:], atol=1e-6)
    assert moved[0] == pytest.approx(0.3, abs=1e-5)


def test_landing_is_possible_over_the_whole_range_of_the_preset():
    env = make_env(resolve("LunarLander-v3:randomized").config.env)
    landed = 0
    for seed in range(12):
        obs, over, total = env.reset(seed=seed)[0], False, 0.0
        while not over:
            action = np.int64(heuristic(env.unwrapped, obs))
            obs, reward, terminated, truncated, _ = env.step(action)
            total, over = total + float(reward), terminated or truncated
        landed += reward == 100
    assert landed >= 4


# ---- any environment -------------------------------------------------------------------------


def test_derived_values_of_cartpole_follow_the_drawn_parameters():
    masses = {"masscart": 2.0, "masspole": 0.3, "length": 0.8, "gravity": 5.0, "force_mag": 7.0}
    env = randomized("CartPole-v1", masses)
    by_hand: Any = gym.make("CartPole-v1", disable_env_checker=True).unwrapped
    for name, value in masses.items():
        setattr(by_hand, name, value)
    by_hand.total_mass, by_hand.polemass_length = 2.3, 0.3 * 0.8
    assert episode(env, 3) == episode(by_hand, 3)
    assert episode(env, 3) != episode(make_env(EnvConfig(id="CartPole-v1")), 3)


def test_numeric_attributes_of_any_environment_can_be_randomized():
    env = randomized("Pendulum-v1", {"g": "uniform(5, 15)", "m": "choice(0.5, 2)"})
    seen = set()
    for seed in range(8):
        _, info = env.reset(seed=seed)
        assert env.unwrapped.g == info["env/g"]
        assert env.unwrapped.m == info["env/m"]
        *_, last = env.step(env.action_space.sample())
        assert last["env/g"] == info["env/g"], "every info has it, so the last one too"
        seen.add(info["env/g"])
    assert len(seen) == 8


def test_a_drawn_value_depends_only_on_the_seed_and_the_parameter_name():
    one = randomized("Pendulum-v1", {"g": "uniform(5, 15)"})
    two = randomized("Pendulum-v1", {"m": "uniform(1, 2)", "g": "uniform(5, 15)"})
    drawn = [[env.reset(seed=seed)[1]["env/g"] for seed in (1, 2, 1)] for env in (one, two)]
    assert drawn[0] == drawn[1]
    assert drawn[0][0] == drawn[0][2] != drawn[0][1]
    _, both = two.reset(seed=1)
    assert (both["env/g"] - 5) / 10 != pytest.approx(both["env/m"] - 1), "each has its own stream"
    assert one.reset()[1] != one.reset()[1]


def test_mujoco_factors_apply_to_the_original_model():
    pytest.importorskip("mujoco")
    env = randomized("InvertedPendulum-v5", {"gravity": -5.0, "mass_factor": "uniform(0.5, 2)"})
    plain: Any = make_env(EnvConfig(id="InvertedPendulum-v5")).unwrapped
    for seed in range(3):
        _, info = env.reset(seed=seed)
        model = env.unwrapped.model
        assert np.allclose(model.body_mass, plain.model.body_mass * info["env/mass_factor"])
        assert np.allclose(
            model.body_subtreemass, plain.model.body_subtreemass * info["env/mass_factor"]
        ), "and what is derived from them"
        assert model.opt.gravity[2] == -5.0


@pytest.mark.parametrize(
    ("id", "name", "known"),
    [
        ("CartPole-v1", "gravitty", "masspole"),
        ("CartPole-v1", "total_mass", "masspole"),
        ("LunarLander-v3", "wind", "main_engine_power"),
        ("Pendulum-v1", "wind", "max_torque"),
        ("py:tests.envs.echo:Echo", "wind", "this environment has none"),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_known_ones(id: str, name: str, known: str):
    with pytest.raises(EnvError) as refused:
        randomized(id, {name: 1})
    assert refused.value.at == f"env.randomize.{name}"
    assert known in refused.value.fix


def test_randomizing_wind_without_enable_wind_is_refused():
    with pytest.raises(EnvError, match="no effect") as refused:
        randomized("LunarLander-v3", {"wind_power": "uniform(0, 10)"})
    assert "enable_wind" in refused.value.fix


def test_each_task_is_randomized_when_it_is_played():
    tasks = {"light": {"kwargs": {"gravity": -4}}, "usual": {}}
    randomize = {"main_engine_power": "uniform(10, 16)"}
    cfg = EnvConfig.model_validate({"id": "LunarLander-v3", "tasks": tasks, "randomize": randomize})
    together = make_env(cfg)
    for seed in (10, 11, 12, 13):
        name = list(tasks)[seed % 2]
        alone = make_env(cfg.for_task(name))
        assert episode(together, seed) == episode(alone, seed)
        assert together.unwrapped.gravity == (-4 if name == "light" else -10)
