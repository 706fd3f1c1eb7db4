"""Object features of Pong and Breakout, compared with the drawn frames."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from gymnast.config.resolve import resolve
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.make import make_env
from gymnast.envs.suites import ram
from gymnast.envs.wrappers.objects import ObjectFeatures, object_components
from gymnast.errors import EnvError
from tests.envs import locator

pytest.importorskip("ale_py")
FRAMES = 1200
LOCATORS = {"Pong": locator.pong, "Breakout": locator.breakout}


def objects(game: str, **more: Any) -> Any:
    return make_env(EnvConfig(id=f"ALE/{game}-v5", view="objects", **more))


def follow(game: str, seen: dict[str, float], aim: float) -> int:
    """Returns an action that keeps the paddle near the ball, so that play continues."""
    if game == "Pong":
        return 3 if seen["ball y"] > seen["player y"] + aim else 2
    if not seen["ball is there"]:
        return 1
    away = seen["ball x"] - seen["paddle x"] - aim
    return 0 if abs(away) < 3 else 2 if away > 0 else 3


def played(game: str, frames: int, **more: Any) -> Any:
    """Yields each frame with the features of the same step by name."""
    env, rng = objects(game, frames_per_step=1, **more), np.random.default_rng(0)
    names = [name for name, *_ in object_components(ram.LAYOUTS[game.lower()])]
    obs, _ = env.reset(seed=1)
    aim = 0.0
    for frame in range(frames):
        seen = dict(zip(names, obs.tolist(), strict=True))
        yield env.unwrapped.ale.getScreenRGB(), seen
        aim = float(rng.integers(-7, 8)) if frame % 50 == 0 else aim
        action = follow(game, seen, aim) if rng.random() < 0.9 else rng.integers(4)
        obs, _, terminated, _, _ = env.step(action)
        if terminated:
            obs, _ = env.reset(seed=frame)
    env.close()


@pytest.mark.parametrize("game", LOCATORS)
def test_object_positions_match_the_drawn_frame(game: str):
    errors: dict[str, list[float]] = defaultdict(list)
    absent = dict.fromkeys(("ball", "enemy"), 0)
    for frame, seen in played(game, FRAMES):
        found = LOCATORS[game](frame)
        for name, place in found.items():
            axes = ("x", "y") if len(place) == 2 else ("x",) if name == "paddle" else ("y",)
            away = [abs(seen[f"{name} {axis}"] - p) for axis, p in zip(axes, place, strict=True)]
            errors[name].append(max(away))
            assert seen.get(f"{name} is there", 1.0)
        for name in absent:
            absent[name] += name not in found and bool(seen.get(f"{name} is there"))
    assert len(errors) == len(ram.LAYOUTS[game.lower()].objects)
    for away in errors.values():
        assert len(away) > 0.85 * FRAMES
        assert np.median(away) <= 1
        assert np.mean(np.array(away) <= 1) >= 0.99
    # the locator of Breakout cannot separate a ball from bricks and paddle of its color
    assert absent["enemy"] == 0
    assert absent["ball"] <= (0 if game == "Pong" else 0.15 * FRAMES)


def test_bricks_and_lives_match_the_screen():
    same, hit = [], 0
    for frame, seen in played("Breakout", FRAMES):
        drawn = locator.bricks(frame)
        expected = [seen[f"bricks in column {column + 1}"] for column in range(18)]
        same.append(drawn.sum(0).tolist() == expected and seen["bricks"] == sum(expected))
        hit = max(hit, 108 - int(drawn.sum()))
    assert hit >= 5
    assert np.mean(same) >= 0.98  # a ball drawn over a gap looks like a brick


@pytest.mark.parametrize("game", LOCATORS)
def test_a_reappearing_ball_has_zero_velocity(game: str):
    before: dict[str, float] = {}
    back = 0
    for _, seen in played(game, FRAMES):
        speed = seen["ball x velocity"], seen["ball y velocity"]
        if before and seen["ball is there"] and before["ball is there"]:
            moved = seen["ball x"] - before["ball x"], seen["ball y"] - before["ball y"]
            fastest = 4.0  # the bound for four frames, scaled to one
            assert speed == pytest.approx(tuple(np.clip(moved, -fastest, fastest)))
        else:
            back += bool(before and seen["ball is there"])
            assert speed == (0.0, 0.0)
        before = seen
    assert back >= 1


class Memory:
    """A game whose memory the test writes."""

    def __init__(self, moments: list[dict[int, int]]) -> None:
        import gymnasium as gym

        self.moments = iter(moments)
        self.env = gym.Env()
        self.env.observation_space = gym.spaces.Box(0, 255, (128,), np.uint8)
        self.env.action_space = gym.spaces.Discrete(6)
        self.env.reset = lambda **_: (self._now(), {})  # type: ignore[method-assign]
        self.env.step = lambda _: (self._now(), 0.0, False, False, {})  # type: ignore[method-assign]

    def _now(self) -> np.ndarray:
        ram = np.zeros(128, np.uint8)
        for byte, value in next(self.moments).items():
            ram[byte] = value
        return ram


def test_an_absent_object_keeps_its_last_position_with_zero_velocity():
    ball = [(100, 100), (104, 102), None, None, (60, 180), (56, 176)]
    moments = [{51: 100, 50: 100} | ({49: at[0], 54: at[1]} if at else {}) for at in ball]
    env = ObjectFeatures(Memory(moments).env, ram.PONG, 4)
    seen = [env.reset(seed=0)[0]] + [env.step(0)[0] for _ in ball[1:]]
    rows = np.array([row[:5] for row in seen]).tolist()
    assert rows == [
        [52, 88, 0, 0, 1],
        [56, 90, 4, 2, 1],
        [56, 90, 0, 0, 0],
        [56, 90, 0, 0, 0],
        [12, 168, 0, 0, 1],
        [8, 164, -4, -4, 1],
    ]
    assert all(env.observation_space.contains(row) for row in seen)


@pytest.mark.parametrize("game", LOCATORS)
def test_presets_declare_every_object_feature(game: str):
    declared = resolve(f"ALE/{game}-v5:objects").config.facts.observations
    expected = [(c.name, c.low, c.high) for c in declared]
    assert expected == object_components(ram.LAYOUTS[game.lower()])


def test_the_object_view_of_an_unknown_game_is_refused_with_its_key():
    with pytest.raises(EnvError, match="memory layout of ALE/Tennis-v5 is unknown") as refused:
        objects("Tennis")
    assert "env.view" in str(refused.value)
