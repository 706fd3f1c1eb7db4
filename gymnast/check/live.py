"""One live copy of an environment. Whatever its own code does wrong is caught and put into words."""

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
    """A call raised, or returned what cannot be read."""

    def __init__(self, what: str, cause: BaseException | None = None) -> None:
        self.what, self.traceback = what, "" if cause is None else own_traceback(cause)
        super().__init__(what)


@dataclass(frozen=True)
class Moment:
    """What an environment shows after a reset or a step."""

    episode: int
    seed: int
    step: int
    """Of its episode; 0 is the reset."""
    obs: Any
    info: Mapping[str, Any] = field(default_factory=dict[str, Any])
    action: Any = None
    """What was done; None for the reset."""
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False
    left_action: bool = True
    """The action it was given is still what it was."""

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    @property
    def where(self) -> str:
        """In words."""
        at = f"step {self.step}" if self.step else "the reset"
        return f"episode {self.episode} (seed {self.seed}), {at}"


class Copy:
    def __init__(self, make: Callable[[], Env]) -> None:
        self._make, self.env = make, make()
        self.steps = self.resets = self.episode = 0
        self.step_seconds = self.reset_seconds = 0.0
        self._seed = self._step = 0

    def reset(self, seed: int) -> Moment:
        self._seed, self._step, self.episode = seed, 0, self.resets
        began = time.perf_counter()
        with _guarded(f"reset(seed={seed})"):
            given: Any = self.env.reset(seed=seed)
        self.reset_seconds += time.perf_counter() - began
        self.resets += 1
        if not isinstance(given, tuple) or len(given) != 2:
            raise EnvBroken(f"reset() returned {_counted(given)}, not (observation, info)")
        obs, info = given
        return Moment(self.episode, seed, 0, obs, _info(info, "reset"))

    def step(self, action: Any) -> Moment:
        self._step += 1
        given_action = deepcopy(action)
        began = time.perf_counter()
        with _guarded(f"step({action})"):
            given: Any = self.env.step(given_action)
        self.step_seconds += time.perf_counter() - began
        self.steps += 1
        if not isinstance(given, tuple) or len(given) != 5:
            expected = "(observation, reward, terminated, truncated, info)"
            raise EnvBroken(f"step() returned {_counted(given)}, not {expected}")
        obs, reward, terminated, truncated, info = given
        for name, end in (("terminated", terminated), ("truncated", truncated)):
            if not isinstance(end, bool | np.bool_):
                raise EnvBroken(f"{name} is {end!r}, not True or False")
        if not _is_number(reward):
            raise EnvBroken(f"the reward is {reward!r}, not a number")
        return Moment(
            self.episode,
            self._seed,
            self._step,
            obs,
            _info(info, "step"),
            action,
            float(reward),
            bool(terminated),
            bool(truncated),
            left_action=np.array_equal(given_action, action),
        )

    @property
    def where(self) -> str:
        """Of the call that is under way."""
        return Moment(self.episode, self._seed, self._step, None).where

    def renew(self) -> None:
        """After something broke: nobody knows in what state it is."""
        self.close()
        self.env = self._make()

    def close(self) -> None:
        with suppress(Exception):  # it is being thrown away
            self.env.close()


def fingerprint(obs: Any) -> bytes:
    """Equal for equal observations, NaN included."""
    digest = blake2b(digest_size=16)

    def take(part: Any) -> None:
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

    take(obs)
    return digest.digest()


def own_traceback(cause: BaseException) -> str:
    """Without the frames of ours and of Gymnasium's through which it was called."""
    frames, own = cause.__traceback__, cause.__traceback__
    while own is not None and _is_plumbing(own):
        own = own.tb_next
    return "".join(traceback.format_exception(type(cause), cause, own or frames)).rstrip()


class _guarded:
    """What a call of the environment raises becomes Broken; SystemExit too."""

    def __init__(self, call: str) -> None:
        self.call = call

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, cause: BaseException | None, frames: Any) -> None:
        if isinstance(cause, Exception | SystemExit):
            what = f"{self.call} raised {type(cause).__name__}: {cause}"
            raise EnvBroken(what, cause) from None


def _is_plumbing(frame: TracebackType) -> bool:
    file = Path(frame.tb_frame.f_code.co_filename)
    return any(file.is_relative_to(place) for place in _PLUMBING)


_PLUMBING = (Path(__file__).parents[1], Path(str(gym.__file__)).parent)


def _info(info: Any, call: str) -> Mapping[str, Any]:
    if not isinstance(info, Mapping):
        raise EnvBroken(f"the info of {call}() is a {type(info).__name__}, not a dict")
    return info


def _is_number(reward: Any) -> bool:
    real = isinstance(reward, int | float | np.number | np.bool_) or (
        isinstance(reward, np.ndarray) and reward.shape == ()
    )
    return real and np.isrealobj(reward)


def _counted(given: Any) -> str:
    if isinstance(given, tuple):
        return f"{len(given)} values"
    return f"a {type(given).__name__}"
