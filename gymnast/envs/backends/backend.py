"""The interface of a vector of environment copies (`Backend`), the same for every place they run in.

What every backend guarantees to the collector:
- There is no autoreset: the caller resets each copy, and every episode has its own seed.
- `step` returns the true next observation of every copy, also on the last step of an episode, and keeps
  terminated and truncated separate.
- The policy never receives NaN, a wrong shape or an index outside the space. Such a step becomes a
  `Fault` that names the copy, the step and the cause; the other copies are unaffected.
- After a fault, a copy has a blank observation until its next reset, which creates it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, SupportsFloat, SupportsIndex

import numpy as np

from gymnast.envs.env_types import Info
from gymnast.errors import EnvError
from gymnast.spaces.spaces import Action, Observation

Array = np.ndarray

OTHER_BACKEND_FIX = "set env.backend to inprocess or process"
"""Fix that errors suggest where a vectorized implementation lacks a feature."""


@dataclass(frozen=True)
class Fault:
    """A failure of one copy: invalid output, an exception, or the loss of its process."""

    copy: int
    step: int
    """Step of the copy's episode; 0 is the reset."""
    message: str
    traceback: str = ""
    """Traceback of the environment's own code, if it raised."""
    caused_by: int | None = None
    """Copy that caused the failure, if this one was only lost together with it."""

    @property
    def is_bystander(self) -> bool:
        """True if another copy caused this fault."""
        return self.caused_by is not None


class Infos(Protocol):
    """The `info` of each copy."""

    def __len__(self) -> int: ...

    def __getitem__(self, copy: int, /) -> Info: ...


@dataclass(slots=True)
class Step:
    """One step of every copy. The arrays [N, ...] are the backend's own buffers: copy what you keep."""

    obs: Array
    """Next observation, before any reset."""
    reward: Array
    terminated: Array
    truncated: Array
    infos: Infos
    stepped: Array | None = None
    """False where a copy only started its next episode and ignored the action (Gymnasium's NEXT_STEP
    autoreset): that is no transition to learn from. None if all copies were stepped."""
    faults: tuple[Fault, ...] = ()
    """Failures in this step; the steps of these copies must be discarded."""
    info_values: Array | None = None
    """Values of `step_info_keys` in each copy's info, [N, keys]; NaN where an info lacks the key."""


class Backend(Protocol):
    """N copies of an environment that step together; see the guarantees above."""

    name: str
    """Name of the environment in messages."""
    n_envs: int
    obs_space: Observation
    action_space: Action
    space_texts: tuple[str, str]
    """Text of the observation space and of the action space, as Gymnasium prints them."""
    time_limit: int | None
    """Maximum number of steps per episode, if one is declared or applied."""
    has_default_limit: bool
    """True if the environment declares no limit, so that `time_limit` is gymnast's default."""
    restore_mode: Literal["replay", "together", "history", "none"]
    """How running episodes can be restored after a resume. `replay`: each copy on its own, from its seed
    and actions; `together`: the same, but all copies at once; `history`: by repeating every action
    since the copies were last seeded (`history.py`); `none`: not at all."""
    obs: Array
    """Current observation of each copy, [N, ...]; overwritten by reset and step."""

    @property
    def mask(self) -> Array | None:
        """Actions that each copy allows now, [N, k]; None until the environment has provided a mask."""
        ...

    def reset(self, copies: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts a new episode in each of these copies, with its seed, and returns the faults of these copies
        only."""
        ...

    def step(self, action: Array, copies: Sequence[int] | None = None) -> Step:
        """Steps all copies, or only the given ones; the others stay as they are. `action`: [N, ...], a row of
        `action_space` for every copy."""
        ...

    def close(self) -> None: ...


def any_true(flags: Array) -> bool:
    """Returns `flags.any()` for a small boolean array, in a tenth of the time."""
    # A NumPy bool is one byte, 0 or 1.
    return 1 in flags.tobytes()


def raise_fault(name: str, faults: Sequence[Fault], then: str = "") -> None:
    """Raises the first fault, if any, as an EnvError: for callers that cannot continue without the copy.
    `then`: what the user may do after fixing the environment."""
    if faults:
        fault = faults[0]
        fix = f"fix the environment; `gymnast check {name}` shows what is wrong{then}"
        what = f"{name}, copy {fault.copy}, step {fault.step} of its episode: {fault.message}"
        raise EnvError(what, fix=fix, traceback=fault.traceback)


def info_metrics(
    info: Mapping[str, object], metric_keys: Mapping[str, str], env: str
) -> dict[str, float]:
    """Returns metric -> value from the last info of an episode. `metric_keys`: metric -> key of info; keys
    that the info lacks are left out. `env`: name of the environment for messages. Raises EnvError for a value
    that is not a number."""
    metrics: dict[str, float] = {}
    for metric, key in metric_keys.items():
        if key in info:
            try:
                metrics[metric] = as_float(info[key])
            except (TypeError, ValueError):
                what = f"metrics.{metric}: info[{key!r}] is {info[key]!r}, not a number"
                raise EnvError(what, at=env) from None
    return metrics


def as_float(value: object) -> float:
    """Returns a value of `info` as a float. Raises TypeError or ValueError if it is not a number."""
    if not isinstance(value, SupportsFloat | SupportsIndex | str):
        raise TypeError(f"{value!r} is not a number")
    return float(value)
