"""The contract between a collector and the copies of an environment it steps, wherever they run.

- We own resets: nothing resets by itself, and each episode begins with a seed of its own.
- `step` yields the true successor observation, with terminated and truncated apart.
- The policy never sees NaN, a wrong shape or an index outside its space: that copy's step is a
  Fault, which names the copy, the step and the cause. Nothing else of the vector is disturbed.
- A copy that had a fault shows a blank observation and is made anew at its next reset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from gymnast.errors import EnvError
from gymnast.policy.actions import head_for
from gymnast.spaces.spaces import Action, BoxAction, Observation

Array = np.ndarray

OTHER_BACKEND_FIX = "set env.backend to inprocess or process"
"""What to do where a vector cannot do what is asked."""


@dataclass(frozen=True)
class Fault:
    """What one copy did wrong, or what happened to it."""

    copy: int
    step: int
    """Of its episode; 0 is the reset."""
    what: str
    traceback: str = ""
    """Of the environment's own code, where it raised."""
    because_of: int | None = None
    """The copy that broke, where this one was only lost with it."""

    @property
    def bystander(self) -> bool:
        return self.because_of is not None


@dataclass(slots=True)
class Step:
    """One step of every copy, [N, ...]. The arrays are the backend's own: copy what you keep."""

    obs: Array
    """Where the action led, before any reset."""
    reward: Array
    terminated: Array
    truncated: Array
    infos: Sequence[dict[str, Any]]
    stepped: Array | None = None
    """False where a copy only began its next episode, its action unused: no step to learn from."""
    faults: tuple[Fault, ...] = ()
    """Copies whose step counts for nothing."""
    numbers: Array | None = None
    """What was asked for of each step's info, [N, keys]; NaN where a step does not have it."""


class Backend(Protocol):
    name: str
    """The environment's, for people."""
    n_envs: int
    obs_space: Observation
    action_space: Action
    space_texts: tuple[str, str]
    """Observation and action space as the environment names them."""
    time_limit: int | None
    """Longest episode, in steps, where one is declared or applied."""
    has_default_limit: bool
    """The environment declares no limit, so that `time_limit` is the default."""
    restore: Literal["replay", "together", "history", "none"]
    """How running episodes can be restored: copy by copy from seed and actions, all copies together
    from theirs, or by repeating all that happened since the copies were seeded (`history.py`)."""
    obs: Array
    """What each copy shows now; rewritten by reset and step."""

    @property
    def mask(self) -> Array | None:
        """Actions each copy allows now, [N, k], if the environment ever said."""
        ...

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """A new episode in each of these; faults are of these only."""
        ...

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        """Step all copies, or only those named; the rest stay as they are."""
        ...

    def close(self) -> None: ...


def any_of(flags: Array) -> bool:
    """`flags.any()`, in a tenth of the time where they are few."""
    return 1 in flags.tobytes()


def raise_fault(name: str, faults: Sequence[Fault], fix: str = "mend the environment") -> None:
    """For callers that cannot go on without the copy: the first fault as an error."""
    if faults:
        fault = faults[0]
        what = f"{name}, copy {fault.copy}, step {fault.step} of its episode: {fault.what}"
        raise EnvError(what, fix=fix, traceback=fault.traceback)


def info_metrics(info: Mapping[str, Any], wanted: Mapping[str, str], env: str) -> dict[str, float]:
    """Of an episode's last info; `wanted`: metric -> key."""
    found: dict[str, float] = {}
    for metric, key in wanted.items():
        if key in info:
            try:
                found[metric] = float(info[key])
            except (TypeError, ValueError):
                what = f"metrics.{metric}: info[{key!r}] is {info[key]!r}, not a number"
                raise EnvError(what, at=env) from None
    return found


def random_actions(
    space: Action, shape: tuple[int, ...], rng: np.random.Generator, mask: Array | None = None
) -> Array:
    """Actions as an environment takes them, drawn evenly from those allowed (within 2 of 0 where
    there is no bound)."""
    if not isinstance(space, BoxAction):
        head = head_for(space)
        even = head.parameters(np.zeros((*shape, head.n_outputs), np.float32), None, mask)
        return head.for_env(head.sample(even, head.noise(rng, shape)))
    low, high = np.array(space.low), np.array(space.high)
    low = np.where(np.isfinite(low), low, np.minimum(high, 1.0) - 2.0)
    high = np.where(np.isfinite(high), high, low + 2.0)
    actions = rng.uniform(low, high, (*shape, space.size)).astype(np.float32)
    return actions.reshape(*shape, *space.shape)
