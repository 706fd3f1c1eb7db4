"""`gymnast nightly`: unattended checks with one report and one exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from gymnast.api import foreground
from gymnast.api.nightly import DEFAULT_MINUTES
from gymnast.cli.options import echo_json, json_option, runs_option, skips_count, write_text

if TYPE_CHECKING:
    from gymnast.nightly.record import NightlyReport


@click.command()
@click.argument("steps", nargs=-1, metavar="[STEP]...")
@click.option("--report", "file", metavar="FILE.md", help="Write the report to this file.")
@click.option(
    "--minutes",
    type=float,
    default=DEFAULT_MINUTES,
    show_default=True,
    help="Time for all steps together.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    metavar="N",
    help="Where the rotating samples start. Default: by date.",
)
@click.option(
    "--dispatch",
    metavar="NAME",
    help="Pass every finding to this command of the settings file, on standard input.",
)
@click.option("--no-skips", is_flag=True, help="Count a step that is skipped as not run.")
@runs_option
@json_option
def nightly(
    steps: tuple[str, ...],
    file: str | None,
    minutes: float,
    seed: int | None,
    dispatch: str | None,
    no_skips: bool,
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Check everything without supervision, and write one report.

    The steps are config (all presets are valid), check (every preset trains, evaluates and replays, as
    `gymnast check --all`), reproduce (a sample of the stored results, another one every night) and
    benchmarks (speed ratios, in a checkout). Each runs in child processes, has a deadline, and cannot stop
    the others. A finding is the text of a task: what was observed, the command that shows it again, what to
    do.

    \b
    gymnast nightly                                 about an hour; the report on standard output
    gymnast nightly --report nightly.md --minutes 20
    gymnast nightly config reproduce --seed 3       only these steps
    gymnast nightly --dispatch tracker              one task per finding, see docs/settings.md

    Exit code: 0 if nothing was found, 1 if there are findings, 2 if something could not be run. The report
    is written after every step, so Ctrl-C keeps what there is.
    """
    strict = skips_count(no_skips)
    reports = foreground.nightly_here(
        steps,
        minutes=minutes,
        seed=seed,
        dispatch=dispatch,
        strict=strict,
        on_progress=_Lines().show,
        runs_dir=runs_dir,
    )
    report: NightlyReport | None = None
    for report in reports:
        _write(report, file)
    assert report is not None  # a night has at least one report
    if as_json:
        echo_json(report)
    elif file is None:
        click.echo(_markdown(report), nl=False)
    else:
        click.echo(f"{report.verdict} See {file}")
    return report.exit_code


class _Lines:
    """Progress as lines on standard error; in a terminal, the line of a step is overwritten."""

    def __init__(self) -> None:
        self._step = self._text = ""

    def show(self, step: str, text: str) -> None:
        if sys.stderr.isatty():
            end = "\n" if self._step and step != self._step else ""
            click.echo(f"{end}\r\x1b[K{step}: {text[:100]}", err=True, nl=False)
        elif (step, text) != (self._step, self._text):
            click.echo(f"{step}: {text}", err=True)
        self._step, self._text = step, text


def _write(report: NightlyReport, file: str | None) -> None:
    if file is not None:
        write_text(file, _markdown(report))


def _markdown(report: NightlyReport) -> str:
    from gymnast.nightly.report import report_markdown

    return report_markdown(report)
