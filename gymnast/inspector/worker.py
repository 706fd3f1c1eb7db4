"""A worker process of the inspector: `python -m gymnast.inspector.worker FD IDLE_SECONDS WARM`.

It answers requests from the connection FD, one after the other, and keeps the last few episodes open. It
ends when its owner ends, however that happens, or after IDLE_SECONDS without a request, and takes its whole
process group with it.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import signal
import sys
import time
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import cast

from gymnast.errors import GymnastError, InternalError
from gymnast.film.headless import headless_rendering
from gymnast.import_object import import_frozen, import_object
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.open_episodes import OpenEpisodes
from gymnast.inspector.protocol import (
    IDLE_EXIT,
    STALE_EXIT,
    WARM,
    Answer,
    Request,
    receive_request,
    send,
)
from gymnast.inspector.table_bytes import take_table
from gymnast.inspector.user_modules import UserModules
from gymnast.processes.env_output import separate_env_output
from gymnast.processes.parent import call_when_closed
from gymnast.records import to_json
from gymnast.runs.run import Run

FUNCTIONS: dict[str, str] = {
    "inspect": "gymnast.inspector.inspection:inspect",
    "frames": "gymnast.inspector.frames:frames",
    "steps": "gymnast.inspector.steps:steps",
    "steps_csv": "gymnast.inspector.steps:steps_csv",
    "branch": "gymnast.inspector.branch:branch",
    "branch_frames": "gymnast.inspector.branch:branch_frames",
    "what_if": "gymnast.inspector.what_if:what_if",
    "attribution": "gymnast.inspector.attribution:attribution",
    "obs_images": "gymnast.inspector.obs_images:obs_images",
    "play_start": "gymnast.inspector.play:play_start",
    "play_step": "gymnast.inspector.play:play_step",
    "play_stop": "gymnast.inspector.play:play_stop",
}
"""Name -> import path of each function that may be called. Its first argument is the OpenEpisode or, for
functions about a run, the Run; the others have a JSON form. It returns a record, or a record and bytes."""
GRACE_SECONDS = 1.0
"""Time to close environments after the owner has ended."""


def main() -> None:
    """Answers requests until the owner closes the connection."""
    connection = Connection(int(sys.argv[1]))
    os.set_inheritable(connection.fileno(), False)
    # A descriptor of its own: processes that an environment starts do not inherit it.
    owner = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    faulthandler.enable()  # a crash of native code leaves its stack in the output
    call_when_closed(owner, _end_with_owner)
    with separate_env_output(), headless_rendering():
        if sys.argv[3] == WARM:
            import_frozen("gymnast.inspector.warm_up").warm_up()
        episodes = OpenEpisodes()
        try:
            has_owner = serve(connection, episodes, float(sys.argv[2]))
        finally:
            episodes.close()
    if not has_owner:  # nobody else ends what is left of the process group
        os.killpg(0, signal.SIGKILL)


def serve(connection: Connection, episodes: OpenEpisodes, idle_seconds: float) -> bool:
    """Answers requests until there was none for `idle_seconds`; returns False when the connection is
    closed."""
    modules = UserModules()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while connection.poll(idle_seconds):
            request = receive_request(connection)
            if modules.have_changed():
                # An imported module cannot be replaced safely. The owner starts a new process.
                episodes.close()
                os._exit(STALE_EXIT)
            answer, payload = run(request, episodes)
            modules.have_changed()  # notes what the request has imported
            send(connection, answer, payload)
        return True
    return False


def run(request: Request, episodes: OpenEpisodes) -> tuple[Answer, bytes]:
    """Calls the function of a request; returns the answer with its result or its error."""
    try:
        function = import_object(FUNCTIONS.get(request["function"], request["function"]))
        address = request["episode"]
        about: object = (
            Run(request["run"])
            if address is None
            else episodes.open(EpisodeAddress(**cast("dict[str, object]", address)))  # pyright: ignore[reportArgumentType]
        )
        result: object = function(about, **request["arguments"])
        if isinstance(result, tuple):
            result, payload = cast("tuple[object, bytes]", result)
        else:
            result, payload = take_table(result)
        return {"kind": "result", "value": to_json(result)}, payload
    except GymnastError as error:
        return {"kind": "failure", "value": to_json(error.to_failure())}, b""
    # Environments run foreign code, which may even call sys.exit.
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        last = traceback.extract_tb(error.__traceback__)[-1]
        internal = InternalError(what, at=f"{last.filename}:{last.lineno}")
        return {"kind": "failure", "value": to_json(internal.to_failure())}, b""


def _end_with_owner() -> None:
    """Ends this process and its group: at once if it waits for a request, else after GRACE_SECONDS."""
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    importlib.import_module("gymnast.inspector.worker").main()
    os._exit(IDLE_EXIT)  # skips the interpreter's own shutdown, which takes long with many modules
