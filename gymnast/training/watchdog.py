"""Reports an environment call of this process that takes longer than `env.timeout`.

Nobody can end a call that hangs in the thread that trains. What can be done: say which copy hangs, at
which step and in which line, mark the run as stalled until it moves again, and say what helps.
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
from typing import Any

from gymnast.envs import at_work
from gymnast.envs.at_work import AtWork
from gymnast.metrics.recorder import Sink
from gymnast.metrics.sinks.log import LogFile
from gymnast.runs.run import Run

LOOK_SECONDS = 5.0
"""At most this long from one look to the next."""
ADVICE = "env.backend=process would kill and restart this copy; Ctrl-C twice leaves at once"


class Watchdog:
    """A thread that looks now and then, while inside."""

    def __init__(self, timeout: float, report: StallReport) -> None:
        self.timeout, self._report = timeout, report
        self._every = min(timeout / 8, LOOK_SECONDS)
        self._ended = threading.Event()

    def __enter__(self) -> Watchdog:
        self._watched = threading.get_ident()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        faulthandler.cancel_dump_traceback_later()

    def _watch(self) -> None:
        call: AtWork | None = None
        seconds, reported, before = 0.0, False, time.monotonic()
        while not self._ended.wait(self._every):
            self._arm()
            now = time.monotonic()
            passed, before = min(now - before, 2 * self._every), now  # not while suspended
            found = at_work.look()
            if call is None or found != call:
                if call is not None and reported:
                    self._report.moves_again(call, seconds)
                call, seconds, reported = found, 0.0, False
                continue
            seconds += passed
            if seconds >= self.timeout and not reported:
                reported = True
                stack = traceback.extract_stack(sys._current_frames().get(self._watched))
                self._report.stalled(call, self.timeout, stack)

    def _arm(self) -> None:
        """C code that keeps the interpreter's lock keeps this thread from looking too. Then a thread of
        C writes the stacks to the log, unless it is set back first."""
        with suppress(OSError, ValueError, RuntimeError):  # the log is closed
            faulthandler.dump_traceback_later(self.timeout + self._every, file=self._report.log)


@dataclass
class StallReport:
    """Where a stall is told: run.json, events, the log and the console. Called by the watchdog's
    thread."""

    run: Run
    log: LogFile
    shown: Sink
    counters: Callable[[], dict[str, float]]

    def stalled(self, call: AtWork, timeout: float, stack: traceback.StackSummary) -> None:
        line = f"{stack[-1].filename}:{stack[-1].lineno}"
        what = f"{call.where} for more than {timeout:g} s, in {line}"
        self._mark("running", {"status": "stalled", "reason": what})
        message = f"{what} (log.txt has the stack); {ADVICE}"
        self._event("stalled", call, line=line, message=message, traceback="".join(stack.format()))

    def moves_again(self, call: AtWork, seconds: float) -> None:
        self._mark("stalled", {"status": "running", "reason": ""})
        message = f"{call.where} for about {seconds:.2g} s and has returned; training continues"
        self._event("stall ended", call, lasted=round(seconds, 1), message=message)

    def _mark(self, expected: str, fields: dict[str, Any]) -> None:
        """Unless the run stands otherwise by now: it may just have ended."""
        with suppress(Exception):  # a full disk is reported by the loop
            self.run.change(lambda info: fields if info["status"] == expected else {})

    def _event(self, kind: str, call: AtWork, **detail: Any) -> None:
        counters = self.counters()
        about = {"env": call.env, "copy": call.copy, "step": call.step, **detail}
        with suppress(Exception):
            self.run.event(kind, counters, **about)
        for sink in (self.shown, self.log):
            with suppress(Exception):
                sink.event({"kind": kind, **counters, **about})
