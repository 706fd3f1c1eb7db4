"""Signals: the first asks training to stop at the next rollout boundary, the second ends it at once.

If no boundary comes within the grace period, the process leaves with the checkpoint it has.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

GRACE_SECONDS = 20.0
LEAVE_SECONDS = 3.0
"""How long leaving may take before the process ends all the same."""
_SIGNALS = ("SIGINT", "SIGTERM", "SIGUSR1", "SIGHUP")


class Interrupts:
    """While inside, `received` names the signal that asked training to stop."""

    def __init__(self, leave: Callable[[str], None]) -> None:
        """`leave(reason)` marks the run as stopped and restores the terminal, just before exit."""
        self.received: str | None = None
        self._leave = leave
        self._previous: dict[int, object] = {}
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for name in _SIGNALS:
                number = getattr(signal, name)
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def asked(self) -> bool:
        return self.received is not None

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        if self.received is not None:
            self._exit(f"second {name}: left at once")
        self.received = name
        reason = f"{name}: no rollout boundary within {GRACE_SECONDS:.0f} s"
        self._timer = threading.Timer(GRACE_SECONDS, self._exit, [reason])
        self._timer.daemon = True
        self._timer.start()

    def _exit(self, reason: str) -> None:
        # in a thread: whoever was interrupted may hold the very lock that leaving needs
        leaving = threading.Thread(target=self._leave, args=[reason], daemon=True)
        leaving.start()
        leaving.join(LEAVE_SECONDS)
        os._exit(130)
