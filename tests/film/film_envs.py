"""Environments with known pictures, and functions that read films back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import gymnasium as gym
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary

from gymnast.runs.trace import Trace


def decode_film(film: Path) -> tuple[np.ndarray, Any]:
    """Returns the frames of a film [T, H, W, 3] and the properties of its stream."""
    with av.open(str(film)) as file:
        stream = file.streams.video[0]
        frames = np.stack([f.to_ndarray(format="rgb24") for f in file.decode(stream)])
        about = {
            "codec": stream.codec_context.name,
            "format": stream.codec_context.pix_fmt,
            "fps": float(stream.average_rate or 0),
            "seconds": float(stream.duration * stream.time_base),  # type: ignore[operator]
        }
    return frames, about


def record_episode(env: gym.Env, seed: int, actions: np.ndarray) -> Trace:
    """Returns the trace of an episode with these actions, as evaluation would store it."""
    env.reset(seed=seed)
    rewards, terminated, truncated = [], False, False
    for action in actions:
        _, reward, terminated, truncated, _ = env.step(action)
        rewards.append(float(reward))
        if terminated or truncated:
            break
    n = len(rewards)
    k = int(env.action_space.n) if isinstance(env.action_space, Discrete) else 2
    rng = np.random.default_rng(seed)
    return Trace(
        seed=seed,
        action=np.asarray(actions)[:n],
        reward=np.array(rewards),
        value=rng.normal(size=n).astype(np.float32),
        dist=rng.normal(size=(n, k)).astype(np.float32),
        obs=None,
        terminated=terminated,
        truncated=truncated,
        raw_return=float(np.sum(rewards)),
        env=0,
        version=0,
    )


class Swatch(gym.Env[np.ndarray, int]):
    """Renders a plain color that encodes the number of steps. With `luck`, rewards ignore the seed."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}
    lucky = np.random.default_rng(0)

    def __init__(
        self, render_mode: str | None = None, size: int = 30, length: int = 6, luck: bool = False
    ) -> None:
        self.observation_space, self.action_space = Box(0, 1, (1,), np.float32), Discrete(3)
        self.size, self.length, self.luck, self.render_mode = size, length, luck, render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.t += 1
        rng = Swatch.lucky if self.luck else self.np_random
        over = self.t == self.length
        return np.full(1, self.t / 10, np.float32), rng.random(), over, False, {}

    def render(self) -> Any:
        assert self.render_mode == "rgb_array"
        return np.full((self.size, self.size, 3), swatch_color(self.t), np.uint8)


def swatch_color(t: int) -> tuple[int, int, int]:
    return (30 * t % 200, 90, 250 - 20 * t % 200)


class Cockpit(Swatch):
    """Takes Dict actions, and rewards them, so that a replay with other actions would differ."""

    def __init__(self, render_mode: str | None = None, length: int = 6) -> None:
        super().__init__(render_mode, length=length)
        self.action_space = Dict(
            gear=Discrete(3, start=1), keys=MultiBinary(2), stick=Box(-1, 1, (2,), np.float32)
        )

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict]:
        assert self.action_space.contains(action)
        obs, reward, *ends = super().step(0)
        worth = action["gear"] + action["keys"].sum() + action["stick"].sum()
        return obs, float(reward) + float(worth), *ends


class Letterbox(Swatch):
    """Renders text only."""

    metadata = {"render_modes": ["ansi"]}

    def render(self) -> str:
        return "\n".join([f"\x1b[31mstep {self.t}\x1b[0m", "#" * (self.t + 1)])


class Camera(Swatch):
    """Has images as observations, no renderer, and never the same episode twice."""

    metadata = {"render_modes": []}

    def __init__(self) -> None:
        super().__init__(luck=True)
        self.observation_space = Box(0, 255, (12, 16, 3), np.uint8)
