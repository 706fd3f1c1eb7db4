"""Computes how far the return of a stored episode was from what the critic expected at its start.

Both are discounted, in units of the environment's reward. This is fast enough for lists of all episodes of a
run, since it needs the rewards and values of a trace file only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.sections.reinforce import ReinforceConfig
from gymnast.errors import GymnastError
from gymnast.runs import layout
from gymnast.runs.run import Run
from gymnast.runs.trace import read_rewards_and_values

Surprise = Callable[[Path, int], list[float | None]]
"""A function of a trace file and the policy version of its episodes, with a result for each of them."""
_SCALE = "normalize/reward_scale"


def surprises(run: Run) -> Surprise:
    """Returns the function that gives, for each episode of a trace file, the distance between the discounted
    return and the critic's value of the first observation. The value of the last observation before a
    truncation takes the place of what would have followed.

    It is None where no factor converts values to raw rewards (shaping, `normalize.reward: sign`), and without
    a critic."""
    path = layout.CONFIG.path(run.path)
    try:
        config = _config(run.path, path.stat().st_mtime_ns)
        scale_at = _recorded_scales(run) if config.normalize.reward == "running" else lambda _: 1.0
    except (
        OSError,
        GymnastError,
    ):  # the episodes of a run that is damaged otherwise can still be listed
        return lambda file, _: [None] * (len(read_rewards_and_values(file).offset) - 1)
    has_critic = not isinstance(config.algo, ReinforceConfig) or config.algo.baseline == "learned"
    is_comparable = has_critic and not config.shaping and config.normalize.reward != "sign"

    def compute(file: Path, version: int) -> list[float | None]:
        steps = read_rewards_and_values(file)
        count, scale = len(steps.offset) - 1, scale_at(version)
        if not (is_comparable and math.isfinite(scale)):
            return [None] * count
        clock = Clock(env_steps=version, limits=config.stop.limits())
        gamma, per_unit = config.algo.values_at(clock).gamma, scale / config.normalize.reward_scale
        results: list[float | None] = []
        for i, (start, end) in enumerate(zip(steps.offset[:-1], steps.offset[1:], strict=True)):
            reward, value = steps.reward[start:end], steps.value[start:end].astype(np.float64)
            discount = gamma ** np.arange(len(reward))
            total = float(reward @ discount)
            if not steps.terminated[i] and config.algo.bootstraps and len(value):
                total += float(gamma ** len(reward) * value[-1] * per_unit)
            expected = float(value[0] * per_unit) if len(value) else math.nan
            results.append(abs(total - expected) if math.isfinite(expected) else None)
        return results

    return compute


@lru_cache(maxsize=32)
def _config(run: Path, changed: int) -> Config:  # noqa: ARG001 - a part of the key
    """Returns the config of a run. `changed`: time of the file's last change."""
    return Run(run).config()


def _recorded_scales(run: Run) -> Callable[[int], float]:
    """Returns the function from env steps to the recorded scale of rewards; NaN before the first row."""
    with run.metrics() as store:
        columns = store.read(["clock/env_steps", _SCALE])
    known = np.isfinite(columns["clock/env_steps"]) & np.isfinite(columns[_SCALE])
    steps, scales = columns["clock/env_steps"][known], columns[_SCALE][known]

    def scale_at(env_steps: int) -> float:
        row = int(np.searchsorted(steps, env_steps, side="right")) - 1
        return float(scales[row]) if row >= 0 else math.nan

    return scale_at
