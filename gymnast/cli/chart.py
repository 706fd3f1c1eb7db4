"""`gymnast chart`: draws metrics of runs."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import click

from gymnast import api
from gymnast.cli.options import clock_option, echo_json, json_option, runs_option
from gymnast.errors import UsageError


@click.command()
@click.argument("refs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--metric",
    "names",
    multiple=True,
    metavar="NAME",
    help="Draw this metric; a * at its end matches any suffix. Repeatable: a panel each.",
)
@click.option(
    "--chart",
    "name",
    default="",
    metavar="NAME",
    help="Draw this chart of the report: score (the default), entropy, kl, losses, actions ...",
)
@click.option("--out", metavar="FILE.png", help="Write a picture to this file.")
@click.option("--text", "as_text", is_flag=True, help="Print text (the default without --out).")
@clock_option
@runs_option
@json_option
def chart(
    refs: tuple[str, ...],
    names: tuple[str, ...],
    name: str,
    out: str | None,
    as_text: bool,
    x: str,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Draw one chart of one or more runs, as text or as a picture.

    Each run is drawn at its own steps. --json prints what is drawn, with the text, or with the picture in
    base64 unless --out writes it to a file.

    \b
    gymnast chart @last
    gymnast chart first second --metric episode/return --metric policy/kl
    gymnast chart @last --chart actions --out actions.png
    """
    if as_text and out:
        raise UsageError("--text prints the chart and --out writes a picture", fix="use one")
    picture = api.chart(
        refs or ("@last",),
        names,
        chart=name,
        format="png" if out else "text",
        x=x,
        runs_dir=runs_dir,
    )
    if out:
        try:
            Path(out).write_bytes(base64.b64decode(picture.png))
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", at=out) from None
        picture = replace(picture, png="")
    if as_json:
        echo_json(picture)
    elif out:
        click.echo(out)
    else:
        click.echo(picture.text)
    if picture.left_out and not as_json:
        click.echo(f"{picture.left_out} more metrics are not drawn; name fewer", err=True)
