"""One live copy of an environment. Exceptions and invalid results of its code become readable messages."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any

import gymnasium as gym
import numpy as np

Env = gym.Env[Any, Any]


class EnvBroken(Exception):
    """Raised when a call of the environment raised or returned something invalid."""

    def __init__(self, message: str, cause: BaseException | None = None) -> None:
        self.message, self.traceback = message, "" if cause is None else env_traceback(cause)
        super().__init__(message)


@dataclass(frozen=True)
class Timestep:
    """The result of one reset or step."""

    episode: int
    seed: int
    step: int
    """Step within the episode; 0 is the reset."""
    obs: Any
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    action: Any = None
    """The action of the step; None for the reset."""
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    action_unchanged: bool = True
    """True if step() did not modify the action array."""

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    @property
    def location(self) -> str:
        """Episode, seed and step as text."""
        at = f"step {self.step}" if self.step else "the reset"
        return f"episode {self.episode} (seed {self.seed}), {at}"


class CheckedEnv:
    """A copy of an environment that validates and times every reset and step."""

    def __init__(self, make: Callable[[], Env]) -> None:
        self._make, self.env = make, make()
        self.steps = self.resets = self.episode = 0
        self.step_seconds = self.reset_seconds = 0.0
        self._seed = self._step = 0

    def reset(self, seed: int) -> Timestep:
        """Resets the environment and returns the result. Raises EnvBroken if reset() raises or does not
        return (observation, info)."""
        self._seed, self._step, self.episode = seed, 0, self.resets
        started = time.perf_counter()
        with _guarded(f"reset(seed={seed})"):
            result: Any = self.env.reset(seed=seed)
        self.reset_seconds += time.perf_counter() - started
        self.resets += 1
        if not isinstance(result, tuple) or len(result) != 2:
            raise EnvBroken(f"reset() returned {_counted(result)}, not (observation, info)")
        obs, info = result
        return Timestep(self.episode, seed, 0, obs, _info(info, "reset"))

    def step(self, action: Any) -> Timestep:
        """Steps the environment with a copy of the action and returns the result. Raises EnvBroken if step()
        raises or returns something invalid."""
        self._step += 1
        passed_action = deepcopy(action)  # to notice if step() modifies it
        started = time.perf_counter()
        with _guarded(f"step({action})"):
            result: Any = self.env.step(passed_action)
        self.step_seconds += time.perf_counter() - started
        self.steps += 1
        if not isinstance(result, tuple) or len(result) != 5:
            expected = "(observation, reward, terminated, truncated, info)"
            raise EnvBroken(f"step() returned {_counted(result)}, not {expected}")
        obs, reward, terminated, truncated, info = result
        # Not only truthy: an array or None here is usually a mistake in the order of the five values.
        for name, end in (("terminated", terminated), ("truncated", truncated)):
            if not isinstance(end, bool | np.bool_):
                raise EnvBroken(f"{name} is {end!r}, not True or False")
        if not _is_number(reward):
            raise EnvBroken(f"the reward is {reward!r}, not a number")
        return Timestep(
            self.episode,
            self._seed,
            self._step,
            obs,
            _info(info, "step"),
            action,
            float(reward),
            bool(terminated),
            bool(truncated),
            action_unchanged=fingerprint(passed_action) == fingerprint(action),
        )

    @property
    def location(self) -> str:
        """Episode, seed and step of the current call, as text."""
        return Timestep(self.episode, self._seed, self._step, None).location

    def recreate(self) -> None:
        """Replaces the environment by a new one, because its state is unknown after a failure."""
        self.close()
        self.env = self._make()

    def close(self) -> None:
        with suppress(Exception):  # it is discarded anyway
            self.env.close()


def fingerprint(value: Any) -> bytes:
    """Returns a hash that is equal for equal observations or actions; NaN equals NaN."""
    digest = blake2b(digest_size=16)

    def take(part: Any) -> None:
        """Adds a part of the value to the hash."""
        # Names, lengths, dtypes and shapes are hashed too: the bytes alone are ambiguous.
        if isinstance(part, Mapping):
            for key in sorted(part, key=str):
                digest.update(str(key).encode())
                take(part[key])
        elif isinstance(part, tuple | list):
            digest.update(b"%d" % len(part))
            for entry in part:
                take(entry)
        else:
            array = np.asarray(part)
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(repr(part).encode() if array.dtype == object else array.tobytes())

    take(value)
    return digest.digest()


def env_traceback(cause: BaseException) -> str:
    """Returns the traceback of an exception without the frames of gymnast and Gymnasium at its start."""
    frames, own = cause.__traceback__, cause.__traceback__
    while own is not None and _is_framework_code(own):
        own = own.tb_next
    # Everything is shown if the exception was raised by a framework itself.
    return "".join(traceback.format_exception(type(cause), cause, own or frames)).rstrip()


class _guarded:
    """Context manager that turns exceptions of an environment call, SystemExit included, into EnvBroken."""

    def __init__(self, call: str) -> None:
        self.call = call

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, cause: BaseException | None, frames: Any) -> None:
        if isinstance(cause, Exception | SystemExit):
            what = f"{self.call} raised {type(cause).__name__}: {cause}"
            raise EnvBroken(what, cause) from None


def _is_framework_code(frame: TracebackType) -> bool:
    file = Path(frame.tb_frame.f_code.co_filename)
    return any(file.is_relative_to(place) for place in _FRAMEWORK)


_FRAMEWORK = (Path(__file__).parents[1], Path(str(gym.__file__)).parent)


def _info(info: Any, call: str) -> Mapping[str, Any]:
    """Returns the info. Raises EnvBroken if it is not a dict. `call`: reset or step, for the message."""
    if not isinstance(info, Mapping):
        raise EnvBroken(f"the info of {call}() is a {type(info).__name__}, not a dict")
    return info


def _is_number(reward: Any) -> bool:
    """True for one real number, also as an array without dimensions."""
    real = isinstance(reward, int | float | np.number | np.bool_) or (
        isinstance(reward, np.ndarray) and reward.shape == ()
    )
    return real and np.isrealobj(reward)


def _counted(result: Any) -> str:
    """Describes a result that is not the expected tuple."""
    if isinstance(result, tuple):
        return f"{len(result)} values"
    return f"a {type(result).__name__}"
