"""`gymnast inspect`: a stored episode step by step, in the studio or as text."""

from __future__ import annotations

import os
import shutil
import sys
import webbrowser
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click

from gymnast import api
from gymnast.cli.options import allow_code_option, echo_json, json_option, runs_option, write_text
from gymnast.cli.studio import background_link
from gymnast.errors import UsageError
from gymnast.runs.episode_kinds import KINDS, Kind
from gymnast.text.formatting import number, table

if TYPE_CHECKING:
    from gymnast.api.episodes import EpisodePage
    from gymnast.runs.episodes import EpisodeInfo

PIPE_WIDTH = 200
"""Width of the text in a file or a pipe, which has no width of its own."""


@click.command()
@click.argument("run", metavar="RUN[:CHECKPOINT]", default="@last")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="eval",
    show_default=True,
    help="Which stored episodes: of training, of evaluations, fresh ones or those of a person.",
)
@click.option(
    "--episode",
    type=click.IntRange(min=0),
    metavar="N",
    help="Number of the episode. Default: the first; of fresh and played ones, the newest.",
)
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Start at this step.")
@click.option("--role", default="", help="Of a match: the role. Default: the first that learned.")
@click.option(
    "--seat", type=click.IntRange(min=0), default=0, help="Of a match: the seat of the role."
)
@click.option("--text", "as_text", is_flag=True, help="Print timeline, key moments and steps.")
@click.option("--csv", "csv_file", metavar="FILE", help="Write all steps as CSV; - prints them.")
@click.option("--list", "as_list", is_flag=True, help="List the stored episodes of this kind.")
@click.option(
    "--open/--no-open",
    "open_browser",
    default=None,
    help="Open the page in the browser. Default: on a terminal of a desktop.",
)
@runs_option
@allow_code_option
@json_option
def inspect(
    run: str,
    kind: Kind,
    episode: int | None,
    step: int | None,
    role: str,
    seat: int,
    as_text: bool,
    csv_file: str | None,
    as_list: bool,
    open_browser: bool | None,
    runs_dir: str | None,
    as_json: bool,
) -> None:
    """Step through a stored episode: what the policy saw, did and expected.

    Opens the episode's page in the studio and prints its link. The studio is started in the background
    unless one serves these runs already, and ends by itself. With --text, it prints the return, a timeline of
    value and reward, the key moments and the steps around them; --step shows those around a step.

    Without a checkpoint, the episode is one of the best checkpoint.

    \b
    gymnast inspect @last
    gymnast inspect @last:120k --episode 3 --text
    gymnast inspect @last --kind train --text --step 40
    gymnast inspect @last --csv steps.csv
    gymnast inspect @last --list --kind confirm     return and length of every stored episode
    """
    if as_list:
        _print_list(api.episodes(run, kind=kind, runs_dir=runs_dir), as_json)
        return
    found = api.find_episode(run, kind, number=episode, role=role, seat=seat, runs_dir=runs_dir)
    where = (found.run, kind, found.version, found.number)
    if csv_file is not None:
        _write_csv(csv_file, where, role, seat, runs_dir)
    if as_text or as_json:
        inspection = api.inspect(*where, role=role, seat=seat, runs_dir=runs_dir)
        if step is not None and step >= len(inspection.table["step"]):
            steps = len(inspection.table["step"])
            problem = f"the episode has no step {step}: it has {steps:,} steps"
            raise UsageError(problem, fix=f"use 0 to {steps - 1}")
        if as_json:
            echo_json(inspection)
        else:
            from gymnast.inspector.text import inspection_text

            width = shutil.get_terminal_size().columns if _is_terminal() else PIPE_WIDTH
            click.echo(inspection_text(inspection, step=step, width=width))
    elif csv_file is None:
        page = f"run/{found.path.name}/episodes/{kind}-{found.version}-{found.number}"
        query = urlencode({k: v for k, v in (("role", role), ("seat", seat), ("step", step)) if v})
        link = background_link(runs_dir)(f"{page}?{query}" if query else page)
        click.echo(link)
        if open_browser is None:
            open_browser = _is_terminal() and _has_desktop()
        if open_browser:
            webbrowser.open(link.removeprefix("studio: "))


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _has_desktop() -> bool:
    """Returns whether windows can be opened. Without them, `webbrowser` may start a browser that runs in the
    terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def _write_csv(
    file: str, where: tuple[str, Kind, int, int], role: str, seat: int, runs_dir: str | None
) -> None:
    """Writes the steps of an episode to a file, or prints them."""
    text = api.steps_csv(*where, role=role, seat=seat, runs_dir=runs_dir)
    if file == "-":
        click.echo(text, nl=False)
        return
    write_text(file, text)
    click.echo(f"wrote {text.count(chr(10)) - 1:,} steps to {file}", err=True)


def _print_list(page: EpisodePage, as_json: bool) -> None:
    """Prints the stored episodes, newest policy first."""
    if as_json:
        echo_json(page)
        return
    lines = [
        (
            f"{one.version:,}",
            str(one.number),
            _return_text(one),
            f"{one.length:,}",
            one.outcome,
        )
        for one in page.episodes
    ]
    head = ("policy at", "episode", "return", "steps", "outcome")
    click.echo(table(head, lines, right="episode return steps") if lines else "none is stored")


def _return_text(episode: EpisodeInfo) -> str:
    if episode.raw_return is not None:
        return number(episode.raw_return)
    return ", ".join(f"{role} {number(value)}" for role, value in episode.returns.items())
