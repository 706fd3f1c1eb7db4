"""Which backend, how many copies, how long a rollout: found out here, as a patch for a config."""

from __future__ import annotations

import math
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
from gymnast.envs.backend import random_actions, refuse
from gymnast.envs.open import open_envs
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
_SIGNALS = 4
"""Rewards that a copy's share of a rollout should hold."""
_SHORTEST, _LONGEST = 32, 2_048
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
    n_steps: int | None
    """Suggested; None where the algorithm has none, or has enough."""
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
    signal, best = look(cfg), best_of(samples, (cfg.env.backend, cfg.env.n_envs))
    n_steps = _n_steps(cfg, signal)
    patch = _patch(best, n_steps)
    advice = [
        *_speed_advice(cfg, samples, best),
        *_rollout_advice(cfg, patch),
        _signal_text(signal, n_steps, cfg.algo.span().steps),
        _diversity_text(signal.diversity),
    ]
    cores = usable_cores()
    return Tuned(target, cores, tuple(samples), best, signal, n_steps, patch, tuple(advice))


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
    with closing(open_envs(few, limit=cfg.training_limit(), tell=lambda _: None)) as envs:
        refuse(envs.name, envs.reset(every, [next(seeds) for _ in every]))
        while len(reward) * _LOOK < _LOOKED and (perf_counter() - began < _LOOK_SECONDS):
            step = envs.step(random_actions(envs.action_space, (_LOOK,), rng, envs.mask))
            refuse(envs.name, step.faults)
            reward.append(step.reward.copy())
            terminated.append(step.terminated.copy())
            if step.obs.nbytes * len(seen) < _MEMORY:
                seen.append(step.obs.copy())
            ended = np.flatnonzero(step.terminated | step.truncated).tolist()
            refuse(envs.name, envs.reset(ended, [next(seeds) for _ in ended]))
    between = steps_between_rewards(np.array(reward), np.array(terminated))
    return Signal(between, len(reward) * _LOOK, diversity(np.stack(seen)) or 0.0)


def steps_between_rewards(reward: Array, terminated: Array) -> float | None:
    """Of [T, N]: how many steps a copy takes, on average, until a reward other than the commonest,
    or a true end, tells it something; None where nothing ever does. A cost of every step alike says
    nothing about an action."""
    values, times = np.unique(np.round(reward, 9), return_counts=True)
    telling = (np.round(reward, 9) != values[times.argmax()]) | terminated
    return float(reward.size / telling.sum()) if telling.any() else None


def suggested_n_steps(between: float | None, time_limit: int | None = None) -> int:
    """A power of two that holds several rewards, or else an episode."""
    wanted = _SIGNALS * between if between is not None else time_limit or _LONGEST
    power = 2 ** math.ceil(math.log2(max(wanted, 1)))
    return min(max(power, _SHORTEST), _LONGEST)


def _n_steps(cfg: Config[Any], signal: Signal) -> int | None:
    """Where rollouts are cut by steps and what follows is estimated: elsewhere it means another
    thing."""
    if not hasattr(cfg.algo, "gae_lambda"):
        return None
    wanted = suggested_n_steps(signal.between, cfg.training_limit().steps)
    return wanted if wanted > (cfg.algo.span().steps or 0) else None


def _patch(best: Sample | None, n_steps: int | None) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    if best is not None:
        patch["env"] = {"n_envs": best.n_envs, "backend": best.backend}
    if n_steps is not None:
        patch["algo"] = {"n_steps": n_steps}
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
    """What the patch does to the number of steps that an update learns from."""
    steps = cfg.algo.span().steps
    if not patch or steps is None:
        return
    n_envs = patch.get("env", {}).get("n_envs", cfg.env.n_envs)
    before = cfg.env.n_envs * steps
    after = n_envs * patch.get("algo", {}).get("n_steps", steps)
    if after != before:
        than = "fewer" if after > before else "more"
        yield (
            f"an update then learns from {after:,} env steps instead of {before:,}: {than} updates "
            f"(as many with algo.n_steps={max(1, before // n_envs)})"
        )
    try:
        revise(cfg, patch)
    except ConfigError as problem:
        yield f"beside the other settings it is refused: {problem.message}"


def _signal_text(signal: Signal, n_steps: int | None, steps: int | None) -> str:
    how = f"random actions, {signal.env_steps:,} steps"
    if signal.between is None:
        found = f"no step told anything by its reward ({how}): they are rare, or need skill"
    elif signal.between < 1.5:
        return f"nearly every step has a reward of its own ({how}): any n_steps holds enough"
    else:
        found = f"{signal.between:.3g} steps between rewards that tell something ({how})"
    if n_steps is not None:
        return f"{found}: n_steps {n_steps} holds several"
    return f"{found}: n_steps {steps} holds enough" if steps else found


def _diversity_text(value: float) -> str:
    if value < _ALIKE:
        return f"diversity {value:.2f}: copies show nearly the same, more of them add little"
    return f"diversity {value:.2f} (0: copies show the same, 1: independent): more copies add data"
