"""Reports environment calls in the training process that take longer than `env.timeout`.

A call that hangs in the training thread cannot be ended. The watchdog reports which copy hangs, at which
step and in which line, and marks the run as stalled until the call returns.
"""

from __future__ import annotations

import faulthandler
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from gymnast.envs.backends import active_calls
from gymnast.envs.backends.active_calls import ActiveCall
from gymnast.metrics.recorder import Sink
from gymnast.metrics.sinks.log import LogFile
from gymnast.runs.run import Run

POLL_SECONDS = 5.0
"""Longest interval between two checks."""
ADVICE = "env.backend=process would kill and restart this copy; Ctrl-C twice exits at once"


class Watchdog:
    """A context manager with a thread that checks the active environment call periodically."""

    def __init__(self, timeout: float, report: StallReport) -> None:
        self.timeout, self._report = timeout, report
        self._every = min(timeout / 8, POLL_SECONDS)
        self._ended, self._has_failed = threading.Event(), False
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._watched = threading.get_ident()  # the training thread, whose stack is reported
        self._thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._has_failed = error is not None
        self._ended.set()
        self._thread.join(POLL_SECONDS)  # it may still have to report that a call returned
        faulthandler.cancel_dump_traceback_later()

    def _watch(self) -> None:
        """Compares the active call at every poll. A call that is the same for `timeout` seconds is a
        stall; it is reported once, and again when it returns."""
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
            if seconds >= self.timeout and not reported:
                reported = True
                stack = traceback.extract_stack(sys._current_frames().get(self._watched))
                self._report.report_stall(call, self.timeout, stack)
        # Training ended between the return of the call and the next poll.
        if call is not None and reported and not self._has_failed:
            self._report.report_recovery(call, seconds)

    def _arm(self) -> None:
        """Restarts faulthandler's timer. C code that holds the interpreter lock blocks this thread too;
        then faulthandler's own C thread writes the stacks to the log."""
        with suppress(OSError, ValueError, RuntimeError):  # the log is closed
            faulthandler.dump_traceback_later(self.timeout + self._every, file=self._report.log)


@dataclass
class StallReport:
    """Reports a stall to run.json, the events, the log and the console. Its methods are called in the
    watchdog's thread."""

    run: Run
    log: LogFile
    console: Sink
    counters: Callable[[], dict[str, float]]

    def report_stall(self, call: ActiveCall, timeout: float, stack: traceback.StackSummary) -> None:
        """Marks the run as stalled and reports the call, with the `stack` of the training thread. `timeout`:
        in seconds."""
        line = f"{stack[-1].filename}:{stack[-1].lineno}"
        what = f"{call.description} for more than {timeout:g} s, in {line}"
        self._mark("running", {"status": "stalled", "reason": what})
        message = f"{what} (log.txt has the stack); {ADVICE}"
        self._event("stalled", call, line=line, message=message, traceback="".join(stack.format()))

    def report_recovery(self, call: ActiveCall, seconds: float) -> None:
        """Marks the run as running again and reports that the call returned after `seconds`."""
        self._mark("stalled", {"status": "running", "reason": ""})
        message = (
            f"{call.description} for about {seconds:.2g} s and has returned; training continues"
        )
        self._event("stall ended", call, lasted=round(seconds, 1), message=message)

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
