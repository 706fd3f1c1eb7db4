"""Commands to a run while it trains: each is applied at its next rollout boundary, and the run answers.

`by` names the sender in the event: a program, a page, the command line."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.api.overrides import Overrides, parse_overrides
from gymnast.jobs import commands, status
from gymnast.jobs.commands import CommandAnswer
from gymnast.runs import store
from gymnast.runs.inbox import PROGRAM, CommandKind
from gymnast.runs.store import RunsDir

TIMEOUT = 30.0
"""Seconds to wait for an answer."""


def stop(
    ref: str, *, timeout: float = TIMEOUT, by: str = PROGRAM, runs_dir: RunsDir = None
) -> list[CommandAnswer]:
    """Saves a checkpoint and stops a run, or all active runs of a group of seeds; a queued job is removed
    from the queue. `resume` continues exactly there. Returns one answer per run; `timeout`: seconds to wait
    for each."""
    directory = store.runs_dir(runs_dir)
    members = status.group_members(ref, directory)
    if members != [ref]:
        found = {member: status.find(member, directory) for member in members}
        members = [member for member in members if found[member].is_live]
        # Queued ones first: a run that stops makes room for the next job.
        members.sort(key=lambda member: found[member].status != "queued")
    return [_send(member, "stop", timeout=timeout, by=by, runs_dir=runs_dir) for member in members]


def pause(
    ref: str, *, timeout: float = TIMEOUT, by: str = PROGRAM, runs_dir: RunsDir = None
) -> CommandAnswer:
    """Pauses a run. Its process stays in memory; the results do not change. `timeout`: seconds to wait for
    the answer."""
    return _send(ref, "pause", timeout=timeout, by=by, runs_dir=runs_dir)


def unpause(
    ref: str, *, timeout: float = TIMEOUT, by: str = PROGRAM, runs_dir: RunsDir = None
) -> CommandAnswer:
    """Continues a paused run. `timeout`: seconds to wait for the answer."""
    return _send(ref, "unpause", timeout=timeout, by=by, runs_dir=runs_dir)


def checkpoint(
    ref: str, *, timeout: float = TIMEOUT, by: str = PROGRAM, runs_dir: RunsDir = None
) -> CommandAnswer:
    """Saves a checkpoint of a run now. `timeout`: seconds to wait for the answer."""
    return _send(ref, "checkpoint", timeout=timeout, by=by, runs_dir=runs_dir)


def set_live(
    ref: str,
    assignments: Overrides,
    *,
    timeout: float = TIMEOUT,
    by: str = PROGRAM,
    runs_dir: RunsDir = None,
) -> CommandAnswer:
    """Changes settings of a run while it trains, from its next rollout on. `assignments`: dotted config key
    -> value, or KEY=VALUE texts as with --set. If one of them cannot change during training, nothing is sent,
    and the error lists the settings that can. `timeout`: seconds to wait for the answer."""
    return _send(
        ref, "set", parse_overrides(assignments), timeout=timeout, by=by, runs_dir=runs_dir
    )


def evaluate_live(
    ref: str, *, timeout: float = TIMEOUT, by: str = PROGRAM, runs_dir: RunsDir = None
) -> CommandAnswer:
    """Evaluates the current policy of a run that is training, as at its evaluation points; training waits for
    the result. `timeout`: seconds to wait for the answer."""
    return _send(ref, "evaluate", timeout=timeout, by=by, runs_dir=runs_dir)


def _send(
    ref: str,
    kind: CommandKind,
    assignments: Mapping[str, object] | None = None,
    *,
    timeout: float,
    by: str,
    runs_dir: RunsDir,
) -> CommandAnswer:
    directory = store.runs_dir(runs_dir)
    return commands.send_command(
        ref, kind, assignments=assignments, by=by, runs_dir=directory, seconds=timeout
    )
