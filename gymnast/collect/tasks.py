"""Draws the task of each training episode."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate

from gymnast.config.sections.env import EnvConfig
from gymnast.seeds import encode_task, uniform_from_seed


class TaskSampler:
    """Draws one of the tasks of the current curriculum stage in proportion to their shares.

    The draw depends on the episode's seed alone, so that it can be repeated.
    """

    def __init__(self, names: Sequence[str], stages: Sequence[dict[str, float]]) -> None:
        self.names, self.stage = tuple(names), 0
        self._upper = [_upper_bounds(names, shares) for shares in stages]

    @classmethod
    def from_config(cls, cfg: EnvConfig) -> TaskSampler | None:
        """Returns the sampler for the tasks and stages of the config; None if there is only one task."""
        if not cfg.tasks:
            return None
        stages = [stage.tasks for stage in cfg.curriculum] or [tuple(cfg.tasks)]
        shares = [{name: cfg.tasks[name].share for name in names} for names in stages]
        return cls(tuple(cfg.tasks), shares)

    def __call__(self, seed: int) -> int:
        """Draws a task and returns the seed with the task's index encoded in it (see `encode_task`)."""
        task = bisect(self._upper[self.stage], uniform_from_seed(seed, "task"))
        return encode_task(seed, task, len(self.names))


def _upper_bounds(names: Sequence[str], shares: dict[str, float]) -> list[float]:
    """Returns the upper bound of each task's part of [0, 1], for `bisect`.

    The bound of the last task with a share is left out: rounding could put it below 1.
    """
    # A task outside of the current stage has an empty part: its bound equals that of the task before it.
    total = sum(shares.values())
    ends = list(accumulate(shares.get(name, 0.0) / total for name in names))
    last = max(place for place, name in enumerate(names) if name in shares)
    return ends[:last]
