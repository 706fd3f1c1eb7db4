"""Which task each training episode plays."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate

from gymnast.config.sections.env import EnvConfig
from gymnast.seeds import portion, with_task


class TaskDraw:
    """Draws by the shares of the tasks that the stage names; the episode's seed decides."""

    def __init__(self, names: Sequence[str], stages: Sequence[dict[str, float]]) -> None:
        self.names, self.stage = tuple(names), 0
        self._upper = [_borders(names, shares) for shares in stages]

    @classmethod
    def of(cls, cfg: EnvConfig) -> TaskDraw | None:
        """None where there is but one task."""
        if not cfg.tasks:
            return None
        stages = [stage.tasks for stage in cfg.curriculum] or [tuple(cfg.tasks)]
        shares = [{name: cfg.tasks[name].share for name in names} for names in stages]
        return cls(tuple(cfg.tasks), shares)

    def __call__(self, seed: int) -> int:
        """The seed beside it that stands for the task drawn."""
        task = bisect(self._upper[self.stage], portion(seed, "task"))
        return with_task(seed, task, len(self.names))


def _borders(names: Sequence[str], shares: dict[str, float]) -> list[float]:
    """Where each task's part of 0..1 ends, but for the last that has one."""
    total = sum(shares.values())
    ends = list(accumulate(shares.get(name, 0.0) / total for name in names))
    last = max(place for place, name in enumerate(names) if name in shares)
    return ends[:last]
