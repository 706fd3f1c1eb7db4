"""`gymnast doctor`: diagnoses a run and suggests a config patch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gymnast import api
from gymnast.api import foreground
from gymnast.cli.options import echo_json, json_option, runs_option

if TYPE_CHECKING:
    from gymnast.insight.causes import LikelyCause
    from gymnast.insight.doctor import Diagnosis
    from gymnast.insight.treatment import Treatment

MAX_FINDINGS = 4
"""Maximum number of findings per run that are printed in full."""


@click.command()
@click.argument("refs", nargs=-1, metavar="RUN [RUN]...")
@click.option(
    "--apply",
    "apply_it",
    is_flag=True,
    help="Train the first run again with the patch, same seed and budget, and compare.",
)
@runs_option
@json_option
def doctor(refs: tuple[str, ...], apply_it: bool, runs_dir: str | None, as_json: bool) -> int:
    """Diagnose what went wrong with a run: causes, evidence, and what to change.

    The outcome comes first: a run that ended below its threshold, or no better than random actions,
    is never healthy. Then follow the likely causes, judged by the run's metrics, its preset, and the
    stored runs of the preset. The patch addresses the first cause; it changes how the agent learns,
    never how it is evaluated. If no known cause matches, unusual metrics are listed.

    \b
    gymnast doctor                     the last run
    gymnast doctor k3jx 7fqa --json
    gymnast doctor @last --apply       train it again with the patch, and compare
    """
    diagnoses = [api.doctor(ref, runs_dir=runs_dir) for ref in refs or ("@last",)]
    treated = None
    if not as_json:
        click.echo("\n\n".join(map(_page, diagnoses)))
    if apply_it and diagnoses[0].changes:
        treated = _apply(refs[0] if refs else "@last", diagnoses[0], runs_dir, quiet=as_json)
    if as_json:
        echo_json({"diagnoses": diagnoses, "treated": treated})
    return 1 if treated is not None and not treated.ok else 0


def _page(diagnosis: Diagnosis) -> str:
    """Returns the text of a diagnosis: outcome, findings, unusual metrics, notes, and the patch if there is
    one."""
    lines = [f"run {diagnosis.run}  {diagnosis.preset}", f"  {_verdict(diagnosis)}"]
    if diagnosis.healthy:
        lines += [f"  note: a temporary problem: {f.cause}" for f in diagnosis.findings]
    else:
        lines += _findings(diagnosis.findings)
    if diagnosis.unusual:
        lines.append("  unusual metrics, the most unusual first")
        lines += [f"     - {line}" for line in diagnosis.unusual]
    lines += [f"  note: {note}" for note in diagnosis.notes]
    if diagnosis.changes:
        lines += ["", "  patch", f"    {_settings(diagnosis.changes)}"]
        lines.append(
            f"    gymnast doctor {diagnosis.run} --apply    trains with the patch, and compares"
        )
    return "\n".join(lines)


def _findings(findings: Sequence[LikelyCause]) -> Iterator[str]:
    """Yields the first MAX_FINDINGS findings, numbered, each with its evidence and the settings to
    try; then how many more there are."""
    for rank, finding in enumerate(findings[:MAX_FINDINGS], start=1):
        yield f"  {rank}. {finding.cause}"
        yield from (f"     - {line}" for line in finding.evidence)
        if finding.changes:
            yield f"     try {_settings(finding.changes)}"
    more = len(findings) - MAX_FINDINGS
    if more > 0:
        yield f"  and {more} more (--json has all)"


def _verdict(diagnosis: Diagnosis) -> str:
    """Returns the outcome of a run in one line, and whether a cause explains it."""
    kind, text = diagnosis.outcome.kind, diagnosis.outcome.text
    if diagnosis.healthy:
        return f"healthy: {text}"
    labels = {"early": "too early to say", "unknown": "not judged"}
    unexplained = kind == "failed" and not diagnosis.findings
    unexplained = "; no known cause matches" if unexplained else ""
    return f"{labels.get(kind, kind)}: {text}{unexplained}"


def _settings(changes: Mapping[str, object]) -> str:
    return " ".join(f"--set '{key}={value}'" for key, value in changes.items())


def _apply(ref: str, diagnosis: Diagnosis, runs_dir: str | None, *, quiet: bool) -> Treatment:
    """Trains the run again with the patch of its diagnosis, and compares the two runs. `quiet` prints nothing
    but errors."""
    report = None if quiet else click.echo
    treated = foreground.treat_here(ref, diagnosis.changes, report=report, runs_dir=runs_dir)
    for text in treated.errors:
        click.echo(text, err=True)
    if treated.run is not None and not quiet:
        from gymnast.cli.compare import comparison_page

        compared = api.compare((diagnosis.run, treated.run), "env_steps", runs_dir=runs_dir)
        click.echo("\n" + comparison_page(compared))
    return treated
