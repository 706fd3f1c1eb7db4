"""`gymnast report`: writes a report about a run."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.options import clock_option, echo_json, json_option, runs_option


@click.command()
@click.argument("run", default="@last")
@click.option(
    "--html", "formats", flag_value="html", multiple=True, help="HTML, one self-contained file."
)
@click.option(
    "--md", "formats", flag_value="md", multiple=True, help="Markdown, with pictures as files."
)
@click.option("--out", metavar="PATH", help="A directory, or a file that ends in .html or .md.")
@clock_option
@runs_option
@json_option
def report(
    run: str, formats: tuple[str, ...], out: str | None, x: str, runs_dir: str | None, as_json: bool
) -> None:
    """Write a report: status, alerts with advice, settings, charts, metrics and next steps.

    The report of a self-play run also has, per role and over time, returns, win rates, ratings, lengths and
    outcomes of matches, and the cross-play matrix if it was played (gymnast league RUN --matrix).

    By default, Markdown and HTML are written into the run directory. Charts are pictures
    (pip install 'gymnast[report]') and text; without matplotlib, --md has only the text.

    \b
    gymnast report @last
    gymnast report @last --html --out cartpole.html
    gymnast report k3jx --x env_steps --json
    """
    written = api.report(run, formats, out, x, runs_dir=runs_dir)
    if as_json:
        echo_json(written)
        return
    pages = [file for file in written.files if not file.endswith(".png")]
    n_pictures = len(written.files) - len(pages)
    click.echo("\n".join(pages))
    if n_pictures:
        click.echo(f"and {n_pictures} pictures")
