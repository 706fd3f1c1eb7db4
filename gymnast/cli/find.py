"""`gymnast find` and `docs`: search everything that has a name, and read the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api.find import KINDS
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    from gymnast.find.find import Found
    from gymnast.find.sources import Kind


@click.command()
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option(
    "--kind", type=click.Choice(KINDS), help="Only this kind. Default: all, the best match first."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Matches.",
)
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Leave out the first N."
)
@runs_option
@json_option
def find(
    words: tuple[str, ...],
    kind: Kind | None,
    limit: int,
    offset: int,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Search presets, environments, metrics, settings, documentation and runs.

    Misspelled words find similar ones.

    \b
    gymnast find learning rate
    gymnast find continuous actions --kind preset
    gymnast find entorpy
    """
    found = api.find(" ".join(words), kind=kind, limit=limit, offset=offset, runs_dir=runs_dir)
    if as_json:
        echo_json(found)
        return
    click.echo(_counts(found))
    for hit in found.hits:
        click.echo(f"\n{hit.name} ({hit.kind})\n  {hit.text}\n  {hit.more}")
    if found.cursor is not None:
        click.echo(f"\nmore: --offset {found.cursor}")


@click.command()
@click.argument("page", default="")
@runs_option
@json_option
def docs(page: str, runs_dir: str | None, as_json: bool) -> None:
    """Print a page of the documentation, or a section of one; without PAGE, the index.

    \b
    gymnast docs
    gymnast docs live-control
    gymnast docs presets#schedules
    """
    text = api.docs(page)
    if as_json:
        echo_json(text)
    else:
        click.echo(text.text, nl=False)


def _counts(found: Found) -> str:
    counts = ", ".join(count_noun(count, kind) for kind, count in found.counts.items())
    instead = "; ".join(
        f"nothing has {word!r}, searched for {' or '.join(others)}"
        for word, others in found.corrected.items()
    )
    return (counts or "nothing found") + (f" ({instead})" if instead else "")
