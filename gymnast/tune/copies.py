"""Which backend and how many copies are fastest here, as a patch for a config.

The patch changes the speed and not the learning problem: the number of copies times what each collects
for an update stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from time import perf_counter
from typing import Any, get_args

import numpy as np

from gymnast.config.config import Config
from gymnast.config.resolve import revise
from gymnast.config.sections.env import Backend
from gymnast.envs.backends.backend import raise_fault, random_actions
from gymnast.envs.build.open import open_envs
from gymnast.errors import ConfigError
from gymnast.rl.diversity import diversity
from gymnast.runs.machine import usable_cores
from gymnast.seeds import episode_seed, stream
from gymnast.tune.sampling import Sample, sample

Array = np.ndarray
COPIES = (4, 8, 16, 32)
SECONDS = 2.0
"""Longest measurement of one cell."""
BACKENDS = tuple(name for name in get_args(Backend) if name != "auto")
_CLOSE = 0.93
"""Of the best speed: what is as fast, given what a measurement is worth."""
_LOOK, _LOOKED, _LOOK_SECONDS = 8, 4_096, 3.0
"""Copies, env steps and time, at most, for a look at rewards and at what copies show."""
_MEMORY = 2**25
"""Bytes of observations that are kept for it."""
_ALIKE = 0.2


@dataclass(frozen=True)
class Signal:
    """What random actions get to see, and get."""

    between: float | None
    """Mean steps of a copy between two rewards that tell something; None: there was none."""
    env_steps: int
    diversity: float


@dataclass(frozen=True)
class Tuned:
    target: str
    cores: int
    samples: tuple[Sample, ...]
    best: Sample | None
    signal: Signal
    patch: dict[str, Any]
    advice: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            **vars(self),
            "samples": [one.as_json() for one in self.samples],
            "best": self.best.as_json() if self.best else None,
            "signal": vars(self.signal),
        }


def tune_copies(
    target: str,
    cfg: Config[Any],
    *,
    backends: Sequence[str] = BACKENDS,
    copies: Sequence[int] = COPIES,
    seconds: float = SECONDS,
    beat: Callable[[int, int], None] = lambda *_: None,
) -> Tuned:
    """Every backend with every number of copies, those of the config among them."""
    counts = sorted({*copies, cfg.env.n_envs})
    cells = [(backend, n) for backend in backends for n in counts]
    samples: list[Sample] = []
    refused: dict[str, Sample] = {}
    for backend, n in cells:
        if backend not in refused:
            one = sample(cfg, backend, n, seconds)
            samples.append(one)
            if one.refused:  # for its kind, not for its number: once is enough
                refused[backend] = one
        beat(cells.index((backend, n)) + 1, len(cells))
    dividing = [one for one in samples if per_copy(cfg, one.n_envs) is not None]
    signal, best = look(cfg), best_of(dividing, (cfg.env.backend, cfg.env.n_envs))
    patch = _patch(cfg, best)
    advice = [
        *_speed_advice(cfg, samples, best),
        *_rollout_advice(cfg, patch),
        _signal_text(signal, cfg.starting_values().span().steps),
        _diversity_text(signal.diversity),
    ]
    cores = usable_cores()
    return Tuned(target, cores, tuple(samples), best, signal, patch, tuple(advice))


def best_of(samples: Sequence[Sample], used: tuple[str, int] = ("", 0)) -> Sample | None:
    """The one that is used, if it is as fast as any; else the fewest copies that are, at the least
    CPU. One that cannot restore running episodes only where there is no other."""
    able = [one for one in samples if not one.refused]
    able = [one for one in able if one.restores] or able
    if not able:
        return None
    enough = _CLOSE * max(one.per_second for one in able)
    close = [one for one in able if one.per_second >= enough]
    return min(
        close, key=lambda one: ((one.backend, one.n_envs) != used, one.n_envs, -one.per_cpu_second)
    )


def look(cfg: Config[Any]) -> Signal:
    """Random actions for a little, in this process."""
    few = cfg.env.model_copy(update={"backend": "inprocess", "n_envs": _LOOK})
    rng, seeds = stream(0, "tune"), (episode_seed(0, "tune", number) for number in count())
    every = list(range(_LOOK))
    reward: list[Array] = []
    terminated: list[Array] = []
    seen: list[Array] = []
    began = perf_counter()
    with closing(open_envs(few, limit=cfg.training_limit(), on_output=lambda _: None)) as envs:
        raise_fault(envs.name, envs.reset(every, [next(seeds) for _ in every]))
        while len(reward) * _LOOK < _LOOKED and (perf_counter() - began < _LOOK_SECONDS):
            step = envs.step(random_actions(envs.action_space, (_LOOK,), rng, envs.mask))
            raise_fault(envs.name, step.faults)
            reward.append(step.reward.copy())
            terminated.append(step.terminated.copy())
            if step.obs.nbytes * len(seen) < _MEMORY:
                seen.append(step.obs.copy())
            ended = np.flatnonzero(step.terminated | step.truncated).tolist()
            raise_fault(envs.name, envs.reset(ended, [next(seeds) for _ in ended]))
    between = steps_between_rewards(np.array(reward), np.array(terminated))
    return Signal(between, len(reward) * _LOOK, diversity(np.stack(seen)) or 0.0)


def steps_between_rewards(reward: Array, terminated: Array) -> float | None:
    """Of [T, N]: how many steps a copy takes, on average, until a reward other than the commonest,
    or a true end, tells it something; None where nothing ever does. A cost of every step alike says
    nothing about an action."""
    values, times = np.unique(np.round(reward, 9), return_counts=True)
    telling = (np.round(reward, 9) != values[times.argmax()]) | terminated
    return float(reward.size / telling.sum()) if telling.any() else None


def per_copy(cfg: Config[Any], n_envs: int) -> tuple[str, int] | None:
    """The setting that says how much each of so many copies collects for an update, and its value so
    that an update learns from as much as before; None where that cannot be divided."""
    span = cfg.starting_values().span()
    name, amount = ("episodes", span.episodes) if span.episodes else ("n_steps", span.steps)
    total = cfg.env.n_envs * (amount or 0)
    return (name, total // n_envs) if total and total % n_envs == 0 else None


def _patch(cfg: Config[Any], best: Sample | None) -> dict[str, Any]:
    if best is None:
        return {}
    patch: dict[str, Any] = {"env": {"n_envs": best.n_envs, "backend": best.backend}}
    share = per_copy(cfg, best.n_envs)
    if best.n_envs != cfg.env.n_envs and share is not None:
        patch["algo"] = dict([share])
    return patch


def _speed_advice(
    cfg: Config[Any], samples: Sequence[Sample], best: Sample | None
) -> Iterator[str]:
    if best is None:
        return
    used = cfg.env.backend, cfg.env.n_envs
    now = next((one for one in samples if (one.backend, one.n_envs) == used), None)
    if now == best:
        yield f"{best.backend} with {best.n_envs}, as configured, is as fast as any"
    elif now is not None and now.per_second:
        times = best.per_second / now.per_second
        yield f"{times:.2g} times as fast as {now.backend} with {now.n_envs}, as configured"
    fastest = max(samples, key=lambda one: one.per_second)
    times = fastest.per_second / best.per_second
    if best.restores and not fastest.restores and times > 1 / _CLOSE:
        name = f"{fastest.backend} with {fastest.n_envs}"
        what = "a resumed run begins new episodes with it"
        yield f"{name} is {times:.2g} times as fast as that, but {what}"


def _rollout_advice(cfg: Config[Any], patch: dict[str, Any]) -> Iterator[str]:
    """That the patch leaves alone what an update learns from, and whether the config takes it."""
    for name, value in patch.get("algo", {}).items():
        n_envs, unit = patch["env"]["n_envs"], "env steps" if name == "n_steps" else "episodes"
        total = f"{n_envs * value:,} {unit}"
        yield f"an update still learns from {total}: {n_envs} copies x algo.{name}={value}"
    try:
        revise(cfg, patch)
    except ConfigError as problem:
        yield f"the other settings conflict with it: {problem.message}"


def _signal_text(signal: Signal, steps: int | None) -> str:
    """How often rewards tell something. How long a rollout should be does not follow from it alone."""
    how = f"random actions, {signal.env_steps:,} steps"
    if signal.between is None:
        return f"no reward differed from the most common one ({how}): they are rare, or need skill"
    if signal.between < 1.5:
        return f"nearly every step has a reward of its own ({how})"
    found = f"{signal.between:.3g} steps between rewards that tell something ({how})"
    return (
        f"{found}: a rollout of {steps} steps holds {steps / signal.between:.2g}"
        if steps
        else found
    )


def _diversity_text(value: float) -> str:
    if value < _ALIKE:
        return f"diversity {value:.2f}: copies show nearly the same, more of them add little"
    return f"diversity {value:.2f} (0: copies show the same, 1: independent): more copies add data"
