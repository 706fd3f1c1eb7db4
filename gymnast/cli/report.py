"""`gymnast report`: a run as a page to keep or to send."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.clock import CLOCKS


@click.command()
@click.argument("run", default="@last")
@click.option("--html", "forms", flag_value="html", multiple=True, help="One file with all in it.")
@click.option("--md", "forms", flag_value="md", multiple=True, help="Markdown, pictures beside it.")
@click.option("--out", metavar="PATH", help="A directory, or a file that ends in .html or .md.")
@click.option(
    "--x",
    type=click.Choice(CLOCKS),
    default="vec_steps",
    show_default=True,
    help="The clock charts are drawn over.",
)
@runs_option
@json_option
def report(
    run: str, forms: tuple[str, ...], out: str | None, x: str, runs_dir: str | None, as_json: bool
) -> None:
    """How a run stands, its alerts with advice, settings, charts, numbers and what to do next.

    Both forms are written into the run's own directory unless told otherwise. Charts are pictures
    (pip install 'gymnast[report]') and text; without matplotlib --md has the text alone.

    \b
    gymnast report @last
    gymnast report @last --html --out cartpole.html
    gymnast report k3jx --x env_steps --json
    """
    found = api.report(run, forms, out, x, runs_dir=runs_dir)
    if as_json:
        echo_json(found)
        return
    pages = [file for file in found["files"] if not file.endswith(".png")]
    n_pictures = len(found["files"]) - len(pages)
    click.echo("\n".join(pages))
    if n_pictures:
        click.echo(f"and {n_pictures} pictures")
