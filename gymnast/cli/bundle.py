"""`gymnast bundle`: writes a small archive of a run for a bug report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.bundle.record import BundleContents


@click.command()
@click.argument("run", default="@last", metavar="[RUN[:CHECKPOINT]]")
@click.option(
    "--out",
    metavar="FILE.zip",
    help="The archive, or a directory for it. Default: RUN-bundle.zip in the current directory.",
)
@click.option(
    "--checkpoint",
    metavar="best|latest|STEP|none",
    help="The checkpoint to include. Default: the best, else the latest.",
)
@click.option(
    "--max-size",
    default="20MB",
    show_default=True,
    metavar="SIZE",
    help="Maximum size of the archive; what does not fit is left out.",
)
@click.option("--list", "list_only", is_flag=True, help="Only list the contents; write nothing.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@runs_option
@json_option
def bundle(
    run: str,
    out: str | None,
    checkpoint: str | None,
    max_size: str,
    list_only: bool,
    force: bool,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Write a small archive of a run for a bug report: log, config, metrics, events, versions, a checkpoint.

    Secrets, names and home directories are replaced; environment variables are never included. The contents
    are listed first. What does not fit is left out, the least important part first. The run may be
    training. On another machine, `gymnast show FILE` opens the archive; rows, doctor and report read it too.

    \b
    gymnast bundle @last --list                what it has and what is left out; nothing is written
    gymnast bundle @last
    gymnast bundle k3jx:latest --out bug.zip --max-size 5MB
    gymnast show bug.zip
    """
    size = _parse_size(max_size)
    if list_only or not as_json:
        contents = api.bundle_contents(run, checkpoint=checkpoint, max_size=size, runs_dir=runs_dir)
        echo_json(contents) if as_json else click.echo(contents_text(contents))
    if list_only:
        return
    written = api.bundle(
        run, out=out, checkpoint=checkpoint, max_size=size, force=force, runs_dir=runs_dir
    )
    if as_json:
        echo_json(written)
    else:
        click.echo(f"written to {written.path}; open it with: gymnast show {written.path}")


def contents_text(contents: BundleContents) -> str:
    """Returns the files of a bundle with their sizes, and what is left out."""
    rows = [(f.part, f.name, formatting.size(f.size), f.note) for f in contents.files]
    lines = [
        f"run {contents.run}, {contents.status}",
        formatting.table(("part", "file", "size", ""), rows, right="size"),
    ]
    if contents.left_out:
        missing = [(one.name, formatting.size(one.size), one.reason) for one in contents.left_out]
        lines += ["", formatting.table(("left out", "size", "because"), missing, right="size")]
    total = formatting.count_noun(len(contents.files), "file")
    archive = formatting.size(contents.size)
    lines += ["", f"{total}, {archive} compressed (maximum {formatting.size(contents.max_size)})"]
    return "\n".join(lines)


def _parse_size(text: str) -> int:
    try:
        return formatting.parse_size(text)
    except ValueError as error:
        raise UsageError(f"--max-size: {error}", fix="write 500kB, 20MB or 1GB") from None
