"""Commands to a run while it trains: one small JSON file per command in its inbox/.

The sender (command line, keyboard) only writes files; the training process reads them in order at
rollout boundaries. A file is deleted after an event with its id was recorded, so that no command is
applied twice, whichever process crashes at whatever moment.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from gymnast.errors import RunError
from gymnast.runs import document, durable, files, layout
from gymnast.runs.info import EventInfo
from gymnast.runs.run import ACTIVE, Run

VERSION = layout.INBOX.version
CommandKind = Literal["set", "pause", "unpause", "checkpoint", "evaluate", "stop"]
KINDS: tuple[CommandKind, ...] = get_args(CommandKind)
MAX_BYTES = 65_536
"""Maximum size of a command file in bytes."""
REJECTED = "refused"
"""Folder within the inbox for files that are not valid commands."""
_POLL_SECONDS = 0.05
PROGRAM = "Python"
"""The sender of a command, unless another one is named."""


@dataclass(frozen=True)
class Command:
    id: str
    """Ids sort by the time of sending."""
    kind: CommandKind
    by: str
    """The sender: "command line", "keyboard", "studio", "Python"."""
    assignments: Mapping[str, object] = field(default_factory=dict[str, object])
    """Values for `set`: dotted key -> value, as in `--set`."""


@dataclass(frozen=True)
class InvalidCommand:
    """A file in the inbox that is not a valid command."""

    file: Path
    reason: str


def send(
    run: Run,
    kind: CommandKind,
    *,
    by: str = PROGRAM,
    assignments: Mapping[str, object] | None = None,
) -> Command:
    """Puts a command into the inbox of a run and returns it; raises RunError if no process is training the
    run. `kind`: one of KINDS; `by`: the sender; `assignments`: dotted key -> value, for `set`."""
    if (status := run.status) not in ACTIVE:
        reason = f" ({run.info['reason']})" if run.info["reason"] else ""
        fix = "" if kind == "stop" else f"continue it with `gymnast resume {run.id}`"
        raise RunError(f"{run.id} is {status}{reason}: no process is training it", fix=fix)
    return write_command(run.inbox, kind, by=by, assignments=assignments)


def write_command(
    inbox: Path,
    kind: CommandKind,
    *,
    by: str = PROGRAM,
    assignments: Mapping[str, object] | None = None,
) -> Command:
    """Writes a command into the folder `inbox` and returns it. `kind`: one of KINDS, else ValueError; `by`:
    the sender; `assignments`: dotted key -> value, for `set`."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not one of {', '.join(KINDS)}")
    command = Command(
        f"{time.time_ns():020d}-{secrets.token_hex(3)}", kind, by, dict(assignments or {})
    )
    content = {"version": VERSION, **vars(command)}
    inbox.mkdir(exist_ok=True)
    durable.replace(_file(inbox, command.id), json.dumps(content, allow_nan=False).encode())
    return command


def read_commands(inbox: Path) -> list[Command | InvalidCommand]:
    """Returns all commands in the order of sending, with an InvalidCommand for each file that is none. The
    files stay until `delete_command` or `reject_file`."""
    try:
        names = [entry.name for entry in os.scandir(inbox) if entry.name.endswith(".json")]
    except FileNotFoundError:
        return []
    return [_read(inbox / name) for name in sorted(names) if not name.startswith(".")]


def delete_command(inbox: Path, command_id: str) -> None:
    """Deletes the file of a command, after the event that answers it was recorded."""
    _file(inbox, command_id).unlink(missing_ok=True)


def reject_file(unreadable: InvalidCommand) -> None:
    """Moves a file that is not a valid command into the folder `refused`."""
    folder = unreadable.file.parent / REJECTED
    folder.mkdir(exist_ok=True)
    unreadable.file.rename(folder / f"{unreadable.file.name}.{secrets.token_hex(3)}")


def wait_for_answer(
    run: Run, command: Command, seconds: float, until: Callable[[], bool] = lambda: True
) -> EventInfo | None:
    """Waits for the event with which the run answers a command, and returns it; None if there is none within
    `seconds`.

    If the run ends without an answer, the command is withdrawn and an event of the kind `ended` is returned.
    `until`: a further condition to wait for.
    """
    file, deadline = _file(run.inbox, command.id), time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended = run.status not in ACTIVE
        if (ended or not file.exists()) and until():
            file.unlink(missing_ok=True)
            found = find_answer(run, command.id)
            return {"kind": "ended", "why": f"it is {run.status}"} if ended and not found else found
        time.sleep(_POLL_SECONDS)
    return None


def find_answer(run: Run, command_id: str) -> EventInfo | None:
    """Returns the last recorded event with the id of this command; None if there is none."""
    found = [event for event in run.recorded_events() if event.get("id") == command_id]
    return found[-1] if found else None


def _file(inbox: Path, command_id: str) -> Path:
    return inbox / f"{command_id}.json"


def _read(file: Path) -> Command | InvalidCommand:
    """Returns the command in a file, or an InvalidCommand with the reason if it cannot be read, is longer
    than MAX_BYTES or is not a valid command."""
    try:
        return _command(file.stem, document.loads(files.read(file, limit=MAX_BYTES)))
    except (OSError, ValueError, RunError) as problem:
        return InvalidCommand(file, " ".join(str(problem).split()))


def _command(name: str, parsed: object) -> Command:
    """Returns the parsed JSON of a command file as a command; raises ValueError with the reason if it is not
    valid. `name`: the file name without suffix, which must be the id."""
    if not isinstance(parsed, dict):
        raise ValueError("it is not a JSON object")
    content = cast("dict[str, object]", parsed)
    if content.get("version") != VERSION:
        raise ValueError(f"unknown version {content.get('version')} (expected {VERSION})")
    kind, by, assignments = (content.get(key) for key in ("kind", "by", "assignments"))
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not a command (known: {', '.join(KINDS)})")
    if content.get("id") != name or not isinstance(by, str) or not isinstance(assignments, dict):
        raise ValueError(
            "it needs `id` (equal to the file name), `by` (a string) and `assignments` (an object)"
        )
    return Command(name, kind, by, cast("dict[str, object]", assignments))
