"""Do seeds do what they are for? The same one gives the same episode, another one another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gymnast.envs.backends.backend import Backend, raise_fault, random_actions
from gymnast.seeds import stream

Array = np.ndarray
_SEED, _OTHER = 12345, 54321


@dataclass(frozen=True)
class Seeding:
    replays: bool
    """The same seed with the same actions gives the same episode."""
    warnings: tuple[str, ...] = ()
    """What a person should know, a sentence each."""


def check_seeding(envs: Backend, declared: str) -> Seeding:
    """What is declared is believed, but for the first observations: those cost three resets. An
    environment's own vector is not tried, since single copies of it cannot be stepped."""
    replays = replays_exactly(envs, declared)
    if envs.restore != "replay" or declared == "no":
        return Seeding(replays)
    if not replays:
        return Seeding(False, (f"the same seed gives different episodes: {_UNREPEATABLE}",))
    first = _start(envs, _SEED)
    if declared == "yes" and not np.array_equal(first, _start(envs, _SEED)):
        what = (
            f"the same seed begins differently, though facts say that it does not: {_UNREPEATABLE}"
        )
        return Seeding(False, (what,))
    if envs.n_envs == 1 or not np.array_equal(first, _start(envs, _OTHER)):
        return Seeding(True)
    if not same_episode(envs, _SEED, _OTHER):
        return Seeding(True)
    what = f"different seeds give the same episode: the {envs.n_envs} copies differ by their actions only"
    return Seeding(True, (what,))


def replays_exactly(envs: Backend, declared: str) -> bool:
    """Does the same seed with the same actions give the same episode? Declared `yes` or `no`, else
    tried."""
    if envs.restore != "replay" or declared != "unknown":
        return envs.restore == "replay" and declared == "yes"
    return same_episode(envs, _SEED, _SEED)


def same_episode(envs: Backend, seed: int, other: int, steps: int = 24) -> bool:
    """Do two seeds give the same episode? Tried on copy 0 with the same random actions."""
    first, second = (_episode_of(envs, s, steps) for s in (seed, other))
    return len(first) == len(second) and all(
        np.array_equal(a, b) for a, b in zip(first, second, strict=True)
    )


def _start(envs: Backend, seed: int) -> Array:
    raise_fault(envs.name, envs.reset([0], [seed]))
    return envs.obs[:1].copy()


def _episode_of(envs: Backend, seed: int, steps: int) -> list[Array]:
    rng = stream(0, "replay check")
    seen = [_start(envs, seed)]
    for _ in range(steps):
        action = random_actions(envs.action_space, (envs.n_envs,), rng, envs.mask)
        step = envs.step(action, [0])
        raise_fault(envs.name, step.faults)
        seen += [step.obs[:1].copy(), step.reward[:1].copy()]
        if step.terminated[0] or step.truncated[0]:
            break
    return seen


_UNREPEATABLE = (
    "resume begins them anew, and evaluations are not paired (if that is meant, declare "
    "facts.deterministic: no)"
)
