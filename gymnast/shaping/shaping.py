"""The terms of one learner: what they add to the reward of a rollout, after it was collected and
before anything is learned from it. Episodes and their raw returns are never touched.

A term is a function `term(steps, **kwargs)` or, where it must know or remember more, a class
`Term(scene, **kwargs)` that is then called with the steps; both give an array [T, N]. What a term
remembers from rollout to rollout is in its `memory`, arrays by name: they are saved and restored.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gymnast.config.config import Config
from gymnast.config.sections.shaping import TermConfig, known_term
from gymnast.errors import ConfigError, GymnastError
from gymnast.imported import imported
from gymnast.metrics.families.experience import WINDOW
from gymnast.rollout import Rollout
from gymnast.shaping.steps import Scene, Seen, Steps, ages, sums
from gymnast.spaces.declared import facts_for_policy_obs
from gymnast.spaces.observations import Observation, blank

Array = np.ndarray
Term = Callable[[Steps], Array]


class Shaping:
    def __init__(self, cfg: Config[Any], obs: Observation, columns: int | None = None) -> None:
        """`columns`: of its rollouts; as many as there are copies, unless said otherwise."""
        columns = columns or cfg.env.n_envs
        self._scene = Scene(
            cfg.env, obs, facts_for_policy_obs(cfg.facts, cfg.env, obs).observations
        )
        self._bootstraps = cfg.algo.bootstraps
        self.terms = {name: build(name, term, self._scene) for name, term in cfg.shaping.items()}
        self.age = np.zeros(columns, dtype=np.int64)
        """Steps so far of each running episode."""
        self.running = np.zeros(columns)
        """Shaped return so far of each running episode; NaN where its beginning is not known."""
        self.finished = np.zeros(0)
        """Shaped returns of the last episodes that ended."""

    def __call__(
        self, rollout: Rollout, weights: Mapping[str, float], gamma: float
    ) -> tuple[Rollout, dict[str, float]]:
        """The rollout with shaped rewards, and what each term did to them."""
        if not self.terms:
            return rollout, {}
        steps = self.steps(rollout, gamma)
        self.age = np.where(rollout.done[-1], 0, steps.age[-1] + 1)
        keep, reward, row = rollout.valid, rollout.reward.astype(np.float64), dict[str, float]()
        total = 0.0
        for name, term in self.terms.items():
            added = weights[name] * np.where(keep, computed(name, term, steps), 0.0)
            if not np.isfinite(added).all():
                raise ConfigError(f"shaping.{name}: not all that it gives is finite")
            reward = reward + added
            row[f"shaping/{name}"] = mean = float(added[keep].mean())
            row[f"hyper/shaping.{name}"] = weights[name]
            total += mean
        row["shaping/total"] = total
        self._add_up(rollout, np.where(keep, reward, 0.0))
        if len(self.finished):
            row["episode/shaped_return"] = float(self.finished.mean())
        return replace(rollout, reward=reward), row

    def steps(self, rollout: Rollout, gamma: float) -> Steps:
        """As the terms see them."""
        names, truncated = self._scene.names, rollout.done & ~rollout.terminated
        return Steps(
            before=Seen(np.asarray(rollout.obs), names),
            after=Seen(np.asarray(rollout.next_obs()), names),
            action=rollout.action,
            reward=rollout.reward,
            terminated=rollout.terminated,
            truncated=truncated,
            ended=rollout.terminated if self._bootstraps else rollout.done,
            valid=rollout.valid,
            age=ages(rollout.start, self.age),
            gamma=gamma,
            info=rollout.info,
        )

    def _add_up(self, rollout: Rollout, reward: Array) -> None:
        """To the returns of episodes that run or ended in this rollout."""
        so_far = sums(rollout.start, reward, self.running)
        over = so_far[rollout.done & rollout.valid]
        known = np.concatenate([self.finished, over[np.isfinite(over)]])
        self.finished = known[-WINDOW:]
        self.running = np.where(rollout.done[-1], 0.0, so_far[-1])

    def state(self) -> dict[str, Array]:
        """What is remembered, by name."""
        if not self.terms:
            return {}
        held = {f"{n}.{key}": a for n, t in self.terms.items() for key, a in _memory(t).items()}
        own = {"age": self.age, "running": self.running, "finished": self.finished}
        return {f"shaping.{name}": a for name, a in (own | held).items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        if not self.terms:
            return
        self.age = arrays["shaping.age"].copy()
        unknown = np.full(len(self.age), np.nan)  # older checkpoints do not say
        self.running = arrays.get("shaping.running", unknown).copy()
        self.finished = arrays.get("shaping.finished", self.finished).copy()
        for name, term in self.terms.items():
            memory = _memory(term)
            memory |= {key: arrays[f"shaping.{name}.{key}"].copy() for key in memory}


def build(name: str, cfg: TermConfig, scene: Scene) -> Term:
    """The term that an entry of `shaping` asks for, once it has been tried."""
    known = known_term(name, cfg)
    try:
        found = imported(known.path)
    except (ImportError, AttributeError, ValueError) as problem:
        raise ConfigError(f"shaping.{name}: {known.path} cannot be imported: {problem}") from None
    try:
        inspect.signature(found).bind(None, **cfg.kwargs)
    except TypeError as problem:
        settings = ", ".join(list(inspect.signature(found).parameters)[1:]) or "none"
        what = f"shaping.{name}.kwargs: {problem} (its settings: {settings})"
        raise ConfigError(what) from None

    def make() -> Term:
        is_class = isinstance(found, type)
        return found(scene, **cfg.kwargs) if is_class else partial(found, **cfg.kwargs)

    _in_words(name, lambda: computed(name, make(), _nothing(scene)))
    return make()


def computed(name: str, term: Term, steps: Steps) -> Array:
    """The term of each step, [T, N]; whatever goes wrong in it names it."""
    with np.errstate(all="ignore"):  # of steps that are not valid anything may come
        value = np.asarray(_in_words(name, lambda: term(steps)))
    if value.shape != steps.reward.shape or value.dtype.kind not in "fiub":
        what = f"gave {value.dtype} of shape {value.shape} for steps of {steps.reward.shape}"
        raise ConfigError(f"shaping.{name}: {what}", fix="return one number per step, [T, N]")
    return value


def _in_words(name: str, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except GymnastError as problem:
        here = problem.message.startswith("shaping.")
        what = problem.message if here else f"shaping.{name}: {problem.message}"
        raise ConfigError(what, fix=problem.fix) from problem
    except Exception as problem:
        what = f"shaping.{name}: raised {type(problem).__name__}: {problem}"
        raise ConfigError(what, fix="see docs/shaping.md") from problem


def _nothing(scene: Scene) -> Steps:
    """Two steps of three copies in which nothing happens, to try a term with."""
    rows = blank(scene.obs, 6).reshape(2, 3, *scene.obs.shape)
    seen, none = Seen(rows, scene.names), np.zeros((2, 3), dtype=bool)
    still = np.zeros((2, 3))
    return Steps(seen, seen, still, still, none, none, none, ~none, still.astype(int), 0.99)


def _memory(term: Term) -> dict[str, Array]:
    return getattr(term, "memory", {})
