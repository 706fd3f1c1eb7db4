"""`gymnast config`: show, check, format and compare settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import ConfigError, RunError

if TYPE_CHECKING:
    from gymnast.config.config import Config


@click.group()
def config() -> None:
    """Show, check, format and compare settings."""


@config.command()
@click.argument("name", metavar="ENV[:VARIANT]|RUN")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@runs_option
@json_option
def show(name: str, assignments: tuple[str, ...], runs_dir: str | None, as_json: bool) -> None:
    """Every value of a preset or run, with where it came from.

    \b
    gymnast config show CartPole-v1
    gymnast config show LunarLander-v3:continuous --set algo.lr='3e-4 -> 0'
    gymnast config show @last --json
    """
    from gymnast.config.resolve import parse_assignment
    from gymnast.config.saved import plain, values

    found = _find(name, runs_dir, dict(map(parse_assignment, assignments)))
    if as_json:
        echo_json(
            {"name": found.name, "config": plain(found.config), "provenance": found.provenance}
        )
        return
    click.echo(f"{found.name}\n")
    rows = [
        (key, _text(value), found.provenance.get(key, "default"))
        for key, value in values(found.config).items()
    ]
    key_width, value_width = (max(len(row[i]) for row in rows) for i in (0, 1))
    for key, value, origin in rows:
        click.echo(f"{key:<{key_width}}  {value:<{value_width}}  {origin}")


@config.command()
@click.argument("targets", nargs=-1, metavar="[FILE|NAME]...")
@json_option
@click.pass_context
def check(ctx: click.Context, targets: tuple[str, ...], as_json: bool) -> None:
    """Check presets: valid, complete, a threshold that can be reached. Default: all of them.

    \b
    gymnast config check
    gymnast config check presets/MyEnv-v0.yaml
    """
    from gymnast.config.check import check as problems_of

    found = problems_of(targets)
    problems = [problem for several in found.values() for problem in several]
    if as_json:
        echo_json({"checked": list(found), "problems": [vars(problem) for problem in problems]})
    else:
        for problem in problems:
            click.echo(str(problem))
        wrong = sum(bool(several) for several in found.values())
        click.echo(f"{len(found)} checked, {wrong} with mistakes")
    ctx.exit(1 if problems else 0)


@config.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit 1 if it would.")
@click.pass_context
def fmt(ctx: click.Context, files: tuple[str, ...], only_check: bool) -> None:
    """Put the keys of config files into canonical order. Comments are kept.

    \b
    gymnast config fmt presets/*.yaml
    gymnast config fmt --check presets/*.yaml
    """
    from gymnast.config.fmt import fmt as formatted
    from gymnast.runs import durable

    before = {file: Path(file).read_text(encoding="utf-8") for file in files}
    after = {file: formatted(text, file) for file, text in before.items()}
    changed = [file for file in files if after[file] != before[file]]
    for file in changed:
        if not only_check:
            durable.replace(Path(file), after[file].encode())
        click.echo(f"{'would change' if only_check else 'changed'} {file}")
    ctx.exit(1 if only_check and changed else 0)


@config.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@runs_option
@json_option
def diff(a: str, b: str, runs_dir: str | None, as_json: bool) -> None:
    """What differs between two presets or runs.

    \b
    gymnast config diff CartPole-v1 @last
    gymnast config diff LunarLander-v3:ppo LunarLander-v3:continuous --json
    """
    from gymnast.config.saved import diff as differences

    left, right = (_find(name, runs_dir, {}) for name in (a, b))
    found = differences(left.config, right.config)
    if as_json:
        echo_json([{"key": key, "a": before, "b": after} for key, before, after in found])
        return
    click.echo(f"a: {left.name}\nb: {right.name}\n")
    for key, before, after in found:
        click.echo(f"{key}: {_text(before)} | {_text(after)}")
    if not found:
        click.echo("no difference")


@dataclass(frozen=True)
class _Found:
    name: str
    config: Config[Any]
    provenance: dict[str, str]


def _find(name: str, runs_dir: str | None, overrides: dict[str, Any]) -> _Found:
    """The settings of a run, or else of a preset or any environment by that name."""
    from gymnast.config.resolve import load, resolve, revise

    run = _run(name, runs_dir)
    if run is not None:
        stored, provenance = load(run.config(), at=str(run.path / "config.yaml")), run.provenance()
        if overrides:
            stored, provenance = revise(stored, overrides, provenance=provenance)
        return _Found(f"run {run.path}", stored, provenance)
    resolved = resolve(name, overrides)
    note = "" if resolved.has_preset else " (no preset and no run of this name: defaults)"
    return _Found(f"{resolved.preset}{note}", resolved.config, resolved.provenance)


def _run(name: str, runs_dir: str | None) -> Any:
    """The run of this name, unless it names a preset."""
    from gymnast.config import presets
    from gymnast.runs import store

    if name.startswith("@"):
        return store.resolve(name, store.runs_dir(runs_dir))[0]
    if Path(name).is_dir():
        return store.resolve(name if os.sep in name else f".{os.sep}{name}", Path())[0]
    try:
        if presets.find(presets.split(name)[0]).path is not None:
            return None
    except ConfigError:
        pass  # a checkpoint of a run
    try:
        return store.resolve(name, store.runs_dir(runs_dir))[0]
    except RunError:
        return None


def _text(value: Any) -> str:
    """One value in one line."""
    text = str(value) if value is not None else "(not there)"
    return f"{text[:57]}..." if len(text) > 60 else text
