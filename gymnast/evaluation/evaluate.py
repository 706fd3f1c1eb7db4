"""Scores a policy on a fixed list of episode seeds.

Each episode depends only on the policy and its seed, so results can be paired between runs, and
evaluating in this or another process gives the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gymnast.config.config import Config
from gymnast.envs.backends.backend import Backend, raise_fault
from gymnast.envs.backends.inprocess import InProcessBackend
from gymnast.envs.build.make import make_env
from gymnast.envs.build.seeding import replays_exactly, same_episode
from gymnast.errors import ConfigError, EnvError
from gymnast.evaluation.episodes import EpisodePlan, EvaluationProgress, play_episodes
from gymnast.evaluation.journal import Journal
from gymnast.evaluation.shortfall import COMPLETE, Shortfall
from gymnast.measure.recent import mean_metrics
from gymnast.metrics.score import Score
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import finite_bounds, interquartile_mean, mean_interval
from gymnast.runs.trace import Trace
from gymnast.seeds import decode_task, encode_task, episode_seed
from gymnast.spaces.spaces import DiscreteObs, Observation

SeedList = Literal["eval", "confirm"]
"""`eval` seeds are used for stopping and for choosing the best version; `confirm` seeds are held out and
used for the final score only."""


@dataclass(frozen=True)
class Evaluation:
    """The results of a plan, in the order of its seeds."""

    version: int
    """Number of env steps that the scored policy had learned from."""
    returns: tuple[float, ...]
    lengths: tuple[int, ...]
    seeds: tuple[int, ...]
    exact: bool
    """True if the mean has no sampling error: every start was played, and nothing else is random."""
    tasks: tuple[str, ...] = ()
    """Names of the tasks, if the environment has several."""
    shortfall: Shortfall = COMPLETE
    """Episodes of the plan that are missing from the score."""
    seconds: float = 0.0
    possible_returns: tuple[float, float] | None = None
    """The range that no return can leave, if it is known."""
    info_metrics: tuple[dict[str, float], ...] = ()
    """For each episode, the metrics that were read from its last info."""
    truncated: tuple[bool, ...] = ()
    """For each episode, whether a time limit ended it."""

    @property
    def has_score(self) -> bool:
        """False if no episode finished in time."""
        return bool(self.returns)

    def score(self) -> Score:
        """Returns the mean return with its 95 % confidence interval within the possible range, as stored in
        run.json. A single episode has an infinite interval, unless the plan is exact. Needs at least one
        episode (`has_score`)."""
        interval = mean_interval(
            np.array(self.returns), exact=self.exact, within=self.possible_returns
        )
        return {
            "mean": interval.mean,
            "low": interval.low,
            "high": interval.high,
            "iqm": interquartile_mean(np.array(self.returns)),
            "episodes": len(self.returns),
            "env_steps": self.version,
            "kind": "evaluated",
            "exact": self.exact,
            **self.shortfall.score_fields(),
        }

    def row(self) -> dict[str, float]:
        """Returns the `eval:` metrics, and those of each task (`eval/TASK:`). Needs at least one episode
        (`has_score`)."""
        score, returns = self.score(), np.array(self.returns)
        low, high = finite_bounds(score["mean"], score["low"], score["high"])
        return {
            "eval:clock/env_steps": self.version,
            "eval:episode/return": score["mean"],
            "eval:episode/low": low,
            "eval:episode/high": high,
            "eval:episode/iqm": score["iqm"],
            "eval:episode/return_std": float(returns.std()),
            "eval:episode/return_min": float(returns.min()),
            "eval:episode/return_max": float(returns.max()),
            "eval:episode/length": float(np.mean(self.lengths)),
            "eval:episode/count": len(self.returns),
            "eval:rollout/faults": self.shortfall.left_out,
            "eval:rollout/truncated_share": float(np.mean(self.truncated)),
            **{f"eval:{name}": mean for name, mean in mean_metrics(self.info_metrics).items()},
            **self._task_metrics(),
        }

    def _task_metrics(self) -> dict[str, float]:
        """Returns mean return, mean length and number of episodes of each task, named `eval/TASK:metric`. A
        task without a finished episode is missing."""
        # the seed of an episode encodes its task (seeds.encode_task)
        task_of_episode = np.array([decode_task(seed, len(self.tasks) or 1) for seed in self.seeds])
        row: dict[str, float] = {}
        for task, name in enumerate(self.tasks):
            of_task = task_of_episode == task
            if of_task.any():
                row[f"eval/{name}:episode/return"] = float(np.array(self.returns)[of_task].mean())
                row[f"eval/{name}:episode/length"] = float(np.array(self.lengths)[of_task].mean())
                row[f"eval/{name}:episode/count"] = int(of_task.sum())
        return row


class Evaluator:
    """Holds the environments for evaluation and plans the episodes of each kind of evaluation."""

    def __init__(self, cfg: Config) -> None:
        self.cfg = cfg
        limit = cfg.evaluation_limit()
        self.envs = InProcessBackend(
            lambda: make_env(cfg.env.for_evaluation(), limit=limit),
            cfg.eval.n_envs,
            cfg.env.id,
            masked=cfg.env.action_mask,
        )
        self.keep_obs = not replays_exactly(self.envs, cfg.facts.deterministic)
        self._starts: dict[int, list[int]] | None = None
        """First observation -> seeds whose episode starts with it."""
        self._one_episode_per_start = False
        """True if nothing but the start is random, so that one episode per start is exact."""

    def plan(self, seed_list: SeedList, episodes: int | None = None) -> EpisodePlan:
        """Returns the episodes of one evaluation. `episodes` replaces the config's number, and also
        `eval.starts` and `eval.steps`."""
        cfg = self.cfg.eval
        count = episodes or (cfg.confirm_episodes if seed_list == "confirm" else cfg.episodes)
        if cfg.starts == "all" and episodes is None:
            return self._from_every_start(seed_list, count)
        steps = cfg.steps if seed_list == "eval" and episodes is None else None
        # With a limit in steps, enough seeds for the worst case: episodes of a single step.
        n = steps if steps is not None else count
        seeds = tuple(episode_seed(cfg.seed, seed_list, i) for i in range(n))
        if tasks := len(self.cfg.env.tasks):
            # Tasks take turns, so that each is played equally often.
            seeds = tuple(encode_task(seed, i % tasks, tasks) for i, seed in enumerate(seeds))
        return EpisodePlan(
            seeds, max_steps=steps, deterministic=cfg.deterministic, timeout=cfg.timeout
        )

    def _from_every_start(self, seed_list: SeedList, count: int) -> EpisodePlan:
        """Returns a plan with one episode from each start if nothing else is random: their mean is then
        exact. Otherwise each start is played equally often, `count` or more episodes in total, with
        seeds that the other kind of evaluation does not use."""
        cfg = self.cfg.eval
        if self._starts is None:
            self._starts = find_all_starts(self.envs)
            deterministic = cfg.deterministic and not self.cfg.env.adds_randomness
            self._one_episode_per_start = deterministic and has_deterministic_steps(self.envs)
        seeds = [first for first, *_ in self._starts.values()]
        if not self._one_episode_per_start:
            each = {
                kind: math.ceil(n / len(seeds))
                for kind, n in self._counts(seed_list, count).items()
            }
            # Each start has a list of seeds: the first ones are for `eval`, the others for `confirm`.
            self._starts = extend_seeds(self.envs, self._starts, sum(each.values()))
            part = slice(0, each["eval"]) if seed_list == "eval" else slice(each["eval"], None)
            seeds = [seed for of_start in self._starts.values() for seed in of_start[part]]
        return EpisodePlan(
            tuple(seeds),
            exact=self._one_episode_per_start,
            deterministic=cfg.deterministic,
            timeout=cfg.timeout,
        )

    def _counts(self, seed_list: SeedList, count: int) -> dict[str, int]:
        """Returns the number of episodes of each kind of evaluation, `count` for this one."""
        cfg = self.cfg.eval
        return {"eval": cfg.episodes, "confirm": cfg.confirm_episodes} | {seed_list: count}

    def evaluate(
        self,
        policy: Policy,
        version: int,
        plan: EpisodePlan,
        progress: EvaluationProgress | None = None,
        journal: Journal | None = None,
    ) -> tuple[Evaluation, list[Trace]]:
        """Plays a plan and returns the result with the traces of its episodes, in the order of the plan.
        `version`: env steps of the policy; `journal` contains the episodes that earlier processes finished
        before they were lost.

        Raises EnvError for a fault of the environment if `env.on_fault` is `stop` or no episode finished.
        """
        progress, journal = progress or EvaluationProgress(), journal or Journal()
        # 1. Episodes that an earlier process finished are not played again.
        progress.total = len(plan.seeds) if plan.max_steps is None else 0
        progress.started = progress.done = len(journal.finished) + len(journal.left_out)
        done: dict[int, Trace] = dict(journal.finished)
        # 2. An episode that was running when a process died is played alone, to find out which one
        # kills its process. No time limit: these episodes had been started in time.
        unlimited = replace(plan, max_seconds=None)
        for index in journal.suspects:
            done |= self._play(policy, version, unlimited, [index], progress, journal, alone=True)
        # 3. The rest of the plan.
        known = done.keys() | journal.left_out.keys() | set(journal.suspects)
        rest = [index for index in range(len(plan.seeds)) if index not in known]
        done |= self._play(policy, version, plan, rest, progress, journal)
        shortfall = Shortfall.from_plan(plan, progress, len(done), journal.left_out.values())
        if self.cfg.env.on_fault == "stop" or not done:
            raise_fault(self.envs.name, progress.left_out)
            if journal.left_out:
                raise EnvError(f"{self.envs.name}: {next(iter(journal.left_out.values()))}")
        episodes = [done[index] for index in sorted(done)]
        evaluation = Evaluation(
            version=version,
            returns=tuple(t.raw_return for t in episodes),
            lengths=tuple(len(t.reward) for t in episodes),
            seeds=tuple(t.seed for t in episodes),
            exact=plan.exact and len(done) == len(plan.seeds),
            tasks=tuple(self.cfg.env.tasks),
            shortfall=shortfall,
            possible_returns=self.cfg.possible_returns(),
            info_metrics=tuple(t.numbers for t in episodes),
            truncated=tuple(t.truncated for t in episodes),
        )
        return evaluation, episodes

    def _play(
        self,
        policy: Policy,
        version: int,
        plan: EpisodePlan,
        indices: Sequence[int],
        progress: EvaluationProgress,
        journal: Journal,
        *,
        alone: bool = False,
    ) -> dict[int, Trace]:
        """Plays the episodes with these indices and returns index -> trace of the finished ones, which are
        also written to the journal. `alone`: whether the journal records that no other episode runs
        meanwhile."""
        attempts = self.cfg.env.max_faults if self.cfg.env.on_fault == "restart" else 1
        done: dict[int, Trace] = {}
        for index, trace in play_episodes(
            policy,
            self.envs,
            plan,
            version,
            progress=progress,
            indices=indices,
            attempts=attempts,
            on_start=lambda index: journal.start(index, alone=alone),
            metric_keys=self.cfg.info_keys(),
        ):
            # Without observations a trace is small; they are recomputed by replaying its actions.
            done[index] = trace if self.keep_obs else replace(trace, obs=None)
            journal.finish(index, done[index])
        return done

    def close(self) -> None:
        self.envs.close()


def find_all_starts(envs: Backend) -> dict[int, list[int]]:
    """Returns first observation -> list with one seed whose episode starts with it, sorted by observation.
    Found by trying seeds 0, 1, 2, ... until no new start has turned up for long enough. Raises ConfigError
    unless observations are Discrete."""
    require_countable_starts(envs.obs_space)
    starts: dict[int, list[int]] = {}
    seed = seeds_without_new = 0
    # With k equally likely starts known and one missing, 20 k seeds miss it with probability
    # (1 - 1 / (k + 1)) ** (20 * k), about exp(-20).
    while seeds_without_new < 20 * (len(starts) + 10):
        first = _first_obs(envs, seed)
        seeds_without_new = seeds_without_new + 1 if first in starts else 0
        starts.setdefault(first, [seed])
        seed += 1
    return {first: starts[first] for first in sorted(starts)}


def extend_seeds(
    envs: Backend, starts: dict[int, list[int]], seeds_per_start: int
) -> dict[int, list[int]]:
    """Returns `starts` (first observation -> seeds) with at least `seeds_per_start` seeds each: the present
    ones, then new ones."""
    extended = {first: list(seeds) for first, seeds in starts.items()}
    # Seeds beyond the last one in use are new for every start.
    seed = max(seeds[-1] for seeds in extended.values()) + 1
    while any(len(seeds) < seeds_per_start for seeds in extended.values()):
        first = _first_obs(envs, seed)
        if first in extended and len(extended[first]) < seeds_per_start:
            extended[first].append(seed)
        seed += 1
    return extended


def _first_obs(envs: Backend, seed: int) -> int:
    """Returns the observation with which the episode of a seed starts. Resets copy 0; raises EnvError if that
    fails."""
    raise_fault(envs.name, envs.reset([0], [seed]))
    return int(envs.obs[0])


def has_deterministic_steps(envs: Backend) -> bool:
    """Returns whether an episode is determined by its first observation and the actions, with no randomness
    in its steps. Tried on the first two seeds with the same start."""
    seed_of: dict[int, int] = {}
    seed = 0
    while True:
        first = _first_obs(envs, seed)
        if first in seed_of:
            return same_episode(envs, seed_of[first], seed)
        seed_of[first] = seed
        seed += 1


def require_countable_starts(space: Observation) -> None:
    """Raises ConfigError unless observations are Discrete, so that all starts can be found."""
    if not isinstance(space, DiscreteObs):
        raise ConfigError(
            "eval.starts: all needs Discrete observations", fix="set eval.starts=seeds"
        )
