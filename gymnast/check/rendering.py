"""Checks of rendering: whether frames can be rendered, and the frames per second."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

from gymnasium import error

from gymnast.check.checked_env import Timestep, env_traceback
from gymnast.check.finding import Finding
from gymnast.config.config import Config
from gymnast.envs.env_types import Env
from gymnast.errors import EnvError
from gymnast.film.headless import headless_rendering
from gymnast.film.renderer import RENDER_MODES, EnvRenderer

FRAMES = 5
"""Frames that are rendered."""


def check_rendering(
    cfg: Config,
    env: Env,
    act: Callable[[Timestep], object],
    seed: int,
    *,
    frames: int = FRAMES,
) -> Iterator[Finding]:
    """Renders a short episode and yields the findings. `env` is a live copy whose metadata is read; `act`
    chooses the actions; `frames`: number of frames to render."""
    yield from _check_fps(cfg, env)
    offered = [mode for mode in env.metadata.get("render_modes") or () if mode in RENDER_MODES]
    if not offered:
        what = "it has no render mode for frames: no videos, and nothing to see in `gymnast play`"
        yield Finding("rendering", "note", what)
        return
    try:
        with headless_rendering(), closing(EnvRenderer(cfg)) as renderer:
            size = _render_episode(renderer, act, seed, frames)
    except EnvError as problem:
        cause = problem.__cause__
        # A missing package is a matter of this machine, not a mistake of the environment.
        if isinstance(cause, ImportError | error.DependencyNotInstalled):
            yield Finding("rendering", "note", f"not possible on this machine: {problem.message}")
        else:
            text = "" if cause is None else env_traceback(cause)
            yield Finding("rendering", "wrong", problem.message, f"seed {seed}", text)
    except Exception as cause:
        what = f"it fails while being rendered: {type(cause).__name__}: {cause}"
        yield Finding("rendering", "wrong", what, f"seed {seed}", env_traceback(cause))
    else:
        yield Finding("rendering", "ok", f"{offered[0]}, frames of {size}")


def _render_episode(
    renderer: EnvRenderer, act: Callable[[Timestep], object], seed: int, frames: int
) -> str:
    """Renders the reset and a few steps. Returns the size of a frame."""
    obs, info = renderer.env.reset(seed=seed)
    timestep = Timestep(0, seed, 0, obs, info)
    frame = renderer.render()
    for step in range(1, frames):
        obs, _, terminated, truncated = renderer.step(act(timestep))
        frame = renderer.render()
        if terminated or truncated:
            break
        timestep = Timestep(0, seed, step, obs, renderer.info)
    height, width, _ = frame.shape
    return f"{width} x {height}"


def _check_fps(cfg: Config, env: Env) -> Iterator[Finding]:
    """Compares the declared frames per second with the environment's metadata."""
    declared, own = cfg.facts.fps, env.metadata.get("render_fps")
    if declared is not None and own is not None and declared != own:
        what = f'{declared:g} declared and used; its metadata["render_fps"] is {own:g}'
        yield Finding("facts.fps", "note", what)
    elif declared is not None:
        yield Finding("facts.fps", "ok", f"{declared:g} frames per second")
