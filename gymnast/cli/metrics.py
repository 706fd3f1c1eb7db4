"""`gymnast metrics`: explains the metrics."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option


@click.command()
@click.argument("name", required=False)
@runs_option
@json_option
def metrics(name: str | None, runs_dir: str | None, as_json: bool) -> None:
    """List the metrics with their meaning; with NAME, show one: unit, bounds, healthy range, what to try.

    \b
    gymnast metrics
    gymnast metrics policy/kl
    gymnast metrics eval:episode/return --json
    """
    from gymnast.metrics.explain import listing, page

    described = api.metrics(name or "")
    if as_json:
        echo_json(described)
    elif name:
        click.echo(page(described[0]))
    else:
        click.echo(listing(described))
