"""Checks if a match is determined by its seed and the actions, whatever was played before it."""

from __future__ import annotations

from gymnast.envs.matches.matches import Matches
from gymnast.seeds import stream

_SEED, _OTHER = 12345, 54321
_LONG, _BETWEEN = 41, 7
"""Number of steps. Their sum, 48, is not a likely period of a counter that `reset` forgets to reset."""


def is_reproducible(matches: Matches) -> bool:
    """Plays match 0 twice with another match in between and compares; match 0 is left unfinished."""
    first = _record(matches, _SEED, _LONG)
    _record(matches, _OTHER, _BETWEEN)
    return first == _record(matches, _SEED, _LONG)


def _record(matches: Matches, seed: int, steps: int) -> list[bytes]:
    """Returns everything that match 0 returns with this seed and random actions, for at most `steps`
    steps."""
    rng = stream(0, "replay check")
    faults = matches.reset([0], [seed])
    recorded = [matches.obs[role][0].tobytes() for role in matches.roles]
    for _ in range(steps):
        if faults:
            break
        actions = {
            name: role.action.random((matches.n_matches, role.seats), rng)
            for name, role in matches.roles.items()
        }
        step = matches.step(actions, [0])
        faults = step.faults
        for result in (step.obs, step.reward, step.terminated, step.truncated):
            recorded += [result[role][0].tobytes() for role in matches.roles]
        if step.over[0]:
            break
    # The messages of faults are compared as well: a match that breaks must break again in the same way.
    return recorded + [fault.message.encode() for fault in faults]
