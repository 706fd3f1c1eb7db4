"""Fast classes match Gymnasium bit for bit, and fall back to it for unusual settings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.box2d.lunar_lander import heuristic
from gymnasium.envs.classic_control.cartpole import CartPoleEnv

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.fast_step import FAST
from gymnast.envs.build.make import make_env

Env = gym.Env[Any, Any]
Player = Callable[[Env, np.ndarray, np.random.Generator], Any]


class Upside(CartPoleEnv):
    """A user's subclass."""


def by_chance(env: Env, _: np.ndarray, chance: np.random.Generator) -> Any:
    return env.action_space.dtype.type(chance.integers(env.action_space.n))  # type: ignore[union-attr]


def balancing(_: Env, obs: np.ndarray, chance: np.random.Generator) -> Any:
    return np.int64(obs[2] + 0.5 * obs[3] + 0.1 * chance.standard_normal() > 0)


def landing(env: Env, obs: np.ndarray, _: np.random.Generator) -> Any:
    return np.int64(heuristic(env.unwrapped, obs))


def swinging(_: Env, obs: np.ndarray, chance: np.random.Generator) -> Any:
    return np.int64((obs[4] * chance.uniform(0.5, 1) > 0) * 2)


GAMES: dict[str, tuple[dict[str, Any], list[Player]]] = {
    "CartPole-v1": ({}, [by_chance, balancing]),
    "Acrobot-v1": ({}, [by_chance, swinging]),
    "LunarLander-v3": ({}, [by_chance, landing]),
}
UNUSUAL = [
    ("CartPole-v1", {"sutton_barto_reward": True}, [by_chance]),
    ("LunarLander-v3", {"enable_wind": True}, [by_chance, landing]),
    ("LunarLander-v3", {"gravity": -3.0}, [by_chance, landing]),
    ("LunarLander-v3", {"render_mode": "rgb_array"}, [by_chance]),
]


def cases() -> list[tuple[str, dict[str, Any], Player]]:
    usual = [(name, kwargs, players) for name, (kwargs, players) in GAMES.items()]
    return [(n, kwargs, player) for n, kwargs, players in usual + UNUSUAL for player in players]


@pytest.mark.parametrize(("name", "kwargs", "player"), cases())
def test_fast_steps_match_gymnasium_bit_for_bit(
    name: str, kwargs: dict[str, Any], player: Player
) -> None:
    original = gym.make(name, disable_env_checker=True, **kwargs)
    quick = make_env(EnvConfig(id=name, kwargs=kwargs))
    assert type(original.unwrapped) is not type(quick.unwrapped)
    chance, endings = np.random.default_rng(3), set[float]()
    for episode in range(12):
        obs, _ = original.reset(seed=episode)
        same, _ = quick.reset(seed=episode)
        over = False
        while not over:
            assert obs.dtype == same.dtype
            assert obs.tobytes() == same.tobytes()
            action = player(original, obs, chance)
            obs, reward, terminated, truncated, _ = original.step(action)
            same, as_much, dead, cut, _ = quick.step(action)
            assert float(reward).hex() == float(as_much).hex()
            assert (terminated, truncated) == (dead, cut)
            over = terminated or truncated
        endings.add(float(reward))
    if player is landing:
        assert 100.0 in endings


@pytest.mark.parametrize("action", [4, -1, 1.5, "up", None])
@pytest.mark.parametrize("name", GAMES)
def test_invalid_actions_are_treated_as_by_gymnasium(name: str, action: Any) -> None:
    outcomes: list[str] = []
    for env in (gym.make(name, disable_env_checker=True), make_env(EnvConfig(id=name))):
        env.reset(seed=0)
        try:
            outcomes.append(env.step(action)[0].tobytes().hex())  # Acrobot accepts -1
        except (AssertionError, IndexError, TypeError) as problem:
            outcomes.append(repr(problem))
    assert outcomes[0] == outcomes[1]


def test_continuous_engines_use_gymnasiums_step() -> None:
    kwargs = {"continuous": True}
    original = gym.make("LunarLander-v3", disable_env_checker=True, **kwargs)  # type: ignore[arg-type]
    quick = make_env(EnvConfig(id="LunarLander-v3", kwargs=kwargs))
    original.reset(seed=1)
    quick.reset(seed=1)
    for angle in np.linspace(-1, 1, 30, dtype=np.float32):
        action = np.array([angle, -angle], dtype=np.float32)
        assert original.step(action)[0].tobytes() == quick.step(action)[0].tobytes()


def test_a_subclass_keeps_its_own_step() -> None:
    env = make_env(EnvConfig(id=f"py:{__name__}:Upside"))
    assert type(env.unwrapped).__name__ == "Upside"


def test_every_fast_class_is_covered() -> None:
    played = {type(gym.make(name).unwrapped) for name in GAMES}
    assert {f"{kind.__module__}:{kind.__qualname__}" for kind in played} == set(FAST)


def test_a_walker_episode_depends_only_on_its_seed() -> None:
    fresh, used = (make_env(EnvConfig(id="BipedalWalker-v3")) for _ in range(2))
    chance = np.random.default_rng(0)
    for seed in (99, 100, 101):  # Gymnasium's own class then differs within a hundred steps
        used.reset(seed=seed)
        for _ in range(100):
            used.step(chance.uniform(-1, 1, 4).astype(np.float32))
    assert np.array_equal(fresh.reset(seed=0)[0], used.reset(seed=0)[0])
    chance = np.random.default_rng(1)
    for _ in range(100):
        action = chance.uniform(-1, 1, 4).astype(np.float32)
        assert np.array_equal(fresh.step(action)[0], used.step(action)[0])


def test_fast_grid_slices_and_rotations_match_minigrid() -> None:
    """The reference is MiniGrid's own definition, cell by cell."""
    from minigrid.core.grid import Grid
    from minigrid.core.world_object import Key, Wall

    from gymnast.envs.suites import minigrid as ours

    chance = np.random.default_rng(0)
    for _ in range(200):
        width, height = (int(n) for n in chance.integers(3, 9, 2))
        grid = Grid(width, height)
        grid.grid = [Key() if chance.random() < 0.5 else None for _ in range(width * height)]
        turned = ours.rotate_left(grid)
        assert (turned.width, turned.height) == (height, width)
        for x in range(width):
            for y in range(height):
                assert turned.get(y, width - 1 - x) is grid.get(x, y)
        left, top = (int(n) for n in chance.integers(-9, 10, 2))
        wide, high = (int(n) for n in chance.integers(3, 9, 2))
        part = ours.slice(grid, left, top, wide, high)
        for i in range(wide):
            for j in range(high):
                x, y = left + i, top + j
                if 0 <= x < width and 0 <= y < height:
                    assert part.get(i, j) is grid.get(x, y)
                else:
                    assert isinstance(part.get(i, j), Wall)


def test_minigrid_episodes_are_the_same_with_the_fast_view() -> None:
    code = (
        "import hashlib, sys, gymnasium, numpy, minigrid\n"
        "if sys.argv[1] == 'ours': import gymnast.envs.suites.minigrid\n"
        "env, seen = gymnasium.make('MiniGrid-DoorKey-8x8-v0'), hashlib.sha256()\n"
        "chance = numpy.random.default_rng(0)\n"
        "for seed in range(5):\n"
        "    seen.update(env.reset(seed=seed)[0]['image'].tobytes())\n"
        "    for _ in range(100): seen.update(env.step(chance.integers(6))[0]['image'].tobytes())\n"
        "print(seen.hexdigest())\n"
    )
    whose = [
        subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True).stdout
        for name in ("ours", "theirs")
    ]
    assert whose[0] == whose[1] != ""
