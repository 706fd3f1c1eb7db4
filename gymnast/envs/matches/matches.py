"""The interface of multi-agent environments: N matches that step together, with agents in named roles.

- A role has the same number of seats (agents) in every match; one policy plays all seats of a role.
- There is no autoreset: the collector resets every match, with a seed of its own.
- An agent terminates or is truncated once per match, possibly before the match is over. After that it is
  out of play until the next match: it gets no reward, and its observation has no meaning.
- The outcome of a match is reported by the environment, or it is unknown. It is never guessed.
- A match that violates this contract is reported as a Fault, as in `backend.py`, and is started again.
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
"""One array [N, seats, ...] per role."""
UNKNOWN_OUTCOME = -1
"""Outcome of a match for which the environment reports none."""

ScriptedPolicy = Callable[[Array, Array], Array]
"""A rule-based opponent, which sees what an agent sees: (obs [k, ...], uniform noise [k] in [0, 1)) ->
actions [k, ...] in the environment's format. It is stateless, so checkpoints store nothing for it."""


@dataclass(frozen=True)
class Role:
    """The agents of a match that one policy plays."""

    seats: int
    """Number of agents with this role in each match."""
    obs: Observation
    action: Action
    obs_names: tuple[str, ...] = ()
    """Names of the components of the observation, in order; empty if the environment declares none."""
    action_names: tuple[str, ...] = ()
    """Labels of the actions of a Discrete space, or of the elements of any other; empty if there are none."""


@dataclass(slots=True)
class MatchStep:
    """The result of one step of every match. The arrays are reused by the next step: copy what you keep."""

    obs: ByRole
    """Observations after the step, before any reset."""
    reward: ByRole
    terminated: ByRole
    """Whether the agent terminated with this step."""
    truncated: ByRole
    """Whether the agent was truncated with this step."""
    over: Array
    """[N]: whether the match is over, that is, no agent is left in play."""
    outcome: Array
    """[N]: index in `outcomes`, or UNKNOWN_OUTCOME; only meaningful where `over`."""
    metrics: Mapping[str, Array]
    """Match metrics, [N] each; only meaningful where `over`."""
    terms: Mapping[str, ByRole] = field(default_factory=dict[str, ByRole])
    """Reward per term and role, if the environment reports its reward terms."""
    faults: tuple[Fault, ...] = ()
    """Matches that broke in this step; the rest of their results is to be ignored."""


class Matches(Protocol):
    """N matches of a multi-agent environment."""

    name: str
    """Name of the environment in messages."""
    n_matches: int
    roles: Mapping[str, Role]
    outcomes: Mapping[str, str]
    """Every possible outcome and the role that wins with it (empty for a draw), in a fixed order."""
    time_limit: int | None
    """Maximum number of steps in a match, declared by the environment or applied by us; None if unlimited."""
    has_default_limit: bool
    """Whether `time_limit` is our default because the environment declares no limit."""
    restore_mode: Literal["state", "replay", "none"]
    """How an unfinished match is restored: from `state`, by replaying its actions, or not at all."""
    obs: ByRole
    """Current observations; overwritten by `reset` and `step`."""
    scripted: Mapping[str, Mapping[str, ScriptedPolicy]]
    """Scripted opponents by role and name."""

    def reset(self, matches: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts a new match in each of these slots, with all agents in play."""
        ...

    def step(self, actions: ByRole, matches: Sequence[int] | None = None) -> MatchStep:
        """Steps all matches, or only the given ones and leaves the others unchanged. The actions of agents
        out of play are ignored."""
        ...

    def state(self) -> dict[str, Array]:
        """Returns everything that `load` needs to continue exactly; only if `restore_mode` is "state"."""
        ...

    def load(self, arrays: Mapping[str, Array]) -> None:
        """Restores what `state` returned, observations included."""
        ...

    def render(self, match: int) -> Array:
        """Renders the current state of a match as an RGB image, uint8 [height, width, 3]."""
        ...

    def close(self) -> None: ...
