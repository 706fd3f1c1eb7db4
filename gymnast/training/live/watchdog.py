"""Ends environment calls in the training process that take longer than `env.timeout`.

1. A signal raises `CallTimedOut` in the call, wherever it runs Python code or waits in a system call. It
   becomes a fault: the episode is dropped and the copy restarted.
2. A call that has not ended GRACE_SECONDS later hangs in C code, which cannot be interrupted. The process
   ends, and the run resumes from its newest checkpoint.
3. If the C code holds the interpreter lock, no thread of Python runs, this one included. Then the guardian
   kills the process, and faulthandler's C thread has written the stacks to the log.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import FrameType
from typing import Protocol, TextIO

from gymnast.envs.backends import active_calls
from gymnast.envs.backends.active_calls import (
    CONSTRUCTOR,
    START_SECONDS,
    ActiveCall,
    CallTimedOut,
)
from gymnast.metrics.recorder import Sink
from gymnast.metrics.sinks.log import LogFile
from gymnast.processes import guard
from gymnast.runs.run import Run

POLL_SECONDS = 5.0
"""Longest interval between two checks."""
GRACE_SECONDS = 5.0
"""Seconds that an interrupted call may take to end."""
SILENCE_SECONDS = 10.0
"""Further seconds in which no thread of Python ran, after which the guardian kills the process."""
LONGEST = 1e8
"""Longest limit in seconds, three years: timers of the system know no much larger number."""
SIGNAL = signal.SIGUSR2
"""Interrupts the training thread, even in a system call."""


class Watchdog:
    """A context manager with a thread that checks the active environment call periodically."""

    def __init__(self, timeout: float, report: Report, *, starts: bool = False) -> None:
        """`timeout`: seconds that a call of `reset` or `step` may take; `starts`: environments are created,
        which may take longer and hold the interpreter lock."""
        self.timeout, self._report, self._starts = min(timeout, LONGEST), report, starts
        self._every = min(self.timeout / 8, POLL_SECONDS)
        self._ended, self._has_failed = threading.Event(), False
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._can_interrupt = False
        self._overdue: tuple[ActiveCall, str] | None = None
        """The call to interrupt, and the message of the exception."""

    def __enter__(self) -> Watchdog:
        self._watched = threading.get_ident()  # the training thread, whose stack is reported
        # Python runs signal handlers in the main thread only.
        self._can_interrupt = threading.current_thread() is threading.main_thread()
        if self._can_interrupt:
            self._previous = signal.signal(SIGNAL, self._raise_in_call)
        self._arm()
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._has_failed = error is not None
        self._ended.set()
        self._thread.join(POLL_SECONDS)  # it may still have to report that a call returned
        faulthandler.cancel_dump_traceback_later()
        guard.expect_life(0)
        if self._can_interrupt:
            signal.signal(SIGNAL, self._previous)

    def _watch(self) -> None:
        """Compares the active call at every poll. A call that is the same for `timeout` seconds is reported
        and interrupted; it is reported again when it ends."""
        call: ActiveCall | None = None
        seconds, reported, before = 0.0, False, time.monotonic()
        while not self._ended.wait(self._every):
            self._arm()
            now = time.monotonic()
            # capped: time in which the process was suspended (Ctrl-Z) does not count
            elapsed, before = min(now - before, 2 * self._every), now
            now_active = active_calls.current_call()
            if call is None or now_active != call:
                if call is not None and reported:
                    self._report.report_recovery(call, seconds)
                call, seconds, reported = now_active, 0.0, False
                continue
            seconds += elapsed
            limit = self._limit(call)
            if seconds >= limit and not reported:
                reported = True
                stack = traceback.extract_stack(sys._current_frames().get(self._watched))
                self._report.report_stall(call, limit, stack)
                self._interrupt(call, stack)
            elif seconds >= limit + GRACE_SECONDS:
                self._report.end_process(call, seconds)
        # Training ended between the return of the call and the next poll.
        if call is not None and reported and not self._has_failed:
            self._report.report_recovery(call, seconds)

    def _limit(self, call: ActiveCall) -> float:
        """Returns the seconds that a call may take. Constructors may load files or start programs."""
        return max(self.timeout, START_SECONDS) if call.step == CONSTRUCTOR else self.timeout

    def _interrupt(self, call: ActiveCall, stack: traceback.StackSummary) -> None:
        """Interrupts the training thread, so that it raises `CallTimedOut` if it still is in this call."""
        if self._can_interrupt:
            where = f"{stack[-1].filename}:{stack[-1].lineno}"
            limit = "the limit for starting" if call.step == CONSTRUCTOR else "env.timeout"
            self._overdue = call, f"took longer than {limit} ({self._limit(call):g} s), in {where}"
            signal.pthread_kill(self._watched, SIGNAL)

    def _raise_in_call(self, _number: int, _frame: FrameType | None) -> None:
        # Runs in the training thread, so the call cannot return between this check and the exception.
        overdue, self._overdue = self._overdue, None
        if overdue is not None and active_calls.current_call() == overdue[0]:
            raise CallTimedOut(overdue[1])

    def _arm(self) -> None:
        """Restarts the timers that need no thread of Python: that of faulthandler, which writes the stacks to
        the log, and that of the guardian, which kills this process later."""
        seconds = self._every + (max(self.timeout, START_SECONDS) if self._starts else self.timeout)
        with suppress(OSError, ValueError, RuntimeError):  # the log is closed
            faulthandler.dump_traceback_later(seconds, file=self._report.log or sys.stderr)
        if active_calls.is_tracking():
            guard.expect_life(seconds + SILENCE_SECONDS)


class Report(Protocol):
    """Reports stalls. The methods are called in the watchdog's thread."""

    @property
    def log(self) -> LogFile | TextIO | None:
        """The file to which stacks are written if no thread of Python runs; None if there is none."""
        ...

    def report_stall(self, call: ActiveCall, timeout: float, stack: traceback.StackSummary) -> None:
        """Reports a call that takes longer than `timeout` seconds, with the `stack` of its thread."""

    def report_recovery(self, call: ActiveCall, seconds: float) -> None:
        """Reports that the call ended after `seconds`."""

    def end_process(self, call: ActiveCall, seconds: float) -> None:
        """Ends the process because the call cannot be interrupted."""


class PreparationReport:
    """Reports a stall before there is a run, on standard error."""

    @property
    def log(self) -> TextIO | None:
        return sys.__stderr__

    def report_stall(self, call: ActiveCall, timeout: float, stack: traceback.StackSummary) -> None:
        text = stall_text(call, timeout, stack)
        print(f"{call.env}: {text}; it is interrupted", file=sys.stderr, flush=True)

    def report_recovery(self, call: ActiveCall, seconds: float) -> None:
        pass

    def end_process(self, call: ActiveCall, seconds: float) -> None:
        text = f"{call.description} for {seconds:.0f} s and cannot be interrupted"
        print(f"error: {call.env}: {text}\n  fix: fix the environment", file=sys.stderr, flush=True)
        os._exit(1)


@dataclass
class StallReport:
    """Reports a stall to run.json, the events, the log and the console."""

    run: Run
    log: LogFile
    console: Sink
    counters: Callable[[], dict[str, float]]
    fail: Callable[[str], None]
    """Marks the run as failed, for the given reason, and ends the process."""

    def report_stall(self, call: ActiveCall, timeout: float, stack: traceback.StackSummary) -> None:
        """Marks the run as stalled, too."""
        line = f"{stack[-1].filename}:{stack[-1].lineno}"
        what = stall_text(call, timeout, stack)
        self._mark("running", {"status": "stalled", "reason": what})
        message = f"{what} (log.txt has the stack); it is interrupted"
        self._event("stalled", call, line=line, message=message, traceback="".join(stack.format()))

    def report_recovery(self, call: ActiveCall, seconds: float) -> None:
        """Marks the run as running again, too."""
        self._mark("stalled", {"status": "running", "reason": ""})
        message = f"{call.description} for about {seconds:.2g} s and has ended; training continues"
        self._event("stall ended", call, lasted=round(seconds, 1), message=message)

    def end_process(self, call: ActiveCall, seconds: float) -> None:
        self.fail(f"{call.description} for {seconds:.0f} s and cannot be interrupted")

    def _mark(self, expected: str, fields: dict[str, object]) -> None:
        """Updates run.json if its status is still the expected one: the run may just have ended."""
        with suppress(Exception):  # a full disk is reported by the loop
            self.run.update_with(lambda info: fields if info["status"] == expected else {})

    def _event(self, kind: str, call: ActiveCall, **detail: object) -> None:
        """Writes an event about this call to events.jsonl, the console and the log. A failure of one of them
        is ignored."""
        counters = self.counters()
        # Every output on its own: one that fails (a full disk, a closed terminal) must not end this thread.
        about = {"env": call.env, "copy": call.copy, "step": call.step, **detail}
        with suppress(Exception):
            self.run.record_event(kind, counters, **about)
        for sink in (self.console, self.log):
            with suppress(Exception):
                sink.event({"kind": kind, **counters, **about})


def stall_text(call: ActiveCall, timeout: float, stack: traceback.StackSummary) -> str:
    """Returns which call takes longer than `timeout` seconds, and the line in which it is."""
    where = f"{stack[-1].filename}:{stack[-1].lineno}"
    return f"{call.description} for more than {timeout:g} s, in {where}"
