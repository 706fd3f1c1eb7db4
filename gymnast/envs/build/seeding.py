"""Checks that seeding works: the same seed gives the same episode, different seeds different ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gymnast.envs.backends.backend import Backend, raise_fault
from gymnast.seeds import stream

Array = np.ndarray
_SEED, _OTHER = 12345, 54321


@dataclass(frozen=True)
class SeedingResult:
    """The result of `check_seeding`."""

    is_replayable: bool
    """True if the same seed with the same actions gives the same episode."""
    warnings: tuple[str, ...] = ()
    """Sentences to show to the user."""


def check_seeding(envs: Backend, declared: str) -> SeedingResult:
    """Returns whether episodes can be replayed, and warnings about the seeding.

    `declared`: `facts.deterministic` (yes, no or unknown). A declaration is trusted except for the first
    observations, which are checked because that costs only three resets. An environment's own vectorized
    implementation is not checked, since its copies cannot be stepped one by one.
    """
    # 1. The same seed and actions must give the same episode, or running episodes cannot be restored.
    replays = replays_exactly(envs, declared)
    if envs.restore_mode != "replay" or declared == "no":
        return SeedingResult(replays)
    if not replays:
        return SeedingResult(False, (f"the same seed gives different episodes: {_CONSEQUENCE}",))
    # 2. A declared `yes` was not tested by playing: at least the first observations must be equal.
    first = _start(envs, _SEED)
    if declared == "yes" and not np.array_equal(first, _start(envs, _SEED)):
        what = (
            "the same seed gives different first observations, although facts.deterministic is yes: "
            f"{_CONSEQUENCE}"
        )
        return SeedingResult(False, (what,))
    # 3. Different seeds must give different episodes, or all copies start alike. Many environments start
    # every episode in the same state (FrozenLake), so equal first observations prove nothing yet.
    if envs.n_envs == 1 or not np.array_equal(first, _start(envs, _OTHER)):
        return SeedingResult(True)
    if not same_episode(envs, _SEED, _OTHER):
        return SeedingResult(True)
    what = f"different seeds give the same episode: the {envs.n_envs} copies differ only in their actions"
    return SeedingResult(True, (what,))


def replays_exactly(envs: Backend, declared: str) -> bool:
    """True if the same seed with the same actions gives the same episode. Believes a declared `yes` or
    `no`; for `unknown` it plays two episodes."""
    if envs.restore_mode != "replay" or declared != "unknown":
        return envs.restore_mode == "replay" and declared == "yes"
    return same_episode(envs, _SEED, _SEED)


def same_episode(envs: Backend, seed: int, other: int, steps: int = 24) -> bool:
    """True if two seeds give the same episode. Plays copy 0 with the same random actions, for at most `steps`
    steps."""
    first, second = (_episode_of(envs, s, steps) for s in (seed, other))
    return len(first) == len(second) and all(
        np.array_equal(a, b) for a, b in zip(first, second, strict=True)
    )


def _start(envs: Backend, seed: int) -> Array:
    """Resets copy 0 and returns its first observation, [1, ...]."""
    raise_fault(envs.name, envs.reset([0], [seed]))
    return envs.obs[:1].copy()


def _episode_of(envs: Backend, seed: int, steps: int) -> list[Array]:
    """Returns the observations and rewards of copy 0 with this seed and random actions, for at most `steps`
    steps."""
    rng = stream(0, "replay check")  # a fixed root: both episodes get the same actions
    arrays = [_start(envs, seed)]
    for _ in range(steps):
        action = envs.action_space.random((envs.n_envs,), rng, envs.mask)
        step = envs.step(action, [0])
        raise_fault(envs.name, step.faults)
        arrays += [step.obs[:1].copy(), step.reward[:1].copy()]
        if step.terminated[0] or step.truncated[0]:
            break
    return arrays


_CONSEQUENCE = (
    "resume starts new episodes, and evaluations are not paired (if this is intended, declare "
    "facts.deterministic: no)"
)
