"""`gymnast runs rm`, `prune`, `tag` and `note`: delete, tag and annotate runs."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.confirmation import confirm
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.runs.removal import Protection, Removal

if TYPE_CHECKING:
    pass

yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show what would be deleted; delete nothing."
)


@click.command()
@click.argument("refs", nargs=-1, required=True, metavar="RUN...")
@yes_option
@dry_run_option
@runs_option
@json_option
def rm(
    refs: tuple[str, ...], yes: bool, dry_run: bool, runs_dir: str | None, as_json: bool
) -> None:
    """Delete runs permanently, after confirmation. A run that is training cannot be deleted.

    \b
    gymnast runs rm k3jx81qa
    gymnast runs rm try-1 try-2 --yes
    """
    plan = api.remove(refs, dry_run=True, runs_dir=runs_dir)
    _remove(plan, runs_dir, yes=yes, dry_run=dry_run, as_json=as_json)


@click.command()
@click.argument("words", nargs=-1, metavar="[FILTER]...")
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep the newest N of the matching runs.",
)
@click.option("--older", metavar="AGE", help="Only runs created longer ago: 30d, 12h, 2w.")
@click.option(
    "--status", metavar="A,B", help="Only runs with this status: failed, lost, stopped, ..."
)
@click.option("--unsolved", is_flag=True, help="Only runs that did not reach their threshold.")
@click.option(
    "--include",
    type=click.Choice(["tagged", "best", "parent", "foreign"]),
    multiple=True,
    help="Delete these too; they are kept by default. Repeatable.",
)
@yes_option
@dry_run_option
@runs_option
@json_option
def prune(
    words: tuple[str, ...],
    keep: int | None,
    older: str | None,
    status: str | None,
    unsolved: bool,
    include: tuple[Protection, ...],
    yes: bool,
    dry_run: bool,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Delete the runs that match every condition, after confirmation.

    FILTER is as in `gymnast runs`. By default these are kept (see --include): tagged runs, the runs
    that @best and @best:ENV refer to, parents of runs that are kept, and "foreign" runs, whose
    directory has files that gymnast did not write. Active runs are always kept.

    \b
    gymnast runs prune --status failed,lost --dry-run
    gymnast runs prune env=CartPole-v1 --older 30d --unsolved
    gymnast runs prune --keep 20 --yes
    """
    plan = api.prune(
        " ".join(words),
        keep=keep or 0,
        older=older or "",
        status=(status or "").replace(",", " ").split(),
        unsolved=unsolved,
        include=include,
        dry_run=True,
        runs_dir=runs_dir,
    )
    _remove(plan, runs_dir, yes=yes, dry_run=dry_run, as_json=as_json)


@click.command()
@click.argument("ref", metavar="RUN")
@click.argument("tags", nargs=-1, metavar="[TAG]...")
@click.option("--remove", is_flag=True, help="Remove these tags instead.")
@runs_option
@json_option
def tag(ref: str, tags: tuple[str, ...], remove: bool, runs_dir: str | None, as_json: bool) -> None:
    """Tag a run, or show its tags. `gymnast runs tag=TAG` lists tagged runs; prune keeps them.

    \b
    gymnast runs tag @last paper baseline
    gymnast runs tag k3jx81qa baseline --remove
    """
    labels = api.tag(ref, tags, remove=remove, runs_dir=runs_dir)
    if as_json:
        echo_json(labels)
    else:
        click.echo(f"{labels.id}: {', '.join(labels.tags) or 'no tags'}")


@click.command()
@click.argument("ref", metavar="RUN")
@click.argument("text", required=False)
@runs_option
@json_option
def note(ref: str, text: str | None, runs_dir: str | None, as_json: bool) -> None:
    """Set or show the note of a run. An empty text removes it.

    \b
    gymnast runs note @last "twice the width, half the speed"
    gymnast runs note @last
    """
    labels = api.note(ref, text, runs_dir=runs_dir)
    if as_json:
        echo_json(labels)
    else:
        click.echo(f"{labels.id}: {labels.note or 'no note'}")


def _remove(
    plan: Removal, runs_dir: str | None, *, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Lists the runs, asks for confirmation (unless `yes`), deletes them and prints the result; `dry_run`
    deletes nothing."""
    amount = f"{formatting.count_noun(len(plan.runs), 'run')}, {formatting.size(plan.bytes)}"
    if not as_json:
        click.echo(removal_text(plan))
    result = plan
    if plan.runs and not dry_run and (yes or _agreed(f"delete {amount}?")):
        # exactly the runs that were shown, even if others match meanwhile
        removed = api.remove([run.path for run in plan.runs], runs_dir=runs_dir)
        result = replace(plan, deleted=removed.deleted)
    if as_json:
        echo_json(result)
    elif plan.runs:
        click.echo(f"{'deleted' if result.deleted else 'nothing deleted; would delete'} {amount}")


def removal_text(plan: Removal) -> str:
    """Returns the runs to be deleted, with warnings about runs that branched off them and about files that
    gymnast did not write, and the runs that are kept, with the reason."""
    now = time.time()
    head = ("id", "name", "preset", "status", "age", "size")
    rows = [
        (
            run.id,
            run.name,
            run.preset,
            run.status,
            formatting.age(now - run.created),
            formatting.size(run.bytes),
        )
        for run in plan.runs
    ]
    lines = [formatting.table(head, rows, right="age size") if rows else "no run to delete"]
    for run in plan.runs:
        if run.children:
            lines.append(f"{run.id} is the parent of {', '.join(run.children)}, which is kept")
        if run.foreign_files:
            names = ", ".join(run.foreign_files)
            lines.append(
                f"{run.id} has files that gymnast did not write; they are deleted too: {names}"
            )
    for reason in dict.fromkeys(plan.kept.values()):
        ids = [run_id for run_id, why in plan.kept.items() if why == reason]
        lines.append(f"kept, {reason}: {', '.join(ids)}")
    return "\n".join(lines)


def _agreed(question: str) -> bool:
    """Asks the user and returns whether the answer is yes. Raises UsageError if stdin ends without
    an answer and is not a terminal."""
    try:
        return confirm(question)
    except click.Abort:  # Ctrl-C, or the end of stdin: a script without --yes
        if sys.stdin.isatty():
            raise
        fix = "use --yes, or --dry-run to only show the runs"
        raise UsageError("nothing deleted: confirmation needs a terminal", fix=fix) from None
