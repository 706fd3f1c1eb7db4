"""Runs with stored episodes of known environments, made without training."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import gymnasium as gym
import numpy as np

from gymnast.config.config import Config
from gymnast.config.resolve import resolve, save
from gymnast.film.renderer import EnvRenderer
from gymnast.inspector.address import EpisodeAddress
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace, write_traces
from gymnast.spaces import spaces
from tests.film.film_envs import record_episode

VERSION = 64


def config_of(target: str, **kwargs: object) -> Config:
    return resolve(target, {"env.kwargs": kwargs} if kwargs else {}).config


def store_episodes(
    folder: Path, target: str | Config, traces: Sequence[Trace], **kwargs: object
) -> EpisodeAddress:
    """Writes a run of this preset or config with these evaluation episodes and no checkpoint; returns the
    address of the first one. `kwargs`: those of the environment of a preset."""
    config = config_of(target, **kwargs) if isinstance(target, str) else target
    preset = config.env.id
    run = Run.create(folder, config_text=save(config), preset=preset, seed=0, provenance={})
    meta = {"kind": "eval", "version": VERSION}
    write_traces(run.traces / f"eval-{VERSION:012d}.safetensors", traces, meta)
    return EpisodeAddress(str(run.path), "eval", VERSION, 0)


def play_and_store(
    folder: Path, target: str, actions: np.ndarray, seed: int = 7, **kwargs: object
) -> EpisodeAddress:
    """Plays an episode in the environment of a preset and stores it without observations."""
    config = config_of(target, **kwargs)
    with closing(EnvRenderer(config, render=False)) as opened:
        trace = record_episode(opened.env, seed, actions)
    return store_episodes(folder, target, [trace], **kwargs)


def observations(env: gym.Env, trace: Trace) -> np.ndarray:
    """Returns the observations of an episode as rows, as evaluation stores them."""
    obs, _ = env.reset(seed=trace.seed)
    rows = [obs, *(env.step(action)[0] for action in trace.action)]
    return spaces.as_rows(spaces.convert_obs_space(env.observation_space), rows)
