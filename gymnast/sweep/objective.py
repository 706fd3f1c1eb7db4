"""Computes the number by which a trial is judged, per seed, from its evaluation curve. Higher is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from gymnast.runs.curve import area

ObjectiveKind = Literal["area", "score", "threshold", "cost"]
TuningGoal = Literal["area", "score"]
"""The kinds that a preset can be tuned for."""
CostClock = Literal["env_steps", "seconds"]
Points = Sequence[tuple[float, float]]
"""Evaluation curve: env steps and mean return, by env steps."""
LAST_SHARE = 0.1
"""The score is the mean return over this last share of the curve: one evaluation is noisy."""


def evaluated_at(points: Points, env_steps: float) -> float:
    """Returns the env steps of the first evaluation at or after `env_steps`, where a run that was to train
    that far paused; `env_steps` itself if the curve ends before."""
    return next((x for x, _ in points if x >= env_steps), env_steps)


@dataclass(frozen=True)
class Objective:
    """The rule by which the evaluation curve of a run becomes one number."""

    kind: ObjectiveKind = "area"
    """area: the area under the curve divided by its length, which rewards fast learning and a high end;
    score: the return at the end; threshold: how early the return reaches `threshold`; cost: the score minus
    `weight` times the cost."""
    threshold: float | None = None
    """The return to reach, for `threshold`."""
    weight: float = 0.0
    """Units of return that a whole budget costs, for `cost`."""
    clock: CostClock = "env_steps"
    """The clock of the cost. With seconds, the search depends on the speed of the machine."""
    low: float | None = None
    """The return that counts as 0."""
    high: float | None = None
    """The return that counts as 1; without both, values are in units of the return."""

    def value(
        self, points: Points, env_steps: float, *, budget: float, seconds: float = 0.0
    ) -> float | None:
        """Returns the value of a curve up to its evaluation at these env steps; None if there is none, or if
        one is not finite.

        A curve that ends earlier, because the run met its stopping criterion, keeps its last return.
        `budget`: the env steps of a whole run; `seconds`: the training time of the run."""
        horizon = evaluated_at(points, env_steps)
        known = [(x, y) for x, y in points if x <= horizon]
        if not known or not all(math.isfinite(y) for _, y in known):
            return None
        xs, ys = [x for x, _ in known], [y for _, y in known]
        if self.kind == "threshold":
            return self._earliness(known, env_steps)
        if self.kind == "area":
            return self._normalized(area((xs, ys), 0.0, horizon))
        final = self._normalized(area((xs, ys), horizon * (1 - LAST_SHARE), horizon))
        if self.kind == "score":
            return final
        used = xs[-1] / budget if self.clock == "env_steps" else seconds / 60
        return final - self.weight * used

    def _normalized(self, value: float) -> float:
        if self.low is None or self.high is None:
            return value
        return (value - self.low) / (self.high - self.low)

    def _earliness(self, known: Points, horizon: float) -> float:
        """Returns the share of the horizon that is left when the return reaches the threshold. If it never
        does, a negative number: how far its best return missed it, from -1 (worst) to 0."""
        assert self.threshold is not None  # checked when the space is read
        for x, y in known:
            if y >= self.threshold:
                return 1 - min(x / horizon, 1.0)
        missing = self.threshold - max(y for _, y in known)
        return -missing / (abs(missing) + abs(self.threshold) + 1.0)
