"""Restores the unfinished episodes of a checkpoint by replaying their actions.

Separate environments are replayed one after the other, each from the seed of its episode. The copies of a
native vector environment can only step together, so they are replayed together, each from where it was
last seeded. A copy whose observation then differs from the stored one has not been restored, and the
reason is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.collect.running_episodes import RunningEpisodes
from gymnast.envs.backends.backend import Backend, Fault
from gymnast.envs.backends.vector import VectorBackend
from gymnast.seeds import stream

Array = np.ndarray
NOT_DETERMINISTIC = "this environment does not replay exactly"
TOO_LONG = "too many steps since this vector environment was seeded, or its copies cannot be seeded"
REPLAY_DIFFERS = "the replay did not lead to the same observation"


def replay_state(envs: Backend) -> dict[str, Array] | None:
    """Returns what a checkpoint must store besides the running episodes to restore them, or None if they
    cannot be restored."""
    if envs.restore_mode == "none":
        return None
    return envs.history.arrays() if isinstance(envs, VectorBackend) else {}


def restore(
    envs: Backend, running: RunningEpisodes, stored_obs: Array, history: Mapping[str, Array]
) -> dict[int, str]:
    """Brings the copies back to their state at the checkpoint. `running`: the unfinished episodes;
    `stored_obs`: the observations of all copies at the checkpoint, [N, ...]; `history`: the result of
    `replay_state`. Returns each copy that could not be restored, with the reason."""
    every = range(envs.n_envs)
    if envs.restore_mode == "none":
        return dict.fromkeys(every, NOT_DETERMINISTIC)
    if not isinstance(envs, VectorBackend):
        return {
            copy: REPLAY_DIFFERS
            for copy in every
            if not _replay_one(envs, running, copy, stored_obs)
        }
    if not history:
        return dict.fromkeys(every, TOO_LONG)
    replayed = _replay_vector(envs, history)
    # The observation is the only part of the state that can be compared. Equal to the last bit, or the
    # copy is not where it was.
    failed = [i for i in every if not (replayed[i] and np.array_equal(envs.obs[i], stored_obs[i]))]
    # If the copies share one random generator, one that differs may have shifted the draws of all.
    independent = envs.restore_mode == "together"
    return dict.fromkeys(failed if independent or not failed else every, REPLAY_DIFFERS)


def _replay_one(envs: Backend, running: RunningEpisodes, copy: int, stored_obs: Array) -> bool:
    """Replays the episode of one copy from its seed. True if that leads to the stored observation."""
    if envs.reset([copy], [int(running.seed[copy])]):
        return False
    for action in _actions(running, copy):
        # `step` takes actions of all copies, but only this one is stepped.
        step = envs.step(np.repeat(action[None], envs.n_envs, 0), [copy])
        if step.faults or step.terminated[copy] or step.truncated[copy]:
            return False
    return np.array_equal(envs.obs[copy], stored_obs[copy])


def _replay_vector(envs: VectorBackend, history: Mapping[str, Array]) -> Array:
    """Replays the actions of each copy since it was seeded; until the step at which a copy was seeded, its
    actions do not matter. Returns for each copy whether it was replayed without a fault, [N]."""
    n, seeds, start = envs.n_envs, history["seed"].tolist(), history["start"]
    broken = _has_fault(envs.reset_all(seeds), n)
    rng = stream(0, "actions before a replay")
    for t, stored in enumerate(history["action"]):
        action, not_seeded_yet = stored.astype(history["given_as"].dtype), start > t
        # A copy that is seeded later is in another state now than it was then, in which the mask may
        # forbid its stored action: it takes any allowed one instead.
        if not_seeded_yet.any() and envs.mask is not None:
            allowed = envs.action_space.random((n,), rng, envs.mask)
            action[not_seeded_yet] = allowed[not_seeded_yet]
        step = envs.step(action)
        # A fault of such a copy does no harm either: it is reset here, and seeded when its time comes.
        faults = _has_fault(step.faults, n)
        broken |= faults & ~not_seeded_yet
        ended = np.flatnonzero(
            step.terminated | step.truncated | (faults & not_seeded_yet)
        ).tolist()
        broken |= _has_fault(envs.reset(ended, [seeds[i] for i in ended]), n)
        if len(due := np.flatnonzero(start == t + 1).tolist()):
            broken |= _has_fault(envs.reseed(due, [seeds[i] for i in due]), n)
    return ~broken


def _actions(running: RunningEpisodes, copy: int) -> Array:
    """Returns the actions of a copy's unfinished episode, [t, ...]; none right after its reset."""
    return np.asarray(running.partial_episode(copy).get("env_action", np.zeros((0,))))


def _has_fault(faults: Sequence[Fault], n: int) -> Array:
    """Returns for each of the n copies whether it has a fault, [n]."""
    flags = np.zeros(n, dtype=bool)
    flags[[fault.copy for fault in faults]] = True
    return flags
