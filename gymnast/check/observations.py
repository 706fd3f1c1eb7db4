"""Checks of observations: in their space, finite, within declared ranges, and not modified later."""

from __future__ import annotations

from collections.abc import Iterator

import gymnasium as gym
import numpy as np
from gymnasium import spaces as gym_spaces

from gymnast.check.checked_env import Timestep, fingerprint
from gymnast.check.finding import Finding
from gymnast.check.observer import FirstViolation
from gymnast.config.facts import Facts
from gymnast.envs.env_types import dict_obs
from gymnast.spaces.spaces import BoxObs, DiscreteObs, Observation, blank_obs

Array = np.ndarray
_ROUNDING = 1e-5
"""Tolerance beyond a bound, relative to max(1, |bound|), for rounding between float32 and float64."""


class ObsSpaceCheck:
    """Checks that observations are in their space, or within the declared facts if these are wider
    (training uses the facts)."""

    def __init__(self, space: gym.Space[object], kind: Observation, facts: Facts) -> None:
        self._space, self._kind, self._row = _widened_by(facts, space), kind, blank_obs(kind, 1)
        self._wrong = FirstViolation("observation")
        self._other_type = ""

    def observe(self, timestep: Timestep) -> None:
        """Checks shape, type and bounds of the observation."""
        # Shape and type first, by the code that training uses, then the bounds.
        problem = self._kind.put(self._row, 0, timestep.obs) or bounds_violation(
            self._space, timestep.obs
        )
        if problem is not None:
            self._wrong.record(timestep, problem)
        elif not self._other_type:
            self._other_type = _other_type(self._space, timestep.obs) or ""

    def findings(self) -> Iterator[Finding]:
        if self._other_type and not self._wrong:
            yield Finding("observation", "note", f"{self._other_type}; training casts it")
        else:
            yield self._wrong.finding_or_ok("inside its space, at every reset and step")


class FiniteCheck:
    """Checks that observations and rewards are finite."""

    def __init__(self, kind: Observation) -> None:
        self._kind, self._row, self._wrong = kind, blank_obs(kind, 1), FirstViolation("finite")

    def observe(self, timestep: Timestep) -> None:
        """Checks that the reward and the observation are finite. An observation of a wrong shape is left to
        ObsSpaceCheck."""
        if not np.isfinite(timestep.reward):
            self._wrong.record(timestep, f"the reward is {timestep.reward}")
        if self._kind.put(self._row, 0, timestep.obs) is None and (
            self._kind.not_finite(self._row) is not None
        ):
            where = self._kind.where_not_finite(self._row[0])
            self._wrong.record(timestep, f"the observation is not finite at {where}")

    def findings(self) -> Iterator[Finding]:
        yield self._wrong.finding_or_ok("no NaN and no infinity in observations and rewards")


class AliasingCheck:
    """Checks that an observation is not modified by the next reset or step."""

    def __init__(self) -> None:
        self._wrong = FirstViolation("aliasing")
        self._last: tuple[object, bytes] | None = None

    def observe(self, timestep: Timestep) -> None:
        """Checks that the previous observation is unchanged, and keeps this one."""
        # The last observation is kept itself, not as a copy, next to its hash at that time.
        if self._last is not None:
            obs, before = self._last
            if fingerprint(obs) != before:
                call = "step" if timestep.step else "reset"
                what = f"{call}() modified the observation that was returned before"
                self._wrong.record(timestep, f"{what} (return a copy)")
        self._last = timestep.obs, fingerprint(timestep.obs)

    def findings(self) -> Iterator[Finding]:
        yield self._wrong.finding_or_ok("observations are not modified after they were returned")


class DeclaredRangeCheck:
    """Checks that observation components are within their declared ranges, which may be narrower than the
    space."""

    def __init__(self, space: gym.Space[object], kind: Observation, facts: Facts) -> None:
        self._space, self._parts = _widened_by(facts, space), facts.observations
        self._size = (
            kind.size if isinstance(kind, BoxObs) else 1 if isinstance(kind, DiscreteObs) else None
        )
        self._fits = len(self._parts) == self._size
        self._wrong = FirstViolation("facts.observations")
        low, high = (
            np.array([getattr(part, end) for part in self._parts]) for end in ("low", "high")
        )
        self._low, self._high = _widened(low, high)

    def observe(self, timestep: Timestep) -> None:
        """Checks every component against its declared range. Observations that do not fit the declaration or
        their space are skipped, because other findings report them."""
        if not self._fits:
            return
        flat = np.asarray(timestep.obs, dtype=np.float64).ravel()
        if flat.shape != self._low.shape:
            return
        if bounds_violation(self._space, timestep.obs) is not None:
            return  # reported by ObsSpaceCheck
        beyond = (flat < self._low) | (flat > self._high)
        if beyond.any():
            i = int(np.flatnonzero(beyond)[0])
            part = self._parts[i]
            what = f"{part.name} is {flat[i]:.6g}, declared is [{part.low:g}, {part.high:g}]"
            self._wrong.record(timestep, what)

    def findings(self) -> Iterator[Finding]:
        """Yields whether the declared components fit the observations; nothing if none are declared, or if
        the observation is neither a vector nor Discrete."""
        if not self._parts or self._size is None:
            return
        if not self._fits:
            what = f"{len(self._parts)} components are declared, the observation has {self._size}"
            yield Finding("facts.observations", "wrong", what)
        else:
            yield self._wrong.finding_or_ok(
                f"{self._size} components, within their declared bounds"
            )


def bounds_violation(
    space: gym.Space[object], obs: object, name: str = "the observation"
) -> str | None:
    """Returns a message for the first number outside the bounds of the space, or None. NaN and infinity are
    ignored, because `FiniteCheck` reports them. `name`: what the message calls the observation."""
    if isinstance(space, gym_spaces.Dict | gym_spaces.Tuple):
        problems = (bounds_violation(s, o, f"entry {key}") for key, s, o in _entries(space, obs))
        return next((problem for problem in problems if problem is not None), None)
    if isinstance(space, gym_spaces.MultiBinary):
        low, high = np.zeros(space.shape), np.ones(space.shape)
    elif isinstance(space, gym_spaces.Box):
        low, high = space.low, space.high
    else:
        return None
    values = np.asarray(obs)
    lower, upper = _widened(low, high)
    beyond = ((values < lower) | (values > upper)) & np.isfinite(values)
    if not beyond.any():
        return None
    at = tuple(int(i) for i in np.argwhere(beyond)[0])
    bounds = f"[{low[at]:g}, {high[at]:g}]"
    return f"{name} is {values[at]:.6g} at index {list(at)}, its space says {bounds}"


def _entries(
    space: gym_spaces.Dict | gym_spaces.Tuple, obs: object
) -> Iterator[tuple[str, gym.Space[object], object]]:
    """Yields name, space and observation of each entry."""
    if isinstance(space, gym_spaces.Dict):
        given = dict_obs(obs)
        yield from ((name, entry, given[name]) for name, entry in space.spaces.items())
    else:
        assert isinstance(obs, tuple | list)
        yield from ((str(i), entry, obs[i]) for i, entry in enumerate(space.spaces))


def _widened_by(facts: Facts, space: gym.Space[object]) -> gym.Space[object]:
    """Returns a Box whose bounds include the declared ranges; other spaces are returned unchanged."""
    parts = facts.observations
    if not isinstance(space, gym_spaces.Box) or not np.issubdtype(space.dtype, np.floating):
        return space
    if len(parts) != int(np.prod(space.shape)):
        return space
    declared_low, declared_high = (
        np.array([getattr(part, end) for part in parts], space.dtype).reshape(space.shape)
        for end in ("low", "high")
    )
    low, high = np.minimum(declared_low, space.low), np.maximum(declared_high, space.high)
    return gym_spaces.Box(low, high, space.shape, low.dtype.type)


def _other_type(space: gym.Space[object], obs: object) -> str | None:
    """Returns a message if the dtype differs from that of the Box; None if not."""
    if isinstance(space, gym_spaces.Box) and np.asarray(obs).dtype != space.dtype:
        return f"its dtype is {np.asarray(obs).dtype}, its space says {space.dtype}"
    return None


def _widened(low: Array, high: Array) -> tuple[Array, Array]:
    """Returns the bounds, widened by the tolerance for rounding."""
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    with np.errstate(invalid="ignore"):  # infinite bounds stay infinite
        return (
            low - _ROUNDING * np.maximum(1.0, np.abs(low)),
            high + _ROUNDING * np.maximum(1.0, np.abs(high)),
        )
