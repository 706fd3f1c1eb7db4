"""The child process of a task: `python -m gymnast.tasks.worker FD`.

It reads a request from standard input, calls the function that the request names, and writes progress and
the result to the file descriptor FD. It ends when its owner ends, however that happens, and takes its whole
process group with it.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import threading
import time
import traceback
from typing import NoReturn

from gymnast.errors import Failure, GymnastError, InternalError, TaskCancelled
from gymnast.import_object import import_object
from gymnast.processes.env_output import separate_env_output
from gymnast.processes.parent import call_when_closed
from gymnast.records import JsonValue, to_json
from gymnast.tasks.messages import OutcomeMessage, ProgressMessage, Request

PROGRESS_SECONDS = 0.1
"""Minimum time between two progress messages with the same text."""


class Interrupted(BaseException):
    """SIGTERM arrived: the task was cancelled, or its owner has ended."""


def main() -> None:
    """Runs one task and ends the process."""
    # As in the command line: more threads take time to start, and the config key `threads` adds them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    messages = Messages(int(sys.argv[1]))
    owner = os.dup(
        0
    )  # a descriptor of its own: processes that an environment starts do not inherit it
    request = _read_request(owner)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    faulthandler.enable()  # a crash of native code leaves its stack in the log
    owner_ended = threading.Event()
    signal.signal(signal.SIGTERM, _interrupt)

    def end() -> None:
        owner_ended.set()
        os.killpg(0, signal.SIGTERM)
        time.sleep(request["grace"])
        os.killpg(0, signal.SIGKILL)

    call_when_closed(owner, end)
    try:
        messages.send(run(request, messages))
    except (Interrupted, BrokenPipeError):  # nobody is waiting for the outcome
        if owner_ended.is_set():  # nobody ends what is left of the process group either
            os.killpg(0, signal.SIGKILL)
        os._exit(128 + signal.SIGTERM)


def run(request: Request, messages: Messages) -> OutcomeMessage:
    """Calls the function of a request and returns the message with its result or its error."""
    try:
        with separate_env_output():
            function = import_object(request["function"])
            result = function(**request["arguments"], progress=messages.report)
        messages.flush_progress()
        return {"kind": "result", "value": to_json(result)}
    except GymnastError as error:
        return _failed(error.to_failure())
    except KeyboardInterrupt:
        return _failed(TaskCancelled("it was interrupted").to_failure())
    except (
        Exception,
        SystemExit,
    ) as error:  # environments run foreign code, which may even call sys.exit
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        return _failed(
            InternalError(what, fix="the log of the task has the traceback").to_failure()
        )


class Messages:
    """The pipe to the owner."""

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._descriptor, self._lock = descriptor, threading.Lock()
        self._latest: ProgressMessage = {"kind": "progress", "done": 0, "total": 0, "text": ""}
        self._sent: ProgressMessage | None = None
        self._sent_at = 0.0

    def report(self, done: int, total: int, text: str = "") -> None:
        """Reports progress; cheap enough for every step, since most calls send nothing."""
        done = max(int(done), self._latest["done"])  # a film that is made again starts from 0
        latest: ProgressMessage = {
            "kind": "progress",
            "done": done,
            "total": int(total),
            "text": text,
        }
        new_text = text != self._latest["text"]
        self._latest = latest
        if new_text or time.monotonic() - self._sent_at >= PROGRESS_SECONDS:
            self.flush_progress()

    def flush_progress(self) -> None:
        """Sends the latest progress, unless it has been sent."""
        if self._latest is not self._sent:
            self._sent, self._sent_at = self._latest, time.monotonic()
            self.send(self._latest)

    def send(self, message: ProgressMessage | OutcomeMessage) -> None:
        line = json.dumps(message, allow_nan=False).encode() + b"\n"
        with self._lock:
            while line:
                line = line[os.write(self._descriptor, line) :]


def _read_request(descriptor: int) -> Request:
    """Reads the request; ends the process if the owner ended before it had sent one."""
    line = b""
    while not line.endswith(b"\n"):
        if not (part := os.read(descriptor, 65536)):
            os._exit(1)
        line += part
    return json.loads(line)


def _failed(failure: Failure) -> OutcomeMessage:
    value: JsonValue = to_json(failure)
    return {"kind": "failure", "value": value}


def _interrupt(*_: object) -> NoReturn:
    raise Interrupted


if __name__ == "__main__":
    main()
