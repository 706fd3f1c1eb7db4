"""Restoring the episodes that were running when a checkpoint was written, by replaying them.

Single copies are replayed one after the other, each from the seed of its episode. The copies of a
vector step together: they are replayed together from where each was last seeded. Whatever then shows
another observation than before has not been restored, and the reason is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gymnast.collect.running import RunningEpisodes
from gymnast.envs.backends.backend import Backend, Fault, random_actions
from gymnast.envs.backends.vector import VectorBackend
from gymnast.seeds import stream

Array = np.ndarray
NOT_DETERMINISTIC = "this environment does not replay exactly"
TOO_LONG = (
    "this vector was stepped too often since its copies were seeded, or takes no seeds for them"
)
DIFFERS = "the replay did not lead to the same observation"


def state_of(envs: Backend) -> dict[str, Array] | None:
    """What a checkpoint must hold, apart from the running episodes, to restore them; None if they
    cannot be restored."""
    if envs.restore == "none":
        return None
    return envs.history.arrays() if isinstance(envs, VectorBackend) else {}


def restore(
    envs: Backend, running: RunningEpisodes, shown: Array, history: Mapping[str, Array]
) -> dict[int, str]:
    """Bring the copies back to where they were. `shown`: their observations then; `history`: what
    `state_of` returned. Returns each copy that is not restored, and why."""
    every = range(envs.n_envs)
    if envs.restore == "none":
        return dict.fromkeys(every, NOT_DETERMINISTIC)
    if not isinstance(envs, VectorBackend):
        return {copy: DIFFERS for copy in every if not _replay_one(envs, running, copy, shown)}
    if not history:
        return dict.fromkeys(every, TOO_LONG)
    whole = _replay_vector(envs, history)
    failed = [i for i in every if not (whole[i] and np.array_equal(envs.obs[i], shown[i]))]
    alone = envs.restore == "together"  # else the copies share what they draw from
    return dict.fromkeys(failed if alone or not failed else every, DIFFERS)


def _replay_one(envs: Backend, running: RunningEpisodes, copy: int, shown: Array) -> bool:
    if envs.reset([copy], [int(running.seed[copy])]):
        return False
    for action in _actions(running, copy):
        step = envs.step(np.repeat(action[None], envs.n_envs, 0), [copy])
        if step.faults or step.terminated[copy] or step.truncated[copy]:
            return False
    return np.array_equal(envs.obs[copy], shown[copy])


def _replay_vector(envs: VectorBackend, history: Mapping[str, Array]) -> Array:
    """Repeat what happened to each copy since it was seeded; copies that were seeded later take any
    actions until then. Returns for each copy whether that went without a fault, [N]."""
    n, seeds, start = envs.n_envs, history["seed"].tolist(), history["start"]
    broken = _named(envs.restart(seeds), n)
    rng = stream(0, "actions before a replay")
    for t, stored in enumerate(history["action"]):
        action, waits = stored.astype(history["given_as"].dtype), start > t
        if waits.any() and envs.mask is not None:
            action[waits] = random_actions(envs.action_space, (n,), rng, envs.mask)[waits]
        step = envs.step(action)
        faults = _named(step.faults, n)
        broken |= faults & ~waits
        ended = np.flatnonzero(step.terminated | step.truncated | (faults & waits)).tolist()
        broken |= _named(envs.reset(ended, [seeds[i] for i in ended]), n)
        if len(begins := np.flatnonzero(start == t + 1).tolist()):
            broken |= _named(envs.seed(begins, [seeds[i] for i in begins]), n)
    return ~broken


def _actions(running: RunningEpisodes, copy: int) -> Array:
    return running.so_far(copy).get("env_action", np.zeros((0,)))


def _named(faults: Sequence[Fault], n: int) -> Array:
    """Which copies have a fault, [N]."""
    flags = np.zeros(n, dtype=bool)
    flags[[fault.copy for fault in faults]] = True
    return flags
