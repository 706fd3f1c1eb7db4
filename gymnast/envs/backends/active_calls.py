"""Tracks which environment copy this process is calling right now, for a watchdog in another thread.

Backends that call environments in this process register here. To keep `step` cheap they only store
the index of the copy that they are about to call; the watchdog reads it when it wants to know. Constructors
are calls too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn, Protocol
from weakref import WeakSet

from gymnast.errors import EnvError

CONSTRUCTOR = -1
"""`step` of a call of a constructor."""
START_SECONDS = 120.0
"""Seconds after which the constructor of an environment counts as hung, if `env.timeout` is not longer."""


class ActiveCall(NamedTuple):
    """A call of `reset`, `step` or the constructor that has not returned yet."""

    env: str
    copy: int | None
    """None if all copies are called at once, by a vectorized implementation of the environment."""
    step: int
    """Step of the copy's episode; 0 is the reset, CONSTRUCTOR the constructor."""
    call: int
    """Number of the backend's call: the same number read at two times means one long call."""

    @property
    def description(self) -> str:
        """Text such as `copy 3 has been in step() 17 of its episode`, to which a caller adds a duration."""
        if self.step == CONSTRUCTOR:
            return f"{self.env} has been in its constructor"
        if self.copy is None:
            return f"the vector of all copies has been in {'step' if self.step else 'reset'}()"
        call = f"step() {self.step} of its episode" if self.step else "reset()"
        return f"copy {self.copy} has been in {call}"


class CallTimedOut(SystemExit):
    """Raised inside an environment call that takes longer than `env.timeout`. Every backend turns it into a
    fault, like `sys.exit` in an environment; `except Exception` in the environment does not catch it."""


class CallTracker(Protocol):
    """A backend that knows which environment it is calling."""

    in_fork: bool
    """True in a process that the environment forked in a call. If that call returns, the process must end
    (`end_fork`): it would train as a second writer of the run."""

    def active_call(self) -> ActiveCall | None:
        """Returns the call in progress, if any. Must be safe to call from other threads."""
        ...


# Weak references: a backend that was dropped without `close` must not look busy forever.
_backends: WeakSet[CallTracker] = WeakSet()


def register(backend: CallTracker) -> None:
    """Adds a backend whose calls the watchdog can see, for as long as the backend exists."""
    _backends.add(backend)


def end_fork(env: str) -> NoReturn:
    """Ends a process that an environment has forked and that did not end on its own."""
    print(f"{env}: a process that the environment forked did not end: ended", file=sys.stderr)
    sys.stderr.flush()
    os._exit(1)


def _mark_fork() -> None:
    """Runs in a forked process: marks the backends whose environment may have forked it."""
    for backend in list(_backends):
        backend.in_fork = backend.in_fork or backend.active_call() is not None


os.register_at_fork(after_in_child=_mark_fork)


class _Constructors:
    """Tracks the constructor that is running; environments may create others."""

    in_fork = False

    def __init__(self) -> None:
        self._envs: list[str] = []
        self._calls = 0

    @contextmanager
    def call(self, env: str) -> Iterator[None]:
        self._calls += 1
        self._envs.append(env)
        try:
            yield
        except CallTimedOut as late:
            raise EnvError(f"its constructor {late}", at=env, fix="fix the environment") from late
        finally:
            self._envs.pop()
            if self.in_fork:
                end_fork(env)

    def active_call(self) -> ActiveCall | None:
        return ActiveCall(self._envs[-1], None, CONSTRUCTOR, self._calls) if self._envs else None


constructors = _Constructors()
register(constructors)


def is_tracking() -> bool:
    """Returns whether environments are called in this process."""
    return len(_backends) > 1  # the constructors are always registered


def current_call() -> ActiveCall | None:
    """Returns the environment call that is in progress in this process, if any."""
    try:
        calls = [backend.active_call() for backend in list(_backends)]
    except RuntimeError:  # a backend was registered during the iteration: the next call includes it
        return None
    return next((call for call in calls if call is not None), None)
