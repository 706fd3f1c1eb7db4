"""`gymnast export`: writes a run's metrics for other programs."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.text.formatting import count_noun


@click.command()
@click.argument("run", default="@last")
@click.option(
    "--to",
    "export_format",
    required=True,
    metavar="csv|parquet|tensorboard|wandb",
    help="Output format.",
)
@click.option("--out", metavar="PATH", help="File or folder. Default: in the run, under exports/.")
@runs_option
@json_option
def export(
    run: str, export_format: str, out: str | None, runs_dir: str | None, as_json: bool
) -> None:
    """Export a run's metrics for other programs, at full precision.

    \b
    gymnast export @last --to csv --out rows.csv
    gymnast export @last --to parquet
    gymnast export @last --to tensorboard --out logs/mine
    gymnast export @last --to wandb              metrics, alerts and videos; offline, for `wandb sync`
    """
    exported = api.export(run, export_format, out, runs_dir=runs_dir)
    if as_json:
        echo_json(exported)
    else:
        click.echo(f"{exported.path}: {count_noun(exported.rows, 'row')}")
