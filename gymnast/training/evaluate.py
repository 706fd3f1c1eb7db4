"""Score a policy on a fixed list of episode seeds.

Each episode depends on the policy, its seed and nothing else, so results can be paired between
runs, and evaluating here or in another process gives the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gymnast.config.config import Config
from gymnast.envs.backend import Backend, Fault, refuse
from gymnast.envs.inprocess import InProcess
from gymnast.envs.make import make_env
from gymnast.envs.seeding import replays_exactly, same_episode
from gymnast.errors import ConfigError
from gymnast.policy.policy import Policy
from gymnast.policy.spaces import Category, Observation
from gymnast.rl.statistics import interquartile_mean, mean_interval
from gymnast.runs.trace import Trace
from gymnast.seeds import episode_seed, task_of, with_task
from gymnast.training.playing import Plan, play
from gymnast.training.recent import means_of

SeedList = Literal["eval", "confirm"]
"""`eval` for stopping and choosing; `confirm` is held out and used for the final score only."""


@dataclass(frozen=True)
class Evaluation:
    """What came out of a plan, in the order of its seeds."""

    version: int
    """Env steps the policy had learned from when it was scored."""
    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    seeds: tuple[int, ...]
    exact: bool
    tasks: tuple[str, ...] = ()
    """Their names, where there are several."""
    left_out: int = 0
    """Episodes of the plan that the environment broke again and again."""
    seconds: float = 0.0
    numbers: tuple[dict[str, float], ...] = ()
    """Of each, what its last info told by metric."""

    def score(self) -> dict[str, Any]:
        interval = mean_interval(np.array(self.returns), exact=self.exact)
        return {
            "mean": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "iqm": interquartile_mean(np.array(self.returns)),
            "episodes": len(self.returns),
            "env_steps": self.version,
        }

    def row(self) -> dict[str, float]:
        score, returns = self.score(), np.array(self.returns)
        return {
            "eval:clock/env_steps": self.version,
            "eval:episode/return": score["mean"],
            "eval:episode/low": score["low"] if math.isfinite(score["low"]) else score["mean"],
            "eval:episode/high": score["high"] if math.isfinite(score["high"]) else score["mean"],
            "eval:episode/iqm": score["iqm"],
            "eval:episode/return_std": float(returns.std()),
            "eval:episode/return_min": float(returns.min()),
            "eval:episode/return_max": float(returns.max()),
            "eval:episode/length": float(np.mean(self.lengths)),
            "eval:episode/count": len(self.returns),
            "eval:rollout/faults": self.left_out,
            **{f"eval:{name}": mean for name, mean in means_of(self.numbers).items()},
            **self._task_rows(),
        }

    def _task_rows(self) -> dict[str, float]:
        played = np.array([task_of(seed, len(self.tasks) or 1) for seed in self.seeds])
        row: dict[str, float] = {}
        for task, name in enumerate(self.tasks):
            its = played == task
            if its.any():
                row[f"eval/{name}:episode/return"] = float(np.array(self.returns)[its].mean())
                row[f"eval/{name}:episode/length"] = float(np.array(self.lengths)[its].mean())
                row[f"eval/{name}:episode/count"] = int(its.sum())
        return row


class Evaluator:
    """Environments for evaluation, and the episodes each kind of evaluation plays."""

    def __init__(self, cfg: Config[Any]) -> None:
        self.cfg = cfg
        limit = cfg.evaluation_limit()
        self.envs = InProcess(
            lambda: make_env(cfg.env.scored(), limit=limit),
            cfg.eval.n_envs,
            cfg.env.id,
            masked=cfg.env.action_mask,
        )
        self.keep_obs = not replays_exactly(self.envs, cfg.facts.deterministic)
        self._every_start: tuple[int, ...] | None = None
        self._starts_decide = False

    def plan(self, which: SeedList, episodes: int | None = None) -> Plan:
        """The episodes of one evaluation; `episodes` replaces the config's number."""
        cfg = self.cfg.eval
        if cfg.starts == "all" and episodes is None:
            if self._every_start is None:
                self._every_start = tuple(every_start(self.envs))
                self._starts_decide = starts_decide(self.envs)
            exact = cfg.deterministic and self._starts_decide and not self.cfg.env.has_luck
            return Plan(self._every_start, exact=exact, deterministic=cfg.deterministic)
        count = episodes or (cfg.confirm_episodes if which == "confirm" else cfg.episodes)
        steps = cfg.steps if which == "eval" and episodes is None else None
        n = steps if steps is not None else count  # an episode has at least one step
        seeds = tuple(episode_seed(cfg.seed, which, i) for i in range(n))
        if tasks := len(self.cfg.env.tasks):  # in turn, so that each is played as often
            seeds = tuple(with_task(seed, i % tasks, tasks) for i, seed in enumerate(seeds))
        return Plan(seeds, steps=steps, deterministic=cfg.deterministic)

    def evaluate(
        self,
        policy: Policy,
        version: int,
        plan: Plan,
        beat: Callable[[], None] = lambda: None,
    ) -> tuple[Evaluation, list[Trace]]:
        """`beat` is called at every vector step."""
        env, left_out = self.cfg.env, list[Fault]()
        bears = env.on_fault == "restart"
        more = {"attempts": env.max_faults if bears else 1, "beat": beat, "left_out": left_out}
        more["numbers"] = self.cfg.numbers()
        played = play(policy, self.envs, plan, version, **more)
        traces = sorted(played, key=lambda found: found[0])
        if len(left_out) > (len(plan.seeds) // 2 if bears else 0):
            refuse(self.envs.name, left_out)
        episodes = [trace for _, trace in traces]
        evaluation = Evaluation(
            version=version,
            returns=tuple(t.raw_return for t in episodes),
            lengths=tuple(len(t.reward) for t in episodes),
            seeds=tuple(t.seed for t in episodes),
            exact=plan.exact and not left_out,
            tasks=tuple(env.tasks),
            left_out=len(left_out),
            numbers=tuple(t.numbers for t in episodes),
        )
        if not self.keep_obs:
            episodes = [replace(trace, obs=None) for trace in episodes]
        return evaluation, episodes

    def close(self) -> None:
        self.envs.close()


def every_start(envs: Backend) -> list[int]:
    """One seed for each distinct first observation: a sweep over seeds until no new one turns up."""
    refuse_uncountable(envs.obs_space)
    found: dict[int, int] = {}
    seed = fruitless = 0
    while fruitless < 20 * (len(found) + 10):
        refuse(envs.name, envs.reset([0], [seed]))
        first = int(envs.obs[0])
        fruitless = fruitless + 1 if first in found else 0
        found.setdefault(first, seed)
        seed += 1
    return [found[first] for first in sorted(found)]


def starts_decide(envs: Backend) -> bool:
    """Whether nothing but the first observation differs between seeds: no luck on the way. Tried on
    two seeds with the same start."""
    seed_of: dict[int, int] = {}
    seed = 0
    while True:
        refuse(envs.name, envs.reset([0], [seed]))
        first = int(envs.obs[0])
        if first in seed_of:
            return same_episode(envs, seed_of[first], seed)
        seed_of[first] = seed
        seed += 1


def refuse_uncountable(space: Observation) -> None:
    if not isinstance(space, Category):
        raise ConfigError(
            "eval.starts: all needs Discrete observations", fix="set eval.starts=seeds"
        )
