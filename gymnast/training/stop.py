"""When is it enough? Every way training can end, as pure functions of what is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.numbers import Share
from gymnast.config.section import Span
from gymnast.training.evaluation import Scored

ENOUGH_EPISODES = 50
"""One lucky episode is not a result."""


@dataclass(frozen=True)
class Reason:
    kind: str
    """solved, eval_return, plateau, train_return, budget, command, or interrupted."""
    text: str
    version: int | None = None
    """Env steps of the version whose evaluation is the reason."""

    @property
    def is_end(self) -> bool:
        """The run is done; not just broken off, to go on another time."""
        return self.kind not in ("command", "interrupted")


def after_rollout(cfg: Config[Any], clock: Clock, row: Mapping[str, float]) -> Reason | None:
    goal = cfg.stop.train_return
    enough = row.get("episode/count", 0) >= ENOUGH_EPISODES
    if goal is not None and enough and row["episode/return"] >= goal:
        return Reason("train_return", f"training return reached {goal:g}")
    if clock.spent is not None:
        total = clock.limits[clock.spent]
        return Reason("budget", f"budget of {total:,.0f} {clock.spent} spent")
    return None


def after_evaluation(cfg: Config[Any], result: Scored, without_gain: int) -> Reason | None:
    """`without_gain`: evaluations since the best one."""
    score = result.score()
    threshold, goal, patience = cfg.facts.threshold, cfg.stop.eval_return, cfg.stop.plateau
    at = f"at {result.version:,} env steps"
    if cfg.stop.solved and is_solved(score, threshold):
        why = f"solved {at}: {score['low']:.4g} is above {threshold:g}"
        return Reason("solved", why, result.version)
    if goal is not None and score["mean"] >= goal:
        return Reason("eval_return", f"evaluation return reached {goal:g} {at}", result.version)
    if patience is not None and without_gain >= patience:
        why = f"{without_gain} evaluations without improvement"
        return Reason("plateau", why, result.version)
    return None


def is_solved(score: Mapping[str, Any] | None, threshold: float | None) -> bool:
    """The lower confidence bound of the raw return clears the threshold."""
    return score is not None and threshold is not None and score["low"] >= threshold


def worth_evaluating(cfg: Config[Any], clock: Clock, row: Mapping[str, float]) -> bool:
    """Past the warm-up, and close enough to the goal where `eval.start_at` asks for that."""
    if cfg.eval.warmup is not None and clock.env_steps < cfg.eval.warmup:
        return False
    start = cfg.eval.start_at
    if start is None:
        return True
    if isinstance(start, Share):
        threshold = cfg.facts.threshold
        if threshold is None:
            return True
        start = threshold - (1 - start) * abs(threshold)  # works for negative thresholds too
    return row.get("episode/return", float("-inf")) >= start


def within_budget(span: Span, n_envs: int, frames_per_step: int, clock: Clock) -> Span:
    """The next rollout's length, shortened where the budget ends before."""
    per_step = {"env_steps": n_envs, "vec_steps": 1, "frames": n_envs * frames_per_step}
    left = [
        math.ceil((total - clock.read(name)) / per_step[name])
        for name, total in clock.limits.items()
        if name in per_step
    ]
    steps = [*left] if span.steps is None else [span.steps, *left]
    return replace(span, steps=max(1, min(steps)) if steps else None)
