"""`gymnast review`: gives a bundle about a run to a command of the user, and shows stored reviews."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api.review import DEFAULT_BUDGET
from gymnast.cli.confirmation import DECLINED, confirm
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option, write_text
from gymnast.cli.tasks import wait_for
from gymnast.errors import UsageError
from gymnast.text import formatting
from gymnast.text.plain import plain_text

if TYPE_CHECKING:
    from gymnast.review.record import (
        BundlePart,
        Review,
        ReviewContents,
        ReviewList,
        RunsReview,
    )
    from gymnast.runs.episodes import EpisodeInfo, Kind

NO_COMMAND = "no command is configured"
HOW_TO_CONFIGURE = (
    f"{NO_COMMAND} that could read it; name one in the settings file,\n"
    "~/.config/gymnast/settings.yaml (docs/settings.md)"
)


@click.command()
@click.argument("refs", nargs=-1, metavar="[RUN[:CHECKPOINT]] [RUN...]")
@click.option(
    "--last",
    type=int,
    metavar="N",
    help="One document about the N runs that were started last, newest first.",
)
@click.option(
    "--episode",
    "number",
    type=click.IntRange(min=0),
    metavar="N",
    help="Also review stored episode N of the checkpoint.",
)
@click.option(
    "--kind",
    default="eval",
    show_default=True,
    metavar="KIND",
    help="Which stored episodes: eval, confirm, train, fresh or played.",
)
@click.option(
    "--command", metavar="NAME", help="A command of the settings file. Default: its first one."
)
@click.option("--list", "list_only", is_flag=True, help="Show what would be sent; send nothing.")
@click.option(
    "--out", metavar="FILE.md", help="Write the bundle to this file instead of running a command."
)
@click.option(
    "--budget",
    type=int,
    default=DEFAULT_BUDGET,
    show_default=True,
    metavar="N",
    help="Maximum size of the bundle in characters.",
)
@click.option(
    "--show",
    "shown",
    is_flag=False,
    flag_value="",
    metavar="[ID]",
    help="List the stored reviews of the run, or print one.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@runs_option
@allow_code_option
@json_option
def review(
    refs: tuple[str, ...],
    last: int | None,
    number: int | None,
    kind: Kind,
    command: str | None,
    list_only: bool,
    out: str | None,
    budget: int,
    shown: str | None,
    yes: bool,
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Give a bundle about a run to a command of yours, and store its answer with the run.

    The bundle is one Markdown document: status, diagnosis, alerts, settings, charts as text, events and,
    with --episode, the episode with its key moments, steps and some frames. Names, home directories and
    everything that looks like a secret are replaced. The command is named in your settings file
    (docs/settings.md), reads the bundle on standard input and prints a review. Without a command, the
    bundle is written to a file, and nothing leaves this machine.

    With --last, or with several runs or groups of seeds, the document is about all of them: overview,
    comparison, settings that differ, diagnosis, alerts and charts of each. It is printed, or written to
    --out, and given to no command.

    \b
    gymnast review @last --list                what the bundle has; nothing is sent
    gymnast review @last --out bundle.md       only write the bundle
    gymnast review @last:best --episode 0      run the command, after confirmation
    gymnast review @last --show                the stored reviews
    gymnast review --last 5 --out five.md      one document about the last five runs
    gymnast review base wide --budget 20000    about these runs or groups, at most 20,000 characters
    gymnast review logs/ppo_sb3/ --out ppo.md  a run of another program (docs/foreign-runs.md)
    """
    if last is not None or len(refs) > 1:
        single = {"--episode": number, "--command": command, "--show": shown, "--yes": yes or None}
        _refuse([option for option, value in single.items() if value is not None])
        document = api.review_runs(refs, last=last, budget=budget, runs_dir=runs_dir)
        _print_document(document, list_only, out, as_json)
        return 0
    run = refs[0] if refs else "@last"
    if shown is not None:
        _show(api.reviews(run, id=shown, runs_dir=runs_dir), bool(shown), as_json)
        return 0
    asks = out is None and (list_only or not yes)
    if asks:
        contents = api.review_contents(
            run, kind=kind, number=number, command=command, budget=budget, runs_dir=runs_dir
        )
        if list_only:
            echo_json(contents) if as_json else click.echo(contents_text(contents))
            return 0
        if contents.command:
            click.echo(contents_text(contents), err=True)
            command = contents.command  # what was confirmed, whatever the settings file says then
            if not _agreed(contents):
                click.echo("nothing was sent", err=True)
                return DECLINED
    task = api.review(
        run,
        kind=kind,
        number=number,
        command=command,
        confirm=True,
        budget=budget,
        out=out,
        runs_dir=runs_dir,
    )
    done = wait_for(task)
    if as_json:
        echo_json(done)
    else:
        click.echo(review_text(done))
        if not done.command and out is None:
            click.echo(HOW_TO_CONFIGURE)
    return 0


def contents_text(contents: ReviewContents) -> str:
    """Returns the parts of a bundle with their sizes, and who would receive it."""
    about = f"run {contents.run}{_about(contents.checkpoint, contents.episode)}"
    frames = f", {formatting.count_noun(len(contents.frames), 'frame')}" if contents.frames else ""
    if contents.command:
        receiver = f"would be given to the command {contents.command}"
    else:
        receiver = f"would be written to a file, because {NO_COMMAND}"
    return f"{about}\n{_parts_table(contents.parts)}\n{contents.chars:,} characters{frames}; {receiver}"


def review_text(done: Review) -> str:
    """Returns the answer of a command and where it is stored; without a command, where the bundle is."""
    if not done.command:
        return done.bundle
    note = f"\n({done.cut})" if done.cut else ""
    where = f"stored as review {done.id} of {done.run}"
    if not done.bundle:
        where = f"not stored, because {done.run} is a run of another program"
    return f"{plain_text(done.answer)}{note}\n\n{where}"


def _refuse(options: list[str]) -> None:
    """Raises UsageError if there are options for reviews of one run."""
    if options:
        problem = f"{', '.join(options)} cannot be used for several runs"
        fix = "name one run; or print the document, and give it to a program with |"
        raise UsageError(problem, fix=fix)


def _print_document(document: RunsReview, list_only: bool, out: str | None, as_json: bool) -> None:
    """Prints a document about several runs, or writes it to `out`; with `list_only`, prints its parts."""
    if out is not None and not list_only:
        write_text(out, document.text)
    if as_json:
        echo_json(document)
    elif list_only:
        runs = f"{formatting.count_noun(len(document.runs), 'run')}: {', '.join(document.runs)}"
        click.echo(f"{runs}\n{_parts_table(document.parts)}\n{document.chars:,} characters")
    elif out is not None:
        click.echo(out)
    else:
        click.echo(document.text, nl=False)


def _parts_table(parts: Sequence[BundlePart]) -> str:
    rows = [(part.name, f"{part.chars:,}", part.cut) for part in parts]
    return formatting.table(("part", "characters", ""), rows, right="characters")


def _show(stored: ReviewList, one: bool, as_json: bool) -> None:
    """Prints the list of reviews, or the only one in full."""
    if stored.problem:
        click.echo(f"warning: {stored.problem}", err=True)
    if as_json:
        echo_json(stored.reviews[0] if one else stored)
    elif one:
        (review,) = stored.reviews
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(review.created))
        about = _about(review.checkpoint, review.episode)
        by = f"by {review.command}" if review.command else "not given to a command"
        text = plain_text(review.answer) if review.command else review.bundle
        click.echo(f"{review.id}  {made}  {by}{about}\n\n{text}")
    else:
        click.echo(_list_text(stored))


def _list_text(stored: ReviewList) -> str:
    """Returns a line per review: id, command, subject and the first line of the answer."""
    if not stored.reviews:
        return f"{stored.run} has no reviews"
    rows = [
        (
            one.id,
            one.command or "-",
            _about(one.checkpoint, one.episode).removeprefix(", ") or "run",
            plain_text(one.answer).partition("\n")[0][:60] if one.command else one.bundle,
        )
        for one in stored.reviews
    ]
    return formatting.table(("id", "command", "about", "answer"), rows)


def _about(checkpoint: int | None, episode: EpisodeInfo | None) -> str:
    """Returns the checkpoint or the episode that a review is about; empty if it is about the run."""
    if episode is not None:
        return f", {episode.kind} episode {episode.number} at {episode.version:,} env steps"
    return "" if checkpoint is None else f", checkpoint at {checkpoint:,} env steps"


def _agreed(contents: ReviewContents) -> bool:
    """Asks whether to send a bundle. Raises UsageError if stdin ends without an answer and is no terminal."""
    try:
        return confirm(f"give {contents.chars:,} characters to {contents.command}?")
    except click.Abort:
        if sys.stdin.isatty():
            raise
        fix = "use --yes, or --list to only see what would be sent"
        raise UsageError("nothing was sent: confirmation needs a terminal", fix=fix) from None
