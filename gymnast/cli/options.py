"""Options and output functions that the commands share."""

from __future__ import annotations

import json
import math
from typing import Any

import click

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


def echo_json(value: Any) -> None:
    """Prints JSON at full precision; NaN and infinity become the strings "nan", "inf" and "-inf"."""
    click.echo(json.dumps(_strict(value), indent=1, ensure_ascii=False, allow_nan=False))


def _strict(value: Any) -> Any:
    """Returns the value with every float that JSON cannot represent replaced by a string, in dicts,
    lists and tuples too."""
    # Python's json writes NaN and Infinity, which are not JSON and which other parsers reject.
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(item) for item in value]
    return value
