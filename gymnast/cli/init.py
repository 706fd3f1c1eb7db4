"""`gymnast init`."""

from __future__ import annotations

from pathlib import Path

import click

from gymnast.cli.options import echo_json, json_option, runs_option


@click.command()
@click.argument("name")
@click.option("--dir", "directory", default=".", metavar="DIR", help="Where; default: here.")
@runs_option
@json_option
def init(name: str, directory: str, runs_dir: str | None, as_json: bool) -> None:
    """Begin an environment of your own: package NAME, its test, and presets/NAME.yaml.

    What is written works at once and is meant to be changed. Nothing is overwritten.

    \b
    gymnast init my_env
    gymnast init line_walk --dir ~/projects/walks
    """
    from gymnast import scaffold

    place = Path(directory).expanduser()
    written = scaffold.write(name, place)
    if as_json:
        echo_json({"name": name, "files": list(map(str, written))})
        return
    for file in written:
        click.echo(f"wrote {file}")
    steps = [f"cd {place}"] if place.resolve() != Path.cwd() else []
    steps += [
        f"pytest {name}",
        f"gymnast config check presets/{name}.yaml",
        f"gymnast check {name}",
        f"gymnast train {name}",
    ]
    click.echo("\n".join(f"{'next' if i == 0 else '':<5} {step}" for i, step in enumerate(steps)))
