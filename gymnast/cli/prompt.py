"""`gymnast prompt`: prompts for an assistant, filled with the data of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api.prompts import DEFAULT_BUDGET
from gymnast.cli.options import echo_json, json_option, runs_option, write_text
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gymnast.prompts.record import PromptInfo


@click.command()
@click.argument("name", required=False)
@click.argument("refs", nargs=-1, metavar="[RUN]...")
@click.option(
    "--arg",
    "assignments",
    multiple=True,
    metavar="NAME=TEXT",
    help="An argument of the prompt. Repeatable.",
)
@click.option(
    "--budget",
    type=int,
    default=DEFAULT_BUDGET,
    show_default=True,
    metavar="N",
    help="Maximum size in characters.",
)
@click.option("--out", metavar="FILE.md", help="Write the prompt to this file.")
@runs_option
@json_option
def prompt(
    name: str | None,
    refs: tuple[str, ...],
    assignments: tuple[str, ...],
    budget: int,
    out: str | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Print a prompt for an assistant: what to look at, which commands to use, what counts as evidence, and
    the data of the runs within a size budget. Without NAME, list the prompts and their arguments.

    Names, home directories and secrets are replaced, and everything that comes from a run is marked as data.
    Without runs, a prompt is about the last one or the last five.

    \b
    gymnast prompt                             the prompts and their arguments
    gymnast prompt debug @last                 why did it fail?
    gymnast prompt plan base wide --arg goal="solve it in half the steps"
    gymnast prompt review base wide --budget 40000 --out prompt.md
    gymnast prompt next-steps                  what to try next, from the newest runs
    """
    if name is None:
        listed = api.prompts()
        echo_json(listed) if as_json else click.echo(_list_text(listed))
        return
    filled = api.prompt(
        name, refs, arguments=_arguments(assignments), budget=budget, runs_dir=runs_dir
    )
    if out is not None:
        write_text(out, filled.text)
    if as_json:
        echo_json(filled)
    else:
        click.echo(filled.text if out is None else out, nl=out is not None)


def _arguments(assignments: Sequence[str]) -> dict[str, str]:
    """Returns the values of --arg. Raises UsageError for one without `=`."""
    arguments: dict[str, str] = {}
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        if not separator:
            raise UsageError(f"--arg {assignment!r} has no value", fix="--arg NAME=TEXT")
        arguments[key] = text
    return arguments


def _list_text(prompts: Sequence[PromptInfo]) -> str:
    """Returns a line per prompt, and one per argument."""
    rows: list[tuple[str, str]] = []
    for prompt in prompts:
        rows.append((prompt.name, prompt.description))
        rows += [
            (f"  --arg {argument.name}=...", f"{argument.description} Default: {argument.default}.")
            for argument in prompt.arguments
        ]
    return formatting.table(("prompt", "what it asks for"), rows)
