"""Tracks which environment copy this process is calling right now, for a watchdog in another thread.

Backends that call environments in this process register here. To keep `step` cheap they only store
the index of the copy that they are about to call; the watchdog reads it when it wants to know.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol
from weakref import WeakSet


class ActiveCall(NamedTuple):
    """A call of `reset` or `step` that has not returned yet."""

    env: str
    copy: int | None
    """None if all copies are called at once, by a vectorized implementation of the environment."""
    step: int
    """Step of the copy's episode; 0 is the reset."""
    call: int
    """Number of the backend's call: the same number read at two times means one long call."""

    @property
    def description(self) -> str:
        """Text such as `copy 3 has been in step() 17 of its episode`, to which a caller adds a duration."""
        if self.copy is None:
            return f"the vector of all copies has been in {'step' if self.step else 'reset'}()"
        call = f"step() {self.step} of its episode" if self.step else "reset()"
        return f"copy {self.copy} has been in {call}"


class CallTracker(Protocol):
    """A backend that knows which environment it is calling."""

    def active_call(self) -> ActiveCall | None:
        """Returns the call in progress, if any. Must be safe to call from other threads."""
        ...


# Weak references: a backend that was dropped without `close` must not look busy forever.
_backends: WeakSet[CallTracker] = WeakSet()


def register(backend: CallTracker) -> None:
    """Adds a backend whose calls the watchdog can see, for as long as the backend exists."""
    _backends.add(backend)


def current_call() -> ActiveCall | None:
    """Returns the environment call that is in progress in this process, if any."""
    try:
        calls = [backend.active_call() for backend in list(_backends)]
    except RuntimeError:  # a backend was registered during the iteration: the next call includes it
        return None
    return next((call for call in calls if call is not None), None)
