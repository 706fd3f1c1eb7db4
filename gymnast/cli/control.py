"""`gymnast stop`, `pause`, `unpause`, `checkpoint`, `set`: commands to a run that is training."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import click

from gymnast import api
from gymnast.cli.options import (
    allow_code_option,
    echo_json,
    json_option,
    parse_assignments,
    runs_option,
)
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.jobs.commands import CommandAnswer

Command = TypeVar("Command", bound=Callable[..., object])
SENDER = "command line"
"""The sender of commands in the events of a run."""

timeout_option = click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the run's answer; 0: do not wait.",
)


def command_options(command: Command) -> Command:
    """Adds the options that all of these commands have."""
    for option in (json_option, runs_option, timeout_option):  # the last one is listed first
        command = option(command)
    return command


@click.command()
@click.argument("run", metavar="RUN|JOB|GROUP")
@command_options
def stop(run: str, timeout: float, runs_dir: str | None, as_json: bool) -> None:
    """Save a checkpoint and stop a run at its next rollout boundary.

    \b
    gymnast stop @last
    gymnast stop k3jx81qa              a queued job is removed from the queue
    gymnast stop g1f3a9c02             all jobs of a group

    `gymnast resume` continues exactly there. The training process ends with exit code 0.
    """
    answers = api.stop(run, timeout=timeout, by=SENDER, runs_dir=runs_dir)
    if as_json:
        echo_json(answers)
        return
    for answer in answers:
        echo_answer(
            answer,
            "removed from the queue before it started"
            if answer.dequeued
            else f"stopped {_at(answer)}; `gymnast resume` continues there",
        )


@click.command(short_help="Pause a run.")
@click.argument("run")
@command_options
def pause(run: str, timeout: float, runs_dir: str | None, as_json: bool) -> None:
    """Pause a run at its next rollout boundary. The process stays in memory; the results do not change.

    \b
    gymnast pause @last
    """
    answer = api.pause(run, timeout=timeout, by=SENDER, runs_dir=runs_dir)
    echo_answer(answer, f"paused {_at(answer)}", as_json=as_json)


@click.command()
@click.argument("run")
@command_options
def unpause(run: str, timeout: float, runs_dir: str | None, as_json: bool) -> None:
    """Continue a paused run.

    \b
    gymnast unpause @last
    """
    answer = api.unpause(run, timeout=timeout, by=SENDER, runs_dir=runs_dir)
    echo_answer(answer, f"continues {_at(answer)}", as_json=as_json)


@click.command()
@click.argument("run")
@command_options
def checkpoint(run: str, timeout: float, runs_dir: str | None, as_json: bool) -> None:
    """Save a checkpoint of a run at its next rollout boundary.

    \b
    gymnast checkpoint @last
    """
    answer = api.checkpoint(run, timeout=timeout, by=SENDER, runs_dir=runs_dir)
    echo_answer(answer, f"saved {_at(answer)}", as_json=as_json)


@click.command()
@click.argument("run")
@click.argument("assignments", nargs=-1, required=True, metavar="KEY=VALUE...")
@command_options
@allow_code_option
def set_(
    run: str, assignments: tuple[str, ...], timeout: float, runs_dir: str | None, as_json: bool
) -> None:
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
    values = parse_assignments(assignments)
    answer = api.set_live(run, values, timeout=timeout, by=SENDER, runs_dir=runs_dir)
    changes = [
        formatting.change({"key": change.key, "from": change.before, "to": change.after})
        for change in answer.changes
    ]
    text = f"{'; '.join(changes)}, from {_steps(answer)} on"
    echo_answer(
        answer, text if changes else "no change: it has these values already", as_json=as_json
    )


def echo_answer(answer: CommandAnswer, text: str, *, as_json: bool = False) -> None:
    """Prints the answer of a run as JSON or in words: `text`, or when the command takes effect if the run has
    not answered yet."""
    if as_json:
        echo_json(answer)
    elif answer.answered:
        click.echo(f"{answer.id}: {text}")
    else:
        click.echo(
            f"{answer.id}: {answer.command} sent; it takes effect at the next rollout boundary"
        )


def _at(answer: CommandAnswer) -> str:
    return f"at {_steps(answer)}"


def _steps(answer: CommandAnswer) -> str:
    return f"{answer.env_steps or 0:,} env steps"
