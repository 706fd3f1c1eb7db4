"""`gymnast runs rm`, `prune`, `tag` and `note`: delete, tag and annotate runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gymnast.cli.confirmation import confirm
from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.errors import UsageError
from gymnast.runs import store
from gymnast.runs.run import Run

if TYPE_CHECKING:
    from gymnast.runs.summary import RunSummary

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
    from gymnast.runs import removal

    directory = store.runs_dir(runs_dir)
    # By path, so that a run given twice, e.g. as its id and as @last, is deleted once.
    runs = {run.path.resolve(): run for run in (_resolve_run(ref, directory) for ref in refs)}
    for run in runs.values():
        removal.ensure_not_running(run)
    listed = {str(Path(run.path).resolve()): run for run in store.list_runs(directory)}
    to_delete = [listed.get(str(path)) or _unlisted(run) for path, run in runs.items()]
    _remove(to_delete, {}, directory, yes=yes, dry_run=dry_run, as_json=as_json)


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
    include: tuple[str, ...],
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
    from gymnast.runs import removal

    if not (words or keep or older or status or unsolved):
        fix = "add a filter, --keep, --older, --status or --unsolved"
        raise UsageError("no condition: which runs to prune?", fix=fix)
    directory = store.runs_dir(runs_dir)
    choice = removal.PruneFilter(
        min_age=removal.parse_age(older) if older else None,
        status=_statuses(status),
        only_unsolved=unsolved,
        keep=keep or 0,
        ignored_protections=include,
    )
    # All runs are needed even with a filter: what is protected (@best, parents) depends on the others.
    every = store.list_runs(directory)
    matching = store.list_runs(directory, " ".join(words)) if words else every
    to_delete, kept = removal.select_prunable(every, choice, matching)
    _remove(to_delete, kept, directory, yes=yes, dry_run=dry_run, as_json=as_json)


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
    run = _resolve_run(ref, store.runs_dir(runs_dir))
    if tags:
        run.tag(tags, remove=remove)
    now = run.info["tags"]
    if as_json:
        echo_json({"id": run.id, "tags": now})
    else:
        click.echo(f"{run.id}: {', '.join(now) or 'no tags'}")


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
    run = _resolve_run(ref, store.runs_dir(runs_dir))
    if text is not None:
        run.update(note=text.strip())
    now = run.info["note"]
    if as_json:
        echo_json({"id": run.id, "note": now})
    else:
        click.echo(f"{run.id}: {now or 'no note'}")


def _resolve_run(ref: str, directory: Path) -> Run:
    """Returns the run that `ref` names; raises UsageError if it names a checkpoint of the run."""
    run, checkpoint = store.resolve(ref, directory)
    if checkpoint is not None:
        raise UsageError(
            f"{ref} names a checkpoint, but this command needs a run", fix="omit the checkpoint"
        )
    return run


def _statuses(text: str | None) -> tuple[str, ...]:
    """Returns the statuses in the value of --status, separated by commas or spaces; empty without
    the option. Raises UsageError for an unknown status and for that of an active run, which cannot
    be pruned."""
    from gymnast.runs.run import ACTIVE, STATUSES

    known = ("lost", "unreadable", *(status for status in STATUSES if status not in ACTIVE))
    chosen = tuple(word for word in (text or "").replace(",", " ").split())
    for status in chosen:
        if status not in known:
            raise UsageError(
                f"runs cannot be pruned by status {status!r}", fix=f"use {', '.join(known)}"
            )
    return chosen


def _unlisted(run: Run) -> RunSummary:
    """Returns the summary of a run given by its path, outside the runs directory."""
    from gymnast.runs.summary import summarize

    return summarize(run.path, run.info, run.status)


def _remove(
    to_delete: Sequence[RunSummary],
    kept: Mapping[str, str],
    directory: Path,
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Lists the runs, asks for confirmation (unless `yes`), deletes them and prints the result;
    `dry_run` deletes nothing. `kept`: id -> reason, for runs that match but are not deleted."""
    from gymnast.runs import removal
    from gymnast.text import formatting

    to_delete = [replace(run, bytes=removal.run_size(Path(run.path))) for run in to_delete]
    total = formatting.size(sum(run.bytes or 0 for run in to_delete))
    amount = f"{formatting.count_noun(len(to_delete), 'run')}, {total}"
    if not as_json:
        _echo_plan(to_delete, kept, directory)
    agreed = bool(to_delete) and not dry_run and (yes or _agreed(f"delete {amount}?"))
    if agreed:
        removal.delete_trash(directory)  # left by a deletion that was interrupted
        for run in to_delete:
            removal.remove(Run(Path(run.path)))
    if as_json:
        ids = [
            {key: getattr(run, key) for key in ("id", "name", "path", "bytes")} for run in to_delete
        ]
        echo_json({"deleted": agreed, "runs": ids, "kept": dict(kept)})
    elif to_delete:
        click.echo(f"{'deleted' if agreed else 'nothing deleted; would delete'} {amount}")


def _echo_plan(to_delete: Sequence[RunSummary], kept: Mapping[str, str], directory: Path) -> None:
    """Prints the runs to be deleted, with warnings about runs that branched off them and about
    files that gymnast did not write, and the runs that are `kept` (id -> reason)."""
    from gymnast.insight.page import runs_table
    from gymnast.runs import layout, removal

    click.echo(runs_table(to_delete) if to_delete else "no run to delete")
    deleted_ids = {run.id for run in to_delete}
    every = store.list_runs(directory)
    for run in to_delete:
        children = [child for child in removal.children(run.id, every) if child not in deleted_ids]
        if children:
            click.echo(f"{run.id} is the parent of {', '.join(children)}, which is kept")
        foreign = layout.foreign_files(Path(run.path))
        if foreign:
            names = ", ".join(foreign)
            click.echo(
                f"{run.id} has files that gymnast did not write; they are deleted too: {names}"
            )
    for reason in dict.fromkeys(kept.values()):
        ids = [run_id for run_id, why in kept.items() if why == reason]
        click.echo(f"kept, {reason}: {', '.join(ids)}")


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
