"""Which copy of an environment this process is stepping right now, for a watchdog in another thread.

Backends that call environments in this process register here. Their hot path only stores which copy
it is about to call; whoever wants to know looks.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol
from weakref import WeakSet


class ActiveCall(NamedTuple):
    env: str
    copy: int | None
    """None: all copies at once, in a vector implementation of the environment's own."""
    step: int
    """Of the copy's episode; 0 is the reset."""
    call: int
    """Counts the calls of the backend: two equal values seen at different times are one long call."""

    @property
    def where(self) -> str:
        """`copy 3 has been in step() 17 of its episode`, to be followed by for how long."""
        if self.copy is None:
            return f"the vector of all copies has been in {'step' if self.step else 'reset'}()"
        call = f"step() {self.step} of its episode" if self.step else "reset()"
        return f"copy {self.copy} has been in {call}"


class CallsEnvironments(Protocol):
    def at_work(self) -> ActiveCall | None:
        """Called from other threads."""
        ...


_backends: WeakSet[CallsEnvironments] = WeakSet()


def register(backend: CallsEnvironments) -> None:
    _backends.add(backend)


def look() -> ActiveCall | None:
    """The environment call that is under way in this process, if any."""
    try:
        found = [backend.at_work() for backend in list(_backends)]
    except RuntimeError:  # a backend was registered meanwhile: the next look sees it
        return None
    return next((work for work in found if work is not None), None)
