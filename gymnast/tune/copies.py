"""Finds the fastest backend and number of environment copies on this machine, as a patch for a config.

The patch changes the speed, not the learning problem: the number of copies times the steps that each
collects per update stays the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import count
from time import perf_counter
from typing import get_args

import numpy as np

from gymnast.config.config import Config
from gymnast.config.resolve import apply_overrides
from gymnast.config.sections.env import Backend
from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.build.open import open_envs
from gymnast.errors import ConfigError
from gymnast.progress import ProgressCallback, no_progress
from gymnast.rl.diversity import diversity
from gymnast.runs.machine import usable_cores
from gymnast.seeds import episode_seed, stream
from gymnast.text.formatting import number
from gymnast.tune.record import ProbeResult, SpeedSample, TuningResult
from gymnast.tune.sampling import measure_speed

Array = np.ndarray
Patch = dict[str, dict[str, int | str]]
"""Section -> key -> value."""
COPIES = (4, 8, 16, 32)
SECONDS = 2.0
"""Maximum duration of the measurement of one backend with one number of copies."""
BACKENDS = tuple(name for name in get_args(Backend) if name != "auto")
_EQUALLY_FAST = 0.93
"""Fraction of the best speed that counts as equally fast, given the precision of a measurement."""
_PROBE_COPIES, _PROBE_STEPS, _PROBE_SECONDS = 8, 4_096, 3.0
"""Copies, and maximum env steps and seconds, with which rewards and observations are probed."""
_PROBE_BYTES = 2**25
"""Maximum size of the observations kept by the probe."""
REWARDS_PER_ROLLOUT, MAX_ROLLOUT = 2.0, 2048
"""Informative rewards that a rollout of a copy should contain on average: with two, one rollout in seven has
none. And the steps of the longest rollout that is proposed."""
_ALIKE = 0.2
"""Diversity below which copies count as nearly the same."""


def tune_copies(
    target: str,
    cfg: Config,
    *,
    backends: Sequence[str] = BACKENDS,
    copies: Sequence[int] = COPIES,
    seconds: float = SECONDS,
    on_progress: ProgressCallback = no_progress,
) -> TuningResult:
    """Measures every backend with every number of copies, including the configured number.
    `seconds`: the maximum per measurement; `on_progress` is called with (measurements done, in
    total)."""
    counts = sorted({*copies, cfg.env.n_envs})
    cells = [(backend, n) for backend in backends for n in counts]
    samples: list[SpeedSample] = []
    refused: dict[str, SpeedSample] = {}
    for backend, n in cells:
        if backend not in refused:
            one = measure_speed(cfg, backend, n, seconds)
            samples.append(one)
            if one.refused:  # the reason does not depend on the number of copies
                refused[backend] = one
        on_progress(cells.index((backend, n)) + 1, len(cells))
    # Only numbers of copies that divide the rollout can keep the learning problem as it is.
    comparable = [one for one in samples if amount_per_copy(cfg, one.n_envs) is not None]
    signal, best = probe_env(cfg), best_sample(comparable, (cfg.env.backend, cfg.env.n_envs))
    patch = _patch(cfg, best)
    longer = longer_rollouts(cfg, signal.between, patch)
    advice = [
        *_speed_advice(cfg, samples, best),
        *_rollout_advice(cfg, best, patch),
        _signal_text(signal, cfg.initial_hyperparameters().rollout_length().steps),
        _diversity_text(signal.diversity),
    ]
    cores = usable_cores()
    return TuningResult(target, cores, tuple(samples), best, signal, patch, longer, tuple(advice))


def best_sample(
    samples: Sequence[SpeedSample], configured: tuple[str, int] = ("", 0)
) -> SpeedSample | None:
    """Returns the `configured` sample (backend, copies) if none is clearly faster; else, of the
    fastest, the one with the fewest copies and the least CPU time. A sample that cannot restore unfinished
    episodes is returned only if there is no other."""
    usable = [one for one in samples if not one.refused]
    usable = [one for one in usable if one.restores] or usable
    if not usable:
        return None
    fast_enough = _EQUALLY_FAST * max(one.per_second for one in usable)
    close = [one for one in usable if one.per_second >= fast_enough]
    return min(
        close,
        key=lambda one: ((one.backend, one.n_envs) != configured, one.n_envs, -one.per_cpu_second),
    )


def probe_env(cfg: Config) -> ProbeResult:
    """Probes rewards and observations with random actions, in this process."""
    few = cfg.env.model_copy(update={"backend": "inprocess", "n_envs": _PROBE_COPIES})
    rng, seeds = stream(0, "tune"), (episode_seed(0, "tune", number) for number in count())
    copies = list(range(_PROBE_COPIES))
    reward: list[Array] = []
    terminated: list[Array] = []
    observed: list[Array] = []
    started = perf_counter()
    with closing(open_envs(few, limit=cfg.training_limit(), on_output=lambda _: None)) as envs:
        raise_fault(envs.name, envs.reset(copies, [next(seeds) for _ in copies]))
        while len(reward) * _PROBE_COPIES < _PROBE_STEPS and (
            perf_counter() - started < _PROBE_SECONDS
        ):
            step = envs.step(envs.action_space.random((_PROBE_COPIES,), rng, envs.mask))
            raise_fault(envs.name, step.faults)
            # Copies: the backend reuses its buffers in the next step.
            reward.append(step.reward.copy())
            terminated.append(step.terminated.copy())
            if step.obs.nbytes * len(observed) < _PROBE_BYTES:
                observed.append(step.obs.copy())
            ended = np.flatnonzero(step.terminated | step.truncated).tolist()
            raise_fault(envs.name, envs.reset(ended, [next(seeds) for _ in ended]))
    between = steps_between_rewards(np.array(reward), np.array(terminated))
    return ProbeResult(between, len(reward) * _PROBE_COPIES, diversity(np.stack(observed)) or 0.0)


def steps_between_rewards(reward: Array, terminated: Array) -> float | None:
    """Returns the mean number of steps between informative rewards, for arrays [T, N]; None if there are
    none. A reward is informative if it differs from the most common one or if the episode terminates: a
    constant cost per step says nothing about an action."""
    # Rounded, because a constant reward may differ in its last bits.
    values, counts = np.unique(np.round(reward, 9), return_counts=True)
    informative = (np.round(reward, 9) != values[counts.argmax()]) | terminated
    return float(reward.size / informative.sum()) if informative.any() else None


def amount_per_copy(cfg: Config, n_envs: int) -> tuple[str, int] | None:
    """Returns the setting for the amount that each copy collects per update (`n_steps` or `episodes`), and
    its value with `n_envs` copies that keeps the total; None if the total is not divisible."""
    length = cfg.initial_hyperparameters().rollout_length()
    name, amount = ("episodes", length.episodes) if length.episodes else ("n_steps", length.steps)
    total = cfg.env.n_envs * (amount or 0)
    return (name, total // n_envs) if total and total % n_envs == 0 else None


def longer_rollouts(cfg: Config, between: float | None, patch: Patch) -> Patch:
    """Returns `patch` with as many times the steps per rollout as it takes to contain REWARDS_PER_ROLLOUT
    informative rewards of a copy. Empty if they do, if they would need more than MAX_ROLLOUT steps, or if the
    algorithm does not learn from rollouts of fixed length. `between`: mean steps between rewards."""
    length = cfg.initial_hyperparameters().rollout_length()
    if between is None or not length.steps or length.episodes:
        return {}
    if cfg.algo.action_selection != "sample":  # it learns from a replay buffer
        return {}
    steps = now = int(patch.get("algo", {}).get("n_steps", length.steps))
    while steps < REWARDS_PER_ROLLOUT * between:
        steps *= 2  # a multiple, so that it can be divided into minibatches like before
    if not now < steps <= MAX_ROLLOUT:
        return {}
    longer: Patch = {**patch, "algo": {**patch.get("algo", {}), "n_steps": steps}}
    try:
        apply_overrides(cfg, longer)
    except ConfigError:
        return {}
    return longer


def _patch(cfg: Config, best: SpeedSample | None) -> Patch:
    """Returns the settings of the best sample, section -> key -> value; if the number of copies
    changes, also the amount that each copy collects, so that an update uses as much data as before.
    Empty without a best sample."""
    if best is None:
        return {}
    patch: Patch = {"env": {"n_envs": best.n_envs, "backend": best.backend}}
    per_copy = amount_per_copy(cfg, best.n_envs)
    if best.n_envs != cfg.env.n_envs and per_copy is not None:
        patch["algo"] = {per_copy[0]: per_copy[1]}
    return patch


def _speed_advice(
    cfg: Config, samples: Sequence[SpeedSample], best: SpeedSample | None
) -> Iterator[str]:
    """Yields how much faster the best sample is than the configured backend and number of copies,
    and whether a backend that cannot restore unfinished episodes is clearly faster. Nothing without
    a best sample."""
    if best is None:
        return
    configured = cfg.env.backend, cfg.env.n_envs
    now = next((one for one in samples if (one.backend, one.n_envs) == configured), None)
    if now == best:
        yield f"{best.backend} with {best.n_envs} copies, as configured, is as fast as any"
    elif now is not None and now.per_second:
        times = best.per_second / now.per_second
        yield f"{times:.2g} times as fast as {now.backend} with {now.n_envs} copies, as configured"
    fastest = max(samples, key=lambda one: one.per_second)
    times = fastest.per_second / best.per_second
    if best.restores and not fastest.restores and times > 1 / _EQUALLY_FAST:
        name = f"{fastest.backend} with {fastest.n_envs} copies"
        drawback = "a resumed run restarts its unfinished episodes"
        yield f"{name} is {times:.2g} times as fast as that, but {drawback}"


def _rollout_advice(cfg: Config, best: SpeedSample | None, patch: Patch) -> Iterator[str]:
    """Yields that the patch keeps the amount of data per update, and any conflict with other settings."""
    if best is not None and "algo" in patch and (per_copy := amount_per_copy(cfg, best.n_envs)):
        (name, value), n_envs = per_copy, best.n_envs
        total = f"{n_envs * value:,} {'env steps' if name == 'n_steps' else 'episodes'}"
        yield f"an update still learns from {total}: {n_envs} copies x algo.{name}={value}"
    try:
        apply_overrides(cfg, patch)
    except ConfigError as problem:
        yield f"the other settings conflict with it: {problem.message}"


def _signal_text(signal: ProbeResult, steps: int | None) -> str:
    """Returns how often rewards are informative. This alone does not determine a good rollout
    length. `steps`: the configured length of a rollout per copy; None if whole episodes are
    collected."""
    measured = f"random actions, {signal.env_steps:,} steps"
    if signal.between is None:
        return f"no reward differed from the most common one ({measured}): they are rare, or need skill"
    if signal.between < 1.5:
        return f"nearly every step has a reward of its own ({measured})"
    text = f"{number(signal.between)} steps between informative rewards ({measured})"
    if not steps:
        return text
    text += f": a rollout of {steps:,} steps contains {number(steps / signal.between)} of them"
    if steps < MAX_ROLLOUT < REWARDS_PER_ROLLOUT * signal.between:  # nothing is proposed
        of_longest = number(MAX_ROLLOUT / signal.between)
        text += f"; even one of {MAX_ROLLOUT:,} steps would contain {of_longest}"
    return text


def _diversity_text(value: float) -> str:
    if value < _ALIKE:
        return f"diversity {value:.2f}: copies observe nearly the same, so more of them add little"
    return f"diversity {value:.2f} (0: identical copies, 1: independent): more copies add data"
