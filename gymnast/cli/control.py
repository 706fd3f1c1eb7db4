"""`gymnast stop`, `pause`, `unpause`, `checkpoint`, `set`: commands to a run that is training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.jobs import status
from gymnast.runs import store
from gymnast.text import formatting

Event = dict[str, Any]


timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the run's answer; 0: do not wait.",
)


def command_options(command: Any) -> Any:
    """Adds the options that all of these commands have."""
    for option in (json_option, runs_option, timeout_option):  # the last one is listed first
        command = option(command)
    return command


@click.command()
@click.argument("run", metavar="RUN|JOB|GROUP")
@command_options
def stop(run: str, **options: Any) -> None:
    """Save a checkpoint and stop a run at its next rollout boundary.

    \b
    gymnast stop @last
    gymnast stop k3jx81qa              a queued job is removed from the queue
    gymnast stop g1f3a9c02             all jobs of a group

    `gymnast resume` continues exactly there. The training process ends with exit code 0.
    """
    directory = store.runs_dir(options["runs_dir"])
    for member in status.group_members(run, directory):
        if member != run and status.find(member, directory)["status"] not in status.LIVE:
            continue
        send(member, "stop", _describe_stop, **options)


def _simple_command(kind: str, done: str, help_text: str) -> click.Command:
    """Returns the CLI command that sends a command without arguments and prints `done` with the env steps."""

    @click.command(kind, help=f"{help_text}\n\n\b\ngymnast {kind} @last")
    @click.argument("run")
    @command_options
    def command(run: str, **options: Any) -> None:
        send(run, kind, lambda event: f"{done} at {event['env_steps']:,} env steps", **options)

    return command


pause = _simple_command(
    "pause",
    "paused",
    "Pause a run at its next rollout boundary. The process stays in memory; the results do not change.",
)
unpause = _simple_command("unpause", "continues", "Continue a paused run.")
checkpoint = _simple_command(
    "checkpoint", "saved", "Save a checkpoint of a run at its next rollout boundary."
)


@click.command()
@click.argument("run")
@click.argument("assignments", nargs=-1, required=True, metavar="KEY=VALUE...")
@command_options
def set_(run: str, assignments: tuple[str, ...], **options: Any) -> None:
    """Change settings of a run while it trains, from its next rollout on.

    \b
    gymnast set @last algo.lr=1e-4
    gymnast set @last 'algo.lr=1e-3 -> 0' algo.target_kl=off
    gymnast set @last stop.env_steps=200k

    A schedule such as `1e-3 -> 0` spans the whole budget: set halfway, it continues at 5e-4. If one of
    the settings cannot change during training, nothing is sent; the error lists the settings that can.

    The change is recorded as an event. A run that is resumed from an earlier checkpoint makes the change
    again at the same rollout, unless `gymnast resume RUN --set KEY=VALUE` sets that key.
    """
    from gymnast.config.resolve import parse_assignment

    values = dict(parse_assignment(text) for text in assignments)
    send(run, "set", _describe_change, assignments=values, **options)


def send(
    ref: str,
    kind: str,
    describe: Callable[[Event], str],
    *,
    runs_dir: str | None,
    as_json: bool,
    timeout: float,
    assignments: dict[str, Any] | None = None,
) -> None:
    """Sends a command to a run and prints its answer, in words (`describe`) or as JSON. If there is
    no answer within `timeout` seconds, it says when the command takes effect. `assignments`: key ->
    value for the command `set`."""
    result = api.send_command(ref, kind, assignments, seconds=timeout, runs_dir=runs_dir)
    if as_json:
        echo_json(result)
    elif result["answer"] is None:
        click.echo(f"{result['id']}: {kind} sent; it takes effect at the next rollout boundary")
    else:
        click.echo(f"{result['id']}: {describe(result['answer'])}")


def _describe_stop(event: Event) -> str:
    """Returns the answer to `stop` as text."""
    if event["kind"] == "gone":
        return "removed from the queue before it started"
    return f"stopped at {event['env_steps']:,} env steps; `gymnast resume` continues there"


def _describe_change(event: Event) -> str:
    """Returns the answer to `set` as text."""
    changes = [formatting.change(change) for change in event["changes"]]
    at = f"from {event['env_steps']:,} env steps on"
    return f"{'; '.join(changes)}, {at}" if changes else "no change: it has these values already"
