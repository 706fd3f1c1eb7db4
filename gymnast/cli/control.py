"""`gymnast stop`, `pause`, `unpause`, `checkpoint`, `evaluate` and `set`: telling a run that trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.jobs import standing
from gymnast.runs import store
from gymnast.text import wording

Event = dict[str, Any]


def telling_options(command: Any) -> Any:
    """What these verbs share."""
    for option in reversed(
        (
            click.option(
                "--timeout",
                type=click.FloatRange(min=0),
                default=30.0,
                show_default=True,
                metavar="SECONDS",
                help="How long to wait for the run's answer; 0 only asks.",
            ),
            runs_option,
            json_option,
        )
    ):
        command = option(command)
    return command


@click.command()
@click.argument("run", metavar="RUN|JOB|GROUP")
@telling_options
def stop(run: str, **options: Any) -> None:
    """Ask a run to save a checkpoint and stop at its next rollout boundary.

    \b
    gymnast stop @last
    gymnast stop k3jx81qa              also a job that waits: it will not start
    gymnast stop g1f3a9c02             all jobs of a group

    `gymnast resume` goes on with it exactly there. The training process ends with exit code 0.
    """
    directory = store.runs_dir(options["runs_dir"])
    for member in standing.members(run, directory):
        if member != run and standing.find(member, directory)["status"] not in standing.LIVING:
            continue
        _tell(member, "stop", _stopped, **options)


@click.command()
@click.argument("run")
@telling_options
def pause(run: str, **options: Any) -> None:
    """Ask a run to wait at its next rollout boundary; it stays in memory and changes no number.

    \b
    gymnast pause @last
    gymnast unpause @last
    """
    _tell(run, "pause", lambda e: f"paused at {e['env_steps']:,} env steps", **options)


@click.command()
@click.argument("run")
@telling_options
def unpause(run: str, **options: Any) -> None:
    """Let a paused run go on.

    \b
    gymnast unpause @last
    """
    _tell(run, "unpause", lambda e: f"goes on at {e['env_steps']:,} env steps", **options)


@click.command()
@click.argument("run")
@telling_options
def checkpoint(run: str, **options: Any) -> None:
    """Have a run save a checkpoint at its next rollout boundary.

    \b
    gymnast checkpoint @last
    """
    _tell(run, "checkpoint", lambda e: f"saved at {e['env_steps']:,} env steps", **options)


@click.command()
@click.argument("run")
@telling_options
def evaluate(run: str, **options: Any) -> None:
    """Have a run score its policy as it is now; training waits for the result.

    \b
    gymnast evaluate @last

    `gymnast eval` scores a stored checkpoint instead, whether the run trains or not.
    """
    _tell(run, "evaluate", _evaluated, **options)


@click.command()
@click.argument("run")
@click.argument("assignments", nargs=-1, required=True, metavar="KEY=VALUE...")
@telling_options
def set_(run: str, assignments: tuple[str, ...], **options: Any) -> None:
    """Change settings of a run from its next rollout on.

    \b
    gymnast set @last algo.lr=1e-4
    gymnast set @last 'algo.lr=1e-3 -> 0' algo.target_kl=off
    gymnast set @last stop.env_steps=200k

    The change is an event of the run and done again, at the same rollout, when it is resumed from
    before; `gymnast resume RUN --set KEY=VALUE` ends it. What cannot change is refused, naming what can.
    """
    from gymnast.config.resolve import parse_assignment

    values = dict(parse_assignment(text) for text in assignments)
    _tell(run, "set", _changed, assignments=values, **options)


def _tell(
    ref: str,
    kind: str,
    told: Callable[[Event], str],
    *,
    runs_dir: str | None,
    as_json: bool,
    timeout: float,
    assignments: dict[str, Any] | None = None,
) -> None:
    result = api.send_command(ref, kind, assignments, seconds=timeout, runs_dir=runs_dir)
    if as_json:
        echo_json(result)
    elif result["answer"] is None:
        click.echo(f"{result['id']}: asked to {kind}; it will at its next rollout boundary")
    else:
        click.echo(f"{result['id']}: {told(result['answer'])}")


def _stopped(event: Event) -> str:
    if event["kind"] == "gone":
        return "it had not begun, and will not"
    return f"stopped at {event['env_steps']:,} env steps; `gymnast resume` goes on there"


def _evaluated(event: Event) -> str:
    return f"scored {wording.score(event['score'])} at {event['env_steps']:,} env steps"


def _changed(event: Event) -> str:
    changes = [wording.change(change) for change in event["changes"]]
    at = f"from {event['env_steps']:,} env steps on"
    return (
        f"{'; '.join(changes)}, {at}" if changes else "nothing changes: it stands at that already"
    )
