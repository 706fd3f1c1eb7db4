"""`gymnast config`: show, check, format and compare settings."""

from __future__ import annotations

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option


@click.group()
def config() -> None:
    """Show, check, format and compare settings."""


@config.command()
@click.argument("name", metavar="ENV[:VARIANT]|RUN")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@runs_option
@json_option
def show(name: str, assignments: tuple[str, ...], runs_dir: str | None, as_json: bool) -> None:
    """Show every value of a preset or run, and where it came from.

    \b
    gymnast config show CartPole-v1
    gymnast config show LunarLander-v3:continuous --set algo.lr='3e-4 -> 0'
    gymnast config show @last --json
    """
    settings = api.config_show(name, assignments, runs_dir=runs_dir)
    if as_json:
        echo_json(settings)
        return
    click.echo(f"{settings.name}\n")
    rows = [
        (key, _text(value), settings.provenance.get(key, "default"))
        for key, value in settings.values.items()
    ]
    key_width, value_width = (max(len(row[i]) for row in rows) for i in (0, 1))
    for key, value, origin in rows:
        click.echo(f"{key:<{key_width}}  {value:<{value_width}}  {origin}")


@config.command()
@click.argument("target", metavar="ENV[:VARIANT]")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@click.option("--algo", metavar="NAME", help="Use this algorithm instead of the preset's.")
@runs_option
@json_option
@click.pass_context
def form(
    ctx: click.Context,
    target: str,
    assignments: tuple[str, ...],
    algo: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Explain every setting of a preset: its value, what it accepts and what it means.

    Needs no environment. Exits with 1 if a value of --set is wrong.

    \b
    gymnast config form CartPole-v1
    gymnast config form CartPole-v1 --algo a2c --set algo.lr=1e-4 --json
    """
    settings = api.settings_form(target, algo=algo, overrides=assignments)
    if as_json:
        echo_json(settings)
    else:
        click.echo(settings.title)
        for section in settings.sections:
            click.echo(f"\n{section.name}: {section.doc}")
            for one in section.fields:
                words = f" ({', '.join(one.choices)})" if one.choices else ""
                click.echo(f"  {one.key} = {one.text}  [{one.kind}{words}, {one.origin}]")
                click.echo(f"      {one.doc}")
        for problem in settings.problems:
            click.echo(f"error: {problem.message}", err=True)
    ctx.exit(1 if settings.problems else 0)


@config.command()
@click.argument("targets", nargs=-1, metavar="[FILE|NAME]...")
@runs_option
@json_option
@click.pass_context
def check(
    ctx: click.Context, targets: tuple[str, ...], runs_dir: str | None, as_json: bool
) -> None:
    """Check that presets are valid and complete and that their thresholds can be reached. Default: all.

    \b
    gymnast config check
    gymnast config check presets/MyEnv-v0.yaml
    """
    result = api.config_check(targets)
    if as_json:
        echo_json(result)
    else:
        for problem in result.problems:
            click.echo(problem.message)
        click.echo(f"{len(result.checked)} checked, {result.wrong} with errors")
    ctx.exit(1 if result.problems else 0)


@config.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="Change nothing; exit with 1 if a file would change.",
)
@runs_option
@click.pass_context
def fmt(ctx: click.Context, files: tuple[str, ...], only_check: bool, runs_dir: str | None) -> None:
    """Sort the keys of config files into canonical order. Comments are kept.

    \b
    gymnast config fmt presets/*.yaml
    gymnast config fmt --check presets/*.yaml
    """
    changed = [file.path for file in api.config_fmt(files, check=only_check) if file.changed]
    for path in changed:
        click.echo(f"{'would change' if only_check else 'changed'} {path}")
    ctx.exit(1 if only_check and changed else 0)


@config.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@runs_option
@json_option
def diff(a: str, b: str, runs_dir: str | None, as_json: bool) -> None:
    """Show the settings that differ between two presets or runs.

    \b
    gymnast config diff CartPole-v1 @last
    gymnast config diff LunarLander-v3:ppo LunarLander-v3:continuous --json
    """
    differences = api.config_diff(a, b, runs_dir=runs_dir)
    if as_json:
        echo_json(differences)
        return
    click.echo(f"a: {a}\nb: {b}\n")
    for entry in differences:
        click.echo(f"{entry.key}: {_text(entry.a)} | {_text(entry.b)}")
    if not differences:
        click.echo("no difference")


def _text(value: object) -> str:
    """Returns a value as one line of at most 60 characters."""
    text = str(value) if value is not None else "(not set)"
    return f"{text[:57]}..." if len(text) > 60 else text
