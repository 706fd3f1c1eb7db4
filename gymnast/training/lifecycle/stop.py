"""Stop conditions: every way in which training can end, as pure functions of config, clock and row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gymnast.clock import Clock
from gymnast.config.config import Config
from gymnast.config.numbers import Share
from gymnast.config.section import RolloutLength
from gymnast.evaluation.jobs import EvaluationResult
from gymnast.text.formatting import count_noun

MIN_EPISODES = 50
"""Number of recent episodes needed for `stop.train_return`: one lucky episode is not a result."""


@dataclass(frozen=True)
class StopReason:
    kind: str
    """solved, eval_return, plateau, train_return, budget, command, interrupted, paused, or hosts."""
    text: str
    version: int | None = None
    """Env steps of the version whose evaluation is the reason."""

    @property
    def is_final(self) -> bool:
        """True if the run is done, False if it was only interrupted and can be resumed."""
        return self.kind not in ("command", "interrupted", "paused", "hosts")


def stop_conditions(cfg: Config) -> list[str]:
    """Returns the conditions that end training before its budget does, as clauses for the user."""
    stop, conditions = cfg.stop, list[str]()
    if stop.solved and cfg.facts.threshold is not None:
        conditions.append("when solved in an evaluation")
    if stop.eval_return is not None:
        conditions.append(f"when the mean return of an evaluation reaches {stop.eval_return:g}")
    if stop.train_return is not None:
        conditions.append(
            f"when the mean return of training episodes reaches {stop.train_return:g}"
        )
    if stop.plateau is not None:
        conditions.append(f"after {count_noun(stop.plateau, 'evaluation')} without improvement")
    return conditions


def rollout_stop_reason(cfg: Config, clock: Clock, row: Mapping[str, float]) -> StopReason | None:
    """Returns a reason to stop after a rollout with this row of metrics, or None: the training return is
    reached, or a budget spent."""
    goal = cfg.stop.train_return
    enough = row.get("episode/count", 0) >= MIN_EPISODES
    if goal is not None and enough and row["episode/return"] >= goal:
        reached = f"training return {row['episode/return']:.4g} reached the goal of {goal:g}"
        return StopReason("train_return", reached)
    if clock.reached_limit is not None:
        total = clock.limits[clock.reached_limit]
        unit = clock.reached_limit.removesuffix("s").replace("_", " ")
        return StopReason("budget", f"budget of {count_noun(total, unit)} spent")
    return None


def evaluation_stop_reason(
    cfg: Config, result: EvaluationResult, evals_since_best: int
) -> StopReason | None:
    """Returns a reason to stop after a score, or None; `evals_since_best` is the number of evaluations since
    the best one."""
    score = result.score()
    threshold, goal, patience = cfg.facts.threshold, cfg.stop.eval_return, cfg.stop.plateau
    at = f"at {result.version:,} env steps"
    # The most informative reason comes first: a solved run often meets the other conditions too.
    if cfg.stop.solved and is_solved(score, threshold):
        # Whether that means "solved" is decided by a score on held-out seeds, at the end.
        why = f"the lower bound {score['low']:.4g} reached the threshold {threshold:g} {at}"
        return StopReason("solved", why, result.version)
    if goal is not None and score["mean"] >= goal:
        why = f"evaluation return {score['mean']:.4g} reached the goal of {goal:g} {at}"
        return StopReason("eval_return", why, result.version)
    if patience is not None and evals_since_best >= patience:
        why = f"{count_noun(evals_since_best, 'evaluation')} without improvement"
        return StopReason("plateau", why, result.version)
    return None


def is_solved(score: Mapping[str, Any] | None, threshold: float | None) -> bool:
    """True if the lower confidence bound of the raw return reaches the threshold."""
    return score is not None and threshold is not None and score["low"] >= threshold


def is_worth_evaluating(cfg: Config, clock: Clock, row: Mapping[str, float]) -> bool:
    """True after `eval.warmup` env steps and once the training return has reached `eval.start_at`."""
    if cfg.eval.warmup is not None and clock.env_steps < cfg.eval.warmup:
        return False
    start = cfg.eval.start_at
    if start is None:
        return True
    if isinstance(start, Share):
        threshold = cfg.facts.threshold
        if threshold is None:
            return True
        start = threshold - (1 - start) * abs(threshold)  # abs: thresholds may be negative
    return row.get("episode/return", float("-inf")) >= start


def updates_left(clock: Clock, taken: int = 0) -> int | None:
    """Returns the number of gradient steps left in the budget of updates, to which the last update is
    cut; None without such a budget. `taken` are gradient steps that the clock does not count yet."""
    total = clock.limits.get("updates")
    return None if total is None else max(0, int(total) - clock.updates - taken)


def limit_to_budget(
    span: RolloutLength, n_envs: int, frames_per_step: int, clock: Clock
) -> RolloutLength:
    """Returns the length of the next rollout, `span` shortened if the budget ends before it.
    `frames_per_step`: emulator frames per env step."""
    per_step = {"env_steps": n_envs, "vec_steps": 1, "frames": n_envs * frames_per_step}
    # Rounded up: the last rollout may exceed the budget by less than one vector step. Budgets of other
    # clocks (updates, episodes, seconds) cannot be converted to steps and are checked afterwards.
    left = [
        math.ceil((total - clock.read(name)) / per_step[name])
        for name, total in clock.limits.items()
        if name in per_step
    ]
    steps = [*left] if span.steps is None else [span.steps, *left]
    return replace(span, steps=max(1, min(steps)) if steps else None)
