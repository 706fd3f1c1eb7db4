"""Options and output functions that the commands share."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import click

from gymnast.clock import CLOCKS, DEFAULT_CLOCK
from gymnast.errors import UsageError
from gymnast.import_object import allow_all_code
from gymnast.records import JsonValue, to_json

runs_option = click.option(
    "--runs",
    "runs_dir",
    metavar="DIR",
    help="Runs directory. Default: $GYMNAST_RUNS, or ./runs.",
)
allow_code_option = click.option(
    "--allow-code",
    is_flag=True,
    expose_value=False,
    callback=lambda _ctx, _option, allowed: allow_all_code() if allowed else None,
    help="Import the code that a run names although you did not train it here.",
)
"""An option of every command that may import the code that a run names."""
data_option = click.option(
    "--data",
    metavar="DIR",
    help="Data directory. Default: that of the run, $GYMNAST_DATA, or `data` next to the runs.",
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
clock_option = click.option(
    "--x",
    type=click.Choice(CLOCKS),
    callback=lambda _ctx, _option, clock: clock or "",
    metavar="CLOCK",
    help=f"The clock of the x axis: {', '.join(CLOCKS)}. Default: that of the settings file, else"
    f" {DEFAULT_CLOCK}.",
)
"""The same for every view."""
host_option = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; 0.0.0.0 for all. Others than this machine then can reach it.",
)
allow_host_option = click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="Also accept requests for this host name: that of a reverse proxy. Repeatable.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def skips_count(no_skips: bool) -> bool:
    """Returns whether what is skipped counts as a failure: with --no-skips, or if GYMNAST_NO_SKIPS is set."""
    return no_skips or bool(os.environ.get("GYMNAST_NO_SKIPS"))


def echo_json(value: object) -> None:
    """Prints a record, or a container of records, as JSON at full precision."""
    click.echo(_indented(to_json(value)))


def write_text(file: str, text: str) -> None:
    """Writes a text to a file. Raises UsageError if that fails."""
    try:
        Path(file).expanduser().write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"{file} cannot be written: {error.strerror}"
        raise UsageError(problem, fix="choose another file") from error


def _indented(value: JsonValue, margin: str = "") -> str:
    """Returns JSON text with an object's members on lines of their own, and lists of numbers or texts on one
    line. The encoder of `json` with `indent` is several times slower, and gives each number a line."""
    inner = f"{margin} "
    if isinstance(value, dict) and value:
        lines = [f"{_one_line(key)}: {_indented(item, inner)}" for key, item in value.items()]
        return f",\n{inner}".join(lines).join((f"{{\n{inner}", f"\n{margin}}}"))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        lines = [_indented(item, inner) for item in value]
        return f",\n{inner}".join(lines).join((f"[\n{inner}", f"\n{margin}]"))
    return _one_line(value)


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def _one_line(value: JsonValue) -> str:
    if type(value) is float:  # two thirds of the time of `encode` goes into finding out what it got
        return float.__repr__(value)
    return "null" if value is None else _encoder.encode(value)


def parse_assignments(assignments: Sequence[str]) -> dict[str, object]:
    """Returns the values of --set, `KEY=VALUE` each, as dotted key -> value."""
    from gymnast.api.overrides import parse_overrides

    return parse_overrides(assignments)
