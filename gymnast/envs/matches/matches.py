"""The contract between a collector and the matches it steps: several agents in each, in roles.

- A role has the same number of seats in every match; one policy plays all seats of a role.
- We own resets: nothing resets by itself, and each match begins with a seed of its own.
- An agent's part ends once, terminated or truncated, perhaps before the match is over. From then on
  it is out of play until the next match: no reward, no end, its observation is of no meaning.
- An outcome is told by the environment or unknown; nobody guesses it.
- A match that broke its contract is a Fault, as in `backend.py`, and begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from gymnast.envs.backends.backend import Fault
from gymnast.spaces.spaces import Action, Observation

Array = np.ndarray
ByRole = Mapping[str, Array]
"""Role -> an array [N, seats, ...]."""
UNKNOWN = -1
"""The outcome of a match that nobody told."""

Scripted = Callable[[Array, Array], Array]
"""Plays by rules from what it sees and nothing else: (obs [k, ...], noise [k] in 0..1) -> actions [k, ...] as
the environment takes them. It remembers nothing, so there is nothing to save."""


@dataclass(frozen=True)
class Role:
    seats: int
    """Agents of this role in each match."""
    obs: Observation
    action: Action


@dataclass(slots=True)
class MatchStep:
    """One step of every match. The arrays are the backend's own: copy what you keep."""

    obs: ByRole
    """Where the actions led, before any reset."""
    reward: ByRole
    terminated: ByRole
    """This agent's part ended with this step, by the game."""
    truncated: ByRole
    """This agent's part ended with this step, cut short."""
    over: Array
    """[N]: the match is over, so nobody is left in play."""
    outcome: Array
    """[N] where over: place in `outcomes`, or UNKNOWN."""
    numbers: Mapping[str, Array]
    """[N] each, of meaning where the match is over: what else the environment tells of it."""
    terms: Mapping[str, ByRole] = field(default_factory=dict[str, ByRole])
    """Term -> role -> its part of the reward, where the environment tells."""
    faults: tuple[Fault, ...] = ()
    """Matches whose step counts for nothing."""


class Matches(Protocol):
    name: str
    """The environment's, for people."""
    n_matches: int
    roles: Mapping[str, Role]
    outcomes: Mapping[str, str]
    """How a match may end -> the role that then has won, empty for nobody; in a fixed order."""
    time_limit: int | None
    """Longest match, in steps, where one is declared or applied."""
    has_default_limit: bool
    """The environment declares no limit, so that `time_limit` is the default."""
    restore: Literal["state", "replay", "none"]
    """How a running match can be had again."""
    obs: ByRole
    """What each agent sees now; rewritten by reset and step."""
    scripted: Mapping[str, Mapping[str, Scripted]]
    """Role -> opponents by name."""

    def reset(self, matches: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """A new match in each of these, everybody in play."""
        ...

    def step(self, actions: ByRole, matches: Sequence[int] | None = None) -> MatchStep:
        """Step all matches, or only those named; the rest stay as they are. The actions of agents out
        of play are ignored."""
        ...

    def state(self) -> dict[str, Array]:
        """Where `restore` is "state": all that `load` needs to go on exactly."""
        ...

    def load(self, arrays: Mapping[str, Array]) -> None: ...

    def draw(self, match: int) -> Array:
        """A picture of a match as it stands, [height, width, 3] bytes."""
        ...

    def close(self) -> None: ...
