"""Options and output functions that the commands share."""

from __future__ import annotations

import json
from collections.abc import Iterable

import click

from gymnast.records import to_json

runs_option = click.option(
    "--runs",
    "runs_dir",
    metavar="DIR",
    help="Runs directory. Default: $GYMNAST_RUNS, or ./runs.",
)
track_option = click.option(
    "--track",
    "trackers",
    multiple=True,
    metavar="wandb|tensorboard",
    help="Also log every row to this tracker (track.to). Repeatable.",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Seeds trained at the same time.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def echo_json(value: object) -> None:
    """Prints a record or plain values as JSON at full precision; NaN and infinity become the strings "nan",
    "inf" and "-inf"."""
    click.echo(json.dumps(to_json(value), indent=1, ensure_ascii=False, allow_nan=False))


def parse_assignments(assignments: Iterable[str]) -> dict[str, object]:
    """Returns the values of --set, `KEY=VALUE` each, as dotted key -> value."""
    if not (given := list(assignments)):
        return {}
    from gymnast.config.resolve import parse_assignment  # takes a while to import

    return dict(map(parse_assignment, given))
