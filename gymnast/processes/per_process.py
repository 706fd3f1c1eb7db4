"""Objects of which every process has one of its own."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """Calling it returns the object of this process, which is created on first use. A forked process gets a
    new one, since it has none of the threads and children of its parent. For module-level names only: it is
    never deleted."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def __call__(self) -> T:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    def _forget(self) -> None:
        self._made: list[T] = []
        self._lock = threading.Lock()
