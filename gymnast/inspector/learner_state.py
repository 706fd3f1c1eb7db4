"""The settings and statistics with which the learner saw the rewards of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gymnast.clock import CLOCKS, Clock
from gymnast.collect.collector import ROLE
from gymnast.config.config import Config
from gymnast.config.section import Hyperparameters
from gymnast.policy.normalize import RewardScale
from gymnast.rl.running import Moments
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.role_arrays import LEARNER, arrays_of_role
from gymnast.runs.run import Run
from gymnast.training.live.settings import Settings

Array = np.ndarray
_SCALE = "normalize/reward_scale"
"""Metric with the scale of running reward normalization."""


@dataclass(frozen=True, eq=False)
class LearnerState:
    """A learner as it was after a number of env steps, as far as rewards and returns depend on it."""

    config: Config
    """The settings, with live changes if the checkpoint exists."""
    hparams: Hyperparameters
    """The hyperparameters, with schedules evaluated."""
    weights: Mapping[str, float]
    """Shaping term -> its weight."""
    reward_scale: RewardScale | None
    """The scale of rewards; None if it was not recorded."""
    memory: Mapping[str, Array] | None
    """The learner's arrays, with what shaping terms remember; None if the checkpoint was removed."""


def stored_state(config: Config, saved: Checkpoint, role: str) -> LearnerState:
    """Returns the state of the learner of a role in a checkpoint. `config`: that of the role in its run."""
    document = saved.document("state")
    settings = Settings(config)
    settings.load(document.get("live", {}))
    clock = Clock(limits=settings.current.stop.limits())
    clock.load(document["clock"])
    arrays = arrays_of_role(role, saved.tensors(LEARNER))
    scale = RewardScale(settings.current.normalize.reward, 1)
    count = document["learners"][role]["reward_count"]
    scale.moments = Moments(count, arrays["reward.mean"], arrays["reward.var"])
    return _at(settings, clock, scale, arrays)


def recorded_state(config: Config, run: Run, env_steps: int, role: str) -> LearnerState:
    """Returns the state of the learner of a role after a number of env steps without a checkpoint, from the
    recorded metrics: the settings are those of the config, without live changes."""
    scale_key = _SCALE if role == ROLE else f"{role}:{_SCALE}"
    with run.metrics() as store:
        columns = store.read([*(f"clock/{name}" for name in CLOCKS), scale_key])
    # the last row up to this number of env steps; some rows have only a score and no clocks
    (rows,) = np.nonzero(columns["clock/env_steps"] <= env_steps)
    settings = Settings(config)
    clock, scale = Clock(limits=config.stop.limits()), RewardScale(config.normalize.reward, 1)
    recorded = np.nan
    if len(rows):
        last = rows[-1]
        clock.load({name: columns[f"clock/{name}"][last].item() for name in CLOCKS})
        recorded = columns[scale_key][last]
    if scale.mode == "running":
        scale.moments = Moments(1.0, np.zeros(1), np.array([recorded**2]))
        if not np.isfinite(recorded):
            return _at(settings, clock, None, None)
    return _at(settings, clock, scale, None)


def _at(
    settings: Settings, clock: Clock, scale: RewardScale | None, memory: Mapping[str, Array] | None
) -> LearnerState:
    """Returns the state with the schedules of these settings evaluated at a clock."""
    schedules = settings.schedules
    hparams, weights = schedules.hyperparameters(clock), schedules.weights(clock)
    return LearnerState(settings.current, hparams, weights, scale, memory)
