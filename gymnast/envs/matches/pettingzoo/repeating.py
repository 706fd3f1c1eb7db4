"""Does a match follow from its seed and the actions, whatever was played before it?"""

from __future__ import annotations

from gymnast.envs.backends.backend import random_actions
from gymnast.envs.matches.matches import Matches
from gymnast.seeds import stream

_SEED, _OTHER = 12345, 54321
_LONG, _BETWEEN = 41, 7
"""Steps. Their sum fits no period that an environment is likely to count in and fail to reset."""


def repeats(matches: Matches) -> bool:
    """Tried in match 0, which then stands somewhere."""
    first = _played(matches, _SEED, _LONG)
    _played(matches, _OTHER, _BETWEEN)
    return first == _played(matches, _SEED, _LONG)


def _played(matches: Matches, seed: int, steps: int) -> list[bytes]:
    """All that is seen of one match with random actions."""
    rng = stream(0, "replay check")
    faults = matches.reset([0], [seed])
    seen = [matches.obs[role][0].tobytes() for role in matches.roles]
    for _ in range(steps):
        if faults:
            break
        actions = {
            name: random_actions(role.action, (matches.n_matches, role.seats), rng)
            for name, role in matches.roles.items()
        }
        step = matches.step(actions, [0])
        faults = step.faults
        for told in (step.obs, step.reward, step.terminated, step.truncated):
            seen += [told[role][0].tobytes() for role in matches.roles]
        if step.over[0]:
            break
    return seen + [fault.what.encode() for fault in faults]
