"""Keys pressed in the terminal while training: commands like any other, sent to the run's inbox.

Meanwhile the terminal is in cbreak mode: keys arrive one by one and are not echoed. Its settings are
restored on every way out: the end, an error, a signal, Ctrl-Z. A run in the background does not touch
the terminal.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from gymnast.errors import GymnastError
from gymnast.metrics.recorder import Sink
from gymnast.runs import inbox
from gymnast.runs.inbox import CommandKind
from gymnast.runs.run import Run
from gymnast.training.live.commands import Commands

KEYS: dict[str, CommandKind] = {"c": "checkpoint", "e": "evaluate", "p": "pause", "s": "stop"}
HELP = "c checkpoint   e evaluate   p pause or continue   s stop   ? keys   Ctrl-C stop"
POLL_SECONDS = 0.2
"""Interval for noticing that the run is in the foreground again, after `fg`."""
_LOCAL_FLAGS = 3
"""Index of the local flags (c_lflag) in the list of termios.tcgetattr."""
_PASSED_ON = (signal.SIGTSTP, signal.SIGQUIT)
"""Signals that get their default action once the terminal is restored."""


class KeyListener:
    def __init__(self, run: Run, commands: Commands, console: Sink, *, enabled: bool) -> None:
        """Answers are shown on `console`. Without `enabled`, or if stdin is no terminal, no keys are
        read."""
        self.run, self.commands, self.console = run, commands, console
        self._enabled = enabled and sys.stdin is not None and sys.stdin.isatty()
        self._original: list[int | list[bytes | int]] | None = None
        """The terminal's attributes before training."""
        self._handlers: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}
        """Signal number -> the handler to restore."""
        self._hands_off = False
        """True while the terminal must not be touched: the process is being suspended, or is done."""
        # Reentrant: a signal handler runs in the main thread, which may hold the lock already.
        self._lock = threading.RLock()
        self._closed = threading.Event()

    def __enter__(self) -> KeyListener:
        """Starts the thread that reads keys, if enabled, and handles the signals on which the terminal must
        be restored."""
        if self._enabled:
            self._terminal = sys.stdin.fileno()
            self._original = termios.tcgetattr(self._terminal)
            atexit.register(self.close)
            if threading.current_thread() is threading.main_thread():
                for number in _PASSED_ON:
                    self._handlers[number] = signal.signal(number, self._pass_on)
            threading.Thread(target=self._listen, name="keys", daemon=True).start()
            self.console.event({"kind": "press ? for keys"})
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        atexit.unregister(self.close)

    def close(self) -> None:
        """Stops reading keys and restores the terminal. May be called from any thread, repeatedly."""
        self._closed.set()
        with self._lock:
            self._restore()
            self._hands_off = True

    def _listen(self) -> None:
        """Reads keys while this process is in the foreground, in a thread of its own. `select` with a
        timeout, since a blocking read would not notice that the run has ended."""
        while not self._closed.is_set():
            with suppress(termios.error, OSError, ValueError):  # the terminal went away
                if self._take_terminal():
                    ready, _, _ = select.select([self._terminal], [], [], POLL_SECONDS)
                    if ready and self._in_foreground() and not self._closed.is_set():
                        pressed = os.read(self._terminal, 64)
                        if not pressed:  # end of file: the terminal was closed
                            return
                        for key in pressed.decode(errors="ignore"):
                            self._press(key)
                    continue
            self._closed.wait(POLL_SECONDS)

    def _press(self, key: str) -> None:
        """Sends the command of a key. Other keys do nothing."""
        if key == "?":
            self.console.event({"kind": "keys", "text": HELP})
        elif key in KEYS:
            kind = "unpause" if key == "p" and self.commands.paused else KEYS[key]
            # The run is ending or the disk is full: the loop reports it.
            with suppress(GymnastError):
                inbox.send(self.run, kind, by="keyboard")
                self.console.event({"kind": f"{kind}: at the next rollout"})

    def _take_terminal(self) -> bool:
        """Puts the terminal into cbreak mode; False while this process is in the background."""
        with self._lock:
            if self._hands_off or not self._in_foreground():
                return False
            now = termios.tcgetattr(self._terminal)
            if now[_LOCAL_FLAGS] & (termios.ICANON | termios.ECHO):
                now[_LOCAL_FLAGS] &= ~(termios.ICANON | termios.ECHO)
                termios.tcsetattr(self._terminal, termios.TCSANOW, now)
            return True

    def _restore(self) -> None:
        """Restores the terminal's original attributes."""
        if self._original is None or self._hands_off:
            return
        with suppress(termios.error, OSError):
            if self._in_foreground():  # in the background the terminal belongs to the shell
                termios.tcsetattr(self._terminal, termios.TCSANOW, self._original)

    def _in_foreground(self) -> bool:
        # A background process that changes the terminal is stopped by SIGTTOU, one that reads by SIGTTIN.
        return os.tcgetpgrp(self._terminal) == os.getpgrp()

    def _pass_on(self, number: int, _frame: FrameType | None) -> None:
        """Restores the terminal for the shell, then lets the signal take its default action."""
        with self._lock:
            self._restore()
            self._hands_off = True
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)  # Ctrl-Z: returns when the process is continued
        signal.signal(number, self._pass_on)
        self._hands_off = self._closed.is_set()
