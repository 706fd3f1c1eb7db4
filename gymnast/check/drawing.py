"""Checks of rendering: whether frames can be rendered, and the frames per second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import gymnasium as gym
from gymnasium import error

from gymnast.check.finding import Finding
from gymnast.check.live import Moment, own_traceback
from gymnast.config.config import Config
from gymnast.errors import EnvError
from gymnast.film.stage import MODES, Stage, without_screen

FRAMES = 5
"""Frames that are rendered."""


def drawn(
    cfg: Config[Any],
    env: gym.Env[Any, Any],
    act: Callable[[Moment], Any],
    seed: int,
    *,
    frames: int = FRAMES,
) -> Iterator[Finding]:
    """Renders a short episode. `env` is a live copy whose metadata is read; `act` chooses the actions."""
    yield from _pace(cfg, env)
    offered = [mode for mode in env.metadata.get("render_modes") or () if mode in MODES]
    if not offered:
        what = "it has no render mode for frames: no videos, and nothing to see in `gymnast play`"
        yield Finding("rendering", "note", what)
        return
    try:
        with without_screen(), closing(Stage(cfg)) as stage:
            size = _drawn(stage, act, seed, frames)
    except EnvError as problem:
        cause = problem.__cause__
        if isinstance(cause, ImportError | error.DependencyNotInstalled):
            yield Finding("rendering", "note", f"not possible on this machine: {problem.message}")
        else:
            text = "" if cause is None else own_traceback(cause)
            yield Finding("rendering", "wrong", problem.message, f"seed {seed}", text)
    except Exception as cause:
        what = f"it fails while being rendered: {type(cause).__name__}: {cause}"
        yield Finding("rendering", "wrong", what, f"seed {seed}", own_traceback(cause))
    else:
        yield Finding("rendering", "ok", f"{offered[0]}, frames of {size}")


def _drawn(stage: Stage, act: Callable[[Moment], Any], seed: int, frames: int) -> str:
    """Renders the reset and a few steps. Returns the size of a frame."""
    obs, info = stage.env.reset(seed=seed)
    moment = Moment(0, seed, 0, obs, info)
    picture = stage.picture()
    for step in range(1, frames):
        obs, _, terminated, truncated = stage.step(stage.takes(act(moment)))
        picture = stage.picture()
        if terminated or truncated:
            break
        moment = Moment(0, seed, step, obs, stage.info)
    height, width, _ = picture.shape
    return f"{width} x {height}"


def _pace(cfg: Config[Any], env: gym.Env[Any, Any]) -> Iterator[Finding]:
    declared, own = cfg.facts.fps, env.metadata.get("render_fps")
    if declared is not None and own is not None and declared != own:
        what = f'{declared:g} declared and used; its metadata["render_fps"] is {own:g}'
        yield Finding("facts.fps", "note", what)
    elif declared is not None:
        yield Finding("facts.fps", "ok", f"{declared:g} frames per second")
