"""`gymnast init`: creates a new environment package from a template."""

from __future__ import annotations

from pathlib import Path

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option


@click.command()
@click.argument("name")
@click.option(
    "--dir",
    "directory",
    default=".",
    metavar="DIR",
    help="Parent directory. Default: the current one.",
)
@runs_option
@json_option
def init(name: str, directory: str, runs_dir: str | None, as_json: bool) -> None:
    """Create an environment of your own from a template: package NAME, its test, and presets/NAME.yaml.

    The template works as it is and is meant to be edited. No existing file is overwritten.

    \b
    gymnast init my_env
    gymnast init line_walk --dir ~/projects/walks
    """
    project = api.init(name, directory=directory)
    if as_json:
        echo_json(project)
        return
    for file in project.files:
        click.echo(f"wrote {file}")
    parent = Path(project.directory)
    steps = [f"cd {parent}"] if parent.resolve() != Path.cwd() else []
    steps += [
        f"pytest {name}",
        f"gymnast config check presets/{name}.yaml",
        f"gymnast check {name}",
        f"gymnast train {name}",
    ]
    click.echo("\n".join(f"{'next' if i == 0 else '':<5} {step}" for i, step in enumerate(steps)))
