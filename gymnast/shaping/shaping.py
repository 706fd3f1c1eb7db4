"""Applies a learner's reward terms to a rollout, between collecting it and learning from it.

Only the rewards that the algorithm learns from change; episodes and their raw returns do not.

A term is a function `term(steps, **kwargs)`, or a class `Term(context, **kwargs)` whose instance is called
with the steps; both return an array [T, N]. A class can keep arrays across rollouts in a dict `memory`,
which checkpoints save and restore.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from gymnast.config.config import Config
from gymnast.config.sections.shaping import TermConfig, term_spec
from gymnast.errors import CodeNotAllowed, ConfigError, GymnastError
from gymnast.import_object import import_object, import_user_code
from gymnast.metrics.families.experience import WINDOW
from gymnast.rollout import Rollout
from gymnast.shaping.steps import ObsBatch, Steps, TermContext, episode_ages, episode_returns
from gymnast.spaces.observations import Observation, blank_obs
from gymnast.spaces.policy_facts import facts_for_policy_obs

Array = np.ndarray
T = TypeVar("T")
Term = Callable[[Steps], Array]


class Shaping:
    """The reward terms of one learner, with the state that they need across rollouts."""

    def __init__(self, cfg: Config, obs: Observation, columns: int | None = None) -> None:
        """`columns`: number N of columns of its rollouts, by default `env.n_envs`."""
        columns = columns or cfg.env.n_envs
        facts = facts_for_policy_obs(cfg.facts, cfg.env, obs)
        self._context = TermContext(cfg.env, obs, facts.observations)
        self._bootstraps_truncated = cfg.algo.bootstraps
        self.terms = {
            name: build_term(name, term, self._context) for name, term in cfg.shaping.items()
        }
        self.age = np.zeros(columns, dtype=np.int64)
        """Number of steps so far of each running episode, [N]."""
        self.running_returns = np.zeros(columns)
        """Shaped return so far of each running episode, [N]; NaN if its start is not known."""
        self.finished_returns = np.zeros(0)
        """Shaped returns of the last episodes that ended, at most WINDOW."""
        self.added: dict[str, Array] = {}
        """Term -> what it added to the rewards of the last rollout, [T, N]."""

    def __call__(
        self, rollout: Rollout, weights: Mapping[str, float], gamma: float
    ) -> tuple[Rollout, dict[str, float]]:
        """Returns the rollout with shaped rewards, and the metrics of the terms. `weights`: term -> its
        current weight; `gamma`: discount factor of the algorithm."""
        if not self.terms:
            return rollout, {}
        steps = self.make_steps(rollout, gamma)
        self.age = np.where(rollout.done[-1], 0, steps.age[-1] + 1)
        valid, reward = rollout.valid, rollout.reward.astype(np.float64)
        metrics: dict[str, float] = {}
        total, self.added = 0.0, {}
        for name, term in self.terms.items():
            # Evaluated also with weight 0: a term may count visits, and its weight may change later.
            added = weights[name] * np.where(valid, term_values(name, term, steps), 0.0)
            if not np.isfinite(added).all():
                raise ConfigError(f"shaping.{name}: it returned a value that is not finite")
            reward, self.added[name] = reward + added, added
            metrics[f"shaping/{name}"] = mean = float(added[valid].mean())
            metrics[f"hyper/shaping.{name}"] = weights[name]
            total += mean
        metrics["shaping/total"] = total
        self._add_returns(rollout, np.where(valid, reward, 0.0))
        if len(self.finished_returns):
            metrics["episode/shaped_return"] = float(self.finished_returns.mean())
        return replace(rollout, reward=reward), metrics

    def make_steps(self, rollout: Rollout, gamma: float) -> Steps:
        """Returns the steps of a rollout [T, N] in the form that terms take. `gamma`: discount factor of the
        algorithm. Ages continue from `self.age`, which is not changed."""
        names = self._context.names
        return Steps(
            obs=ObsBatch(np.asarray(rollout.obs), names),
            next_obs=ObsBatch(np.asarray(rollout.next_obs()), names),
            action=rollout.action,
            reward=rollout.reward,
            terminated=rollout.terminated,
            truncated=rollout.done & ~rollout.terminated,
            # where the algorithm assumes that no return follows
            ended=rollout.terminated if self._bootstraps_truncated else rollout.done,
            valid=rollout.valid,
            age=episode_ages(rollout.start, self.age),
            gamma=gamma,
            info=rollout.info,
        )

    def _add_returns(self, rollout: Rollout, reward: Array) -> None:
        """Adds these rewards, [T, N], to the shaped returns of the episodes in this rollout."""
        returns = episode_returns(rollout.start, reward, self.running_returns)
        ended = returns[rollout.done & rollout.valid]
        finished = np.concatenate([self.finished_returns, ended[np.isfinite(ended)]])
        self.finished_returns = finished[-WINDOW:]
        self.running_returns = np.where(rollout.done[-1], 0.0, returns[-1])

    def state(self) -> dict[str, Array]:
        """Returns the arrays to store in a checkpoint, by name."""
        if not self.terms:
            return {}
        memory = {f"{n}.{key}": a for n, t in self.terms.items() for key, a in _memory(t).items()}
        own = {"age": self.age, "running": self.running_returns, "finished": self.finished_returns}
        return {f"shaping.{name}": a for name, a in (own | memory).items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Restores what `state` returned."""
        if not self.terms:
            return
        self.age = arrays["shaping.age"].copy()
        # Older checkpoints have no returns: those of the running episodes are then unknown (NaN).
        unknown = np.full(len(self.age), np.nan)
        self.running_returns = arrays.get("shaping.running", unknown).copy()
        self.finished_returns = arrays.get("shaping.finished", self.finished_returns).copy()
        self.load_memory(arrays)

    @property
    def has_memory(self) -> bool:
        """Whether a term remembers something across rollouts."""
        return any(_memory(term) for term in self.terms.values())

    def load_memory(self, arrays: Mapping[str, Array]) -> None:
        """Restores from what `state` returned only what the terms remember: nothing about running episodes,
        so that the number of columns may differ."""
        for name, term in self.terms.items():
            memory = _memory(term)  # the term's own dict, changed in place
            memory.update({key: arrays[f"shaping.{name}.{key}"].copy() for key in memory})


def build_term(name: str, cfg: TermConfig, context: TermContext) -> Term:
    """Returns the term of the entry `name` of `shaping`, after a trial call on blank steps. Raises
    ConfigError if it cannot be imported, does not accept its kwargs or fails in the trial.

    The trial uses an instance of its own, so that the memory of the term starts empty.
    """
    # 1. Find it, and check its settings before it is called.
    spec = term_spec(name, cfg)
    try:
        own = spec.path.startswith("gymnast.")
        term = import_object(spec.path) if own else import_user_code(spec.path)
    except CodeNotAllowed:
        raise
    except Exception as problem:  # the user's code may raise anything
        what = (
            f"shaping.{name}: {spec.path} cannot be imported: {type(problem).__name__}: {problem}"
        )
        raise ConfigError(what) from problem
    try:
        inspect.signature(term).bind(None, **cfg.kwargs)
    except TypeError as problem:
        settings = ", ".join(list(inspect.signature(term).parameters)[1:]) or "none"
        what = f"shaping.{name}.kwargs: {problem} (its settings: {settings})"
        raise ConfigError(what) from None

    def make() -> Term:
        is_class = isinstance(term, type)
        return term(context, **cfg.kwargs) if is_class else partial(term, **cfg.kwargs)

    # 2. A wrong component name or shape is reported now, not after the first rollout.
    _naming_term(name, lambda: term_values(name, make(), _blank_steps(context)))
    return make()


def term_values(name: str, term: Term, steps: Steps) -> Array:
    """Returns the value of a term for each step, [T, N]. Every failure becomes a ConfigError with the name of
    the term."""
    with np.errstate(all="ignore"):  # invalid steps may hold anything
        value = np.asarray(_naming_term(name, lambda: term(steps)))
    if value.shape != steps.reward.shape or value.dtype.kind not in "fiub":
        what = f"returned {value.dtype} of shape {value.shape} for steps of {steps.reward.shape}"
        raise ConfigError(f"shaping.{name}: {what}", fix="return one number per step, [T, N]")
    return value


def _naming_term(name: str, work: Callable[[], T]) -> T:
    """Calls `work` and turns any exception into a ConfigError that names the term."""
    try:
        return work()
    except GymnastError as problem:
        is_named = problem.message.startswith("shaping.")
        what = problem.message if is_named else f"shaping.{name}: {problem.message}"
        raise ConfigError(what, fix=problem.fix) from problem
    except Exception as problem:
        what = f"shaping.{name}: raised {type(problem).__name__}: {problem}"
        raise ConfigError(what, fix="see docs/shaping.md") from problem


def _blank_steps(context: TermContext) -> Steps:
    """Returns two blank steps of three copies, for the trial call of a term. The two numbers differ, so that
    a term which swaps the axes is noticed."""
    rows = blank_obs(context.obs, 6).reshape(2, 3, *context.obs.shape)
    obs, none = ObsBatch(rows, context.names), np.zeros((2, 3), dtype=bool)
    zero = np.zeros((2, 3))
    return Steps(obs, obs, zero, zero, none, none, none, ~none, zero.astype(int), 0.99)


def _memory(term: Term) -> dict[str, Array]:
    """Returns the dict of the arrays that a term keeps across rollouts, not a copy; empty for a function."""
    return getattr(term, "memory", {})
