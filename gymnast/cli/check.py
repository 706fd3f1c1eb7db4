"""`gymnast check`: tests an environment against the Gymnasium API, and presets against their environments."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.cli.options import echo_json, json_option, parse_assignments, runs_option, skips_count
from gymnast.cli.tasks import wait_for
from gymnast.errors import UsageError
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.check.finding import CheckReport, Finding
    from gymnast.tasks import TaskProgress

SKIPPED = 3
"""Exit code if nothing failed but some presets could not be tested."""


@click.command()
@click.argument("targets", nargs=-1, metavar="[ENV[:VARIANT]]")
@click.option("--all", "every", is_flag=True, help="Test presets: train, evaluate, replay, facts.")
@click.option("--steps", type=click.IntRange(min=10), help="Number of random steps. Default: 2000.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of actions and episodes.")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a value.")
@click.option(
    "--allow", multiple=True, metavar="CHECK", help="Report this check as a note, not as wrong."
)
@click.option("--no-skips", is_flag=True, help="With --all: count skipped presets as failed.")
@runs_option
@json_option
def check(
    targets: tuple[str, ...],
    every: bool,
    steps: int | None,
    seed: int,
    assignments: tuple[str, ...],
    allow: tuple[str, ...],
    no_skips: bool,
    runs_dir: str | None,
    as_json: bool,
) -> int:
    """Step an environment with random actions and report what is wrong with it, where, and what that
    means for training.

    \b
    gymnast check CartPole-v1
    gymnast check py:my_env.env:MyEnv --steps 10000
    gymnast check LunarLander-v3:continuous --json
    gymnast check py:my_env.env:MyEnv --set 'facts.reward=[-1, 1]' --allow "time limit"
    gymnast check --all                     every built-in preset
    gymnast check --all CartPole-v1 Taxi-v4:ppo

    Exit code: 1 if something is wrong. With --all, 3 if nothing failed but some presets were skipped
    because a package is missing (1 with --no-skips or GYMNAST_NO_SKIPS=1).
    """
    if every:
        if assignments:
            raise UsageError("--all tests presets without overrides", fix="omit --set")
        strict = skips_count(no_skips)
        return _presets(targets, steps, seed, allow, strict=strict, as_json=as_json)
    if len(targets) != 1:
        raise UsageError("expected one environment or --all")
    task = api.check(
        targets[0], steps=steps, seed=seed, overrides=parse_assignments(assignments), allow=allow
    )
    report = wait_for(task, "checking")
    if as_json:
        echo_json(report)
    else:
        click.echo("\n".join(_page(report)))
    return 1 if report.wrong else 0


def _page(report: CheckReport) -> Iterator[str]:
    """Yields the text of a report: a line per check, the details of each error, and the verdict."""
    episodes = formatting.count_noun(report.episodes, "episode")
    yield f"{report.target}: {report.steps:,} random steps, {episodes}\n"
    lines = [
        (f.verdict, f.check, f.what.splitlines()[0] if f.what else "") for f in report.findings
    ]
    head = ("", "check", "result")
    yield formatting.table(head, [(_WORD[verdict], *rest) for verdict, *rest in lines])
    for finding in report.errors:
        yield ""
        yield from _details(finding)
    yield ""
    verdict = "nothing is wrong"
    if report.wrong:
        verdict = f"{formatting.count_noun(report.wrong, 'thing')} wrong"
    warnings = formatting.count_noun(report.warnings, "warning")
    yield f"{verdict}, {warnings}" if report.warnings else verdict


_WORD = {"ok": "ok", "wrong": "WRONG", "warning": "WARN", "note": "note"}


def _details(finding: Finding) -> Iterator[str]:
    """Yields the lines about one error: what is wrong, where, what it means for training, and the
    traceback if the environment raised an exception."""
    yield f"WRONG {finding.check}: {finding.what}"
    if finding.where:
        yield f"  where: {finding.where}"
    yield f"  means: {finding.means}"
    if finding.traceback:
        yield from (f"  | {line}" for line in finding.traceback.splitlines())


def _presets(
    targets: tuple[str, ...],
    steps: int | None,
    seed: int,
    allow: tuple[str, ...],
    *,
    strict: bool,
    as_json: bool,
) -> int:
    """Tests presets, prints an outcome per preset and returns the exit code: 1 if one failed,
    SKIPPED if some were only skipped (1 if `strict`), else 0.

    `targets`: presets `ENV[:VARIANT]`; empty means all built-in ones. `steps`: random steps per
    preset; None means the default."""

    def print_line(update: TaskProgress) -> None:
        # In a terminal there is a progress bar instead, and the lines follow at the end.
        if update.text and not as_json and not sys.stderr.isatty():
            click.echo(update.text)

    task = api.check_all(targets, steps=steps, seed=seed, allow=allow)
    report = wait_for(task, "testing presets", print_line)
    if as_json:
        echo_json(report)
    else:
        if sys.stderr.isatty():
            width = max(len(outcome.target) for outcome in report.presets)
            click.echo("\n".join(outcome.line(width) for outcome in report.presets))
        counts = f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped"
        click.echo(f"\n{counts}")
    if report.failed or (report.skipped and strict):
        return 1
    return SKIPPED if report.skipped else 0
