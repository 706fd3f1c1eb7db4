"""Options and output functions that the commands share."""

from __future__ import annotations

import json
from collections.abc import Sequence

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
    """Prints a record, or a container of records, as JSON at full precision."""
    click.echo(json.dumps(to_json(value), indent=1, ensure_ascii=False, allow_nan=False))


def parse_assignments(assignments: Sequence[str]) -> dict[str, object]:
    """Returns the values of --set, `KEY=VALUE` each, as dotted key -> value."""
    from gymnast.api.overrides import parse_overrides

    return parse_overrides(assignments)
