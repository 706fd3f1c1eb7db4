"""`gymnast host check`: whether jobs can train on another host."""

from __future__ import annotations

import click

from gymnast.api import hosts
from gymnast.cli.options import echo_json, json_option


@click.group()
def host() -> None:
    """Other hosts, on which jobs can train (--jobs-on)."""


@host.command()
@click.argument("provider")
@click.option("--env", metavar="ENV", default="", help="Also compare the packages of this one.")
@json_option
def check(provider: str, env: str, as_json: bool) -> int:
    """Compare a host with this machine: code, Python, packages, CPU; exit code 1 if jobs cannot train there.

    \b
    gymnast host check ssh:me@box
    gymnast host check cluster --env HalfCheetah-v5
    """
    found = hosts.check_target(provider, env=env)
    if as_json:
        echo_json(found)
    elif found.there is None:
        click.echo(f"{provider} cannot be asked: every job compares its host when it starts")
    else:
        for difference in found.differences:
            click.echo(f"{difference}{'' if difference.blocks else ' (last bits may differ)'}")
        verdict = "jobs can train there" if found.ok else "jobs cannot train there"
        click.echo(f"{found.there.host}: {verdict}")
    return 0 if found.ok else 1
