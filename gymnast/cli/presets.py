"""`gymnast presets`: what can be trained with settings that are known to work."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option


@click.command()
@click.argument("search", default="")
@runs_option
@json_option
def presets(search: str, runs_dir: str | None, as_json: bool) -> None:
    """List presets, or those whose name or variant is like SEARCH.

    Any other Gymnasium id can be trained too, with default settings. Presets of your own are YAML
    files in ./presets or in the directories that GYMNAST_PRESETS names.

    \b
    gymnast presets
    gymnast presets lander
    gymnast config show LunarLander-v3:continuous
    """
    found = api.presets(search)
    if as_json:
        echo_json(found)
    elif found:
        width = max(len(preset["name"]) for preset in found)
        for preset in found:
            if "problem" in preset:
                click.echo(f"{preset['name']:<{width}}  BROKEN: {preset['problem']}")
                continue
            others = [v for v in preset["variants"] if v != preset["default"]]
            variants = f"{preset['default']} (default){''.join(f', {v}' for v in others)}"
            goal = f"solved at {preset['threshold']}" if preset["threshold"] != "off" else ""
            own = "" if preset["shipped"] else preset["path"]
            line = f"{preset['name']:<{width}}  {goal:<15}  {variants}  {own}"
            click.echo(line.rstrip())
    else:
        click.echo(f"no preset is like {search!r}; `gymnast presets` lists them all")
