"""What a policy needs to know of an environment's spaces, chosen by type, as data that can be stored."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gymnast.errors import EnvError


@dataclass(frozen=True)
class Vector:
    """A Box (or MultiBinary) observation, read as one flat float vector."""

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    dtype = np.dtype(np.float32)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    def put(self, rows: np.ndarray, i: int, obs: Any) -> str | None:
        """Write what an environment gave into row i; or say what is wrong with it."""
        if not isinstance(obs, np.ndarray):
            return f"the observation is a {type(obs).__name__}, not an array"
        if obs.shape != self.shape:
            return f"the observation has shape {obs.shape}, its space says {self.shape}"
        try:
            rows[i] = obs
        except (TypeError, ValueError):
            return f"the observation is of {obs.dtype}, not numbers"
        return None

    def not_finite(self, rows: np.ndarray) -> np.ndarray | None:
        """Which rows [N] hold NaN or infinity; None if none does."""
        # a sum is finite unless a term is not (or it overflows, which the second look sorts out)
        if math.isfinite(rows.sum(dtype=np.float64)):
            return None
        bad = np.asarray(~np.isfinite(rows.reshape(len(rows), -1)).all(1))
        return bad if bad.any() else None


@dataclass(frozen=True)
class Category:
    """A Discrete observation: one of n, embedded by the network."""

    n: int
    first: int
    shape = ()
    dtype = np.dtype(np.int64)

    def put(self, rows: np.ndarray, i: int, obs: Any) -> str | None:
        if not (_is_index(obs) and self.first <= obs < self.first + self.n):
            return f"the observation is {obs!r}, not one of {self.n} categories"
        rows[i] = obs
        return None

    def not_finite(self, rows: np.ndarray) -> np.ndarray | None:
        return None


@dataclass(frozen=True)
class Choice:
    """A Discrete action: one of n."""

    n: int
    first: int


@dataclass(frozen=True)
class Amounts:
    """A Box action, one amount per element."""

    shape: tuple[int, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))


Observation = Vector | Category
Action = Choice | Amounts

_OBSERVATIONS = "Box (vectors), Discrete and MultiBinary"
_ACTIONS = "Discrete and Box"


def observation(space: Any) -> Observation:
    kind = type(space).__name__
    if kind == "Discrete":
        return Category(int(space.n), int(space.start))
    if kind == "MultiBinary":
        n = int(np.prod(space.shape))
        return Vector(tuple(space.shape), (0.0,) * n, (1.0,) * n)
    if kind == "Box" and not _is_image(space):
        return Vector(tuple(space.shape), *_limits(space))
    what = "image observations" if kind == "Box" else f"{kind} observations"
    raise EnvError(f"{what} ({space}) are not supported; supported are {_OBSERVATIONS}")


def action(space: Any) -> Action:
    kind = type(space).__name__
    if kind == "Discrete":
        return Choice(int(space.n), int(space.start))
    if kind == "Box" and np.issubdtype(space.dtype, np.floating):
        return Amounts(tuple(space.shape), *_limits(space))
    raise EnvError(f"{kind} actions ({space}) are not supported; supported are {_ACTIONS}")


def to_json(space: Observation | Action) -> dict[str, Any]:
    return {"kind": type(space).__name__, **asdict(space)}


def from_json(stored: dict[str, Any]) -> Any:
    kinds: dict[str, Any] = {k.__name__: k for k in (Vector, Category, Choice, Amounts)}
    fields: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in stored.items() if k != "kind"
    }
    return kinds[stored["kind"]](**fields)


def with_declared_ranges(obs: Observation, components: tuple[Any, ...]) -> Observation:
    """The space with unbounded components limited to what the environment's facts declare."""
    if not isinstance(obs, Vector) or len(components) != obs.size:
        return obs
    low = tuple(
        float(c.low) if c.low is not None else x for c, x in zip(components, obs.low, strict=True)
    )
    high = tuple(
        float(c.high) if c.high is not None else x
        for c, x in zip(components, obs.high, strict=True)
    )
    return replace(obs, low=low, high=high)


def blank(space: Observation, n: int) -> np.ndarray:
    """Rows for n observations, each a valid one."""
    nothing = space.first if isinstance(space, Category) else 0
    return np.full((n, *space.shape), nothing, space.dtype)


def n_options(space: Action) -> int:
    """Width of an action mask: how many options it rules on."""
    return space.n if isinstance(space, Choice) else 0


def put_mask(space: Action, rows: np.ndarray, i: int, given: Any) -> str | None:
    """Write which actions an environment allows into row i (all, if it does not say); or say what
    is wrong."""
    if given is None:
        rows[i] = True
        return None
    allowed = np.asarray(given)
    if not isinstance(space, Choice):
        return 'info["action_mask"] is only understood for Discrete actions'
    if allowed.shape != (space.n,):
        return f'info["action_mask"] has shape {allowed.shape}, not ({space.n},)'
    rows[i] = allowed
    return None if rows[i].any() else 'info["action_mask"] allows no action'


def _is_index(obs: Any) -> bool:
    return isinstance(obs, int) or (
        np.ndim(obs) == 0 and np.issubdtype(np.asarray(obs).dtype, np.integer)
    )


def _is_image(space: Any) -> bool:
    return len(space.shape) == 3 and space.dtype == np.uint8


def _limits(space: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    flat = (np.asarray(x, dtype=np.float64).ravel() for x in (space.low, space.high))
    low, high = (tuple(float(v) for v in x) for x in flat)
    return low, high
