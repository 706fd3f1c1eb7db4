"""`gymnast sweep plot`: the plots of a study as a picture."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError


@click.command()
@click.argument("study", metavar="STUDY", default="@last")
@click.option("--out", metavar="FILE.png", help="Default: STUDY.png in this directory.")
@runs_option
@json_option
def plot(study: str, out: str | None, runs_dir: str | None, as_json: bool) -> None:
    """Draw a study: history, learning curves, parallel coordinates, importance, slices.

    The learning curves are those of the best trial and of the baseline, on fresh seeds once the study is
    over. A slice shows the value of every trial over one parameter. Trials that stopped at a rung are
    hollow: their values are those of shorter runs. With --json, the data of the plots is printed, and a
    picture is only written if --out names it. Needs matplotlib: pip install 'gymnast[report]'.

    \b
    gymnast sweep plot
    gymnast sweep plot cartpole-1 --out study.png
    gymnast sweep plot cartpole-1 --json

    `gymnast studio` shows the same plots live.
    """
    plots = api.sweep_plots(study, picture=out is not None or not as_json, runs_dir=runs_dir)
    if plots.png:
        file = Path(out or f"{plots.study}.png")
        try:
            file.write_bytes(base64.b64decode(plots.png))
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", at=str(file)) from None
        if not as_json:
            click.echo(str(file))
    if as_json:
        echo_json(replace(plots, png=""))
