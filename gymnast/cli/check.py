"""`gymnast check`: tests an environment against the Gymnasium API, and presets against their environments."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from gymnast.cli.options import echo_json, json_option, runs_option
from gymnast.cli.progress import progress
from gymnast.errors import UsageError
from gymnast.processes.env_output import separate_env_output
from gymnast.text import formatting

if TYPE_CHECKING:
    from gymnast.check.finding import Finding, Report
    from gymnast.check.presets import Outcome

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
    from gymnast.check.finding import CHECKS
    from gymnast.text.suggestions import did_you_mean

    for name in allow:
        if name not in CHECKS:
            problem = f"there is no check {name!r}{did_you_mean(name, CHECKS)}"
            raise UsageError(problem, fix=f"the checks are {', '.join(CHECKS)}")
    if every:
        if assignments:
            raise UsageError("--all tests presets without overrides", fix="omit --set")
        strict = no_skips or bool(os.environ.get("GYMNAST_NO_SKIPS"))
        return _presets(targets, steps, seed, allow, strict=strict, as_json=as_json)
    if len(targets) != 1:
        raise UsageError("expected one environment or --all")
    return _environment(targets[0], steps, seed, assignments, allow, as_json=as_json)


def _environment(
    target: str,
    steps: int | None,
    seed: int,
    assignments: tuple[str, ...],
    allow: tuple[str, ...],
    *,
    as_json: bool,
) -> int:
    """Checks one environment with random steps, prints the report and returns the exit code: 1 if
    something is wrong, else 0.

    `steps`: None means the default. `assignments`: KEY=VALUE overrides of the config. `allow`:
    names of checks that are reported as notes instead of errors."""
    from gymnast.check.environment import STEPS, check_environment
    from gymnast.check.matches.matches import check_matches
    from gymnast.config.families import is_multi_agent
    from gymnast.config.resolve import parse_assignment
    from gymnast.envs.build.defaults import resolve_for_spaces

    with separate_env_output(), progress("checking") as bar:
        resolved = resolve_for_spaces(target, dict(map(parse_assignment, assignments)))
        run_checks = check_matches if is_multi_agent(resolved.config.env.id) else check_environment
        report = run_checks(
            resolved.preset, resolved.config, steps=steps or STEPS, seed=seed, on_progress=bar
        )
    report = report.with_allowed(allow)  # changes the verdict, not which checks run
    if as_json:
        echo_json(report.as_json())
    else:
        click.echo("\n".join(_page(report)))
    return 1 if report.errors else 0


def _page(report: Report) -> Iterator[str]:
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
    errors, warnings = len(report.errors), len(report.warnings)
    verdict = (
        "nothing is wrong" if not errors else f"{formatting.count_noun(errors, 'thing')} wrong"
    )
    yield f"{verdict}, {formatting.count_noun(warnings, 'warning')}" if warnings else verdict


_WORD = {"ok": "ok", "wrong": "WRONG", "warning": "WARN", "note": "note"}


def _details(finding: Finding) -> Iterator[str]:
    """Yields the lines about one error: what is wrong, where, what it means for training, and the
    traceback if the environment raised an exception."""
    yield f"WRONG {finding.check}: {finding.what}"
    if finding.where:
        yield f"  where: {finding.where}"
    yield f"  means: {finding.consequence}"
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
    from gymnast.check.presets import STEPS, check_presets, preset_targets

    names = preset_targets(targets)
    outcomes: list[Outcome] = []
    width = max(map(len, names))
    with separate_env_output() as out, progress("testing presets") as bar:
        for outcome in check_presets(names, steps=steps or STEPS, seed=seed, allow=allow):
            outcomes.append(outcome)
            bar(len(outcomes), len(names))
            if not as_json and not sys.stderr.isatty():  # no progress bar: print each line at once
                click.echo(_line(outcome, width), file=out)
    failed = [o for o in outcomes if o.verdict == "failed"]
    skipped = [o for o in outcomes if o.verdict == "skipped"]
    passed = len(outcomes) - len(failed) - len(skipped)
    if as_json:
        counts = {"passed": passed, "failed": len(failed), "skipped": len(skipped)}
        echo_json({**counts, "presets": [outcome.as_json() for outcome in outcomes]})
    else:
        if sys.stderr.isatty():
            click.echo("\n".join(_line(outcome, width) for outcome in outcomes))
        click.echo(f"\n{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    if failed or (skipped and strict):
        return 1
    return SKIPPED if skipped else 0


def _line(outcome: Outcome, width: int) -> str:
    word = outcome.verdict if outcome.verdict == "passed" else outcome.verdict.upper()
    line = f"{outcome.target:<{width}}  {word:<7}  {outcome.seconds:4.1f} s  {outcome.reason}"
    return line.rstrip()
