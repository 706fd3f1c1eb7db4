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
from gymnast.text.wording import counted
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


def conditions(cfg: Config[Any]) -> list[str]:
    """What ends training before its budget does, as clauses."""
    stop, found = cfg.stop, list[str]()
    if stop.solved and cfg.facts.threshold is not None:
        found.append("when solved in an evaluation")
    if stop.eval_return is not None:
        found.append(f"when the mean return of an evaluation reaches {stop.eval_return:g}")
    if stop.train_return is not None:
        found.append(f"when the mean return of training episodes reaches {stop.train_return:g}")
    if stop.plateau is not None:
        found.append(f"after {counted(stop.plateau, 'evaluation')} without improvement")
    return found


def after_rollout(cfg: Config[Any], clock: Clock, row: Mapping[str, float]) -> Reason | None:
    goal = cfg.stop.train_return
    enough = row.get("episode/count", 0) >= ENOUGH_EPISODES
    if goal is not None and enough and row["episode/return"] >= goal:
        reached = f"training return {row['episode/return']:.4g} reached the goal of {goal:g}"
        return Reason("train_return", reached)
    if clock.spent is not None:
        total = clock.limits[clock.spent]
        unit = clock.spent.removesuffix("s").replace("_", " ")
        return Reason("budget", f"budget of {counted(total, unit)} spent")
    return None


def after_evaluation(cfg: Config[Any], result: Scored, without_gain: int) -> Reason | None:
    """`without_gain`: evaluations since the best one."""
    score = result.score()
    threshold, goal, patience = cfg.facts.threshold, cfg.stop.eval_return, cfg.stop.plateau
    at = f"at {result.version:,} env steps"
    if cfg.stop.solved and is_solved(score, threshold):
        bound = f"the lower bound {score['low']:.4g} reached the threshold {threshold:g}"
        return Reason("solved", f"solved {at}: {bound}", result.version)
    if goal is not None and score["mean"] >= goal:
        why = f"evaluation return {score['mean']:.4g} reached the goal of {goal:g} {at}"
        return Reason("eval_return", why, result.version)
    if patience is not None and without_gain >= patience:
        why = f"{counted(without_gain, 'evaluation')} without improvement"
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


def updates_left(clock: Clock, taken: int = 0) -> int | None:
    """Gradient steps until the budget in updates is spent, `taken` ones included that the clock does
    not count yet; None without such a budget. The last update is cut to them."""
    total = clock.limits.get("updates")
    return None if total is None else max(0, int(total) - clock.updates - taken)


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
