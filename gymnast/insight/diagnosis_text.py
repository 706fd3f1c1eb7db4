"""A diagnosis as text, for the terminal and for reviews."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from gymnast.text.formatting import count_noun

if TYPE_CHECKING:
    from gymnast.insight.causes import LikelyCause
    from gymnast.insight.doctor import Diagnosis
    from gymnast.insight.foreign_record import ForeignDiagnosis

MAX_FINDINGS = 4
"""Maximum number of findings per run that are shown in full."""


def diagnosis_text(diagnosis: Diagnosis) -> str:
    """Returns the text of a diagnosis: outcome, findings, unusual metrics, notes, and the patch if there is
    one."""
    foreign = diagnosis.foreign
    lines = [f"run {diagnosis.run}  {diagnosis.preset}"]
    lines += [] if foreign is None else _source(foreign)
    lines.append(f"  {_verdict(diagnosis)}")
    if diagnosis.healthy:
        lines += [f"  note: a temporary problem: {f.cause}" for f in diagnosis.findings]
    else:
        lines += _findings(diagnosis.findings)
    if diagnosis.unusual:
        lines.append("  unusual metrics, the most unusual first")
        lines += [f"     - {line}" for line in diagnosis.unusual]
    lines += [f"  note: {note}" for note in diagnosis.notes]
    if foreign is not None:
        lines += _checks(foreign)
    elif diagnosis.changes:
        lines += ["", "  patch", f"    {_settings(diagnosis.changes)}"]
        lines.append(
            f"    gymnast doctor {diagnosis.run} --apply    trains with the patch, and compares"
        )
    return "\n".join(lines)


def _source(foreign: ForeignDiagnosis) -> Iterator[str]:
    """Yields what was read, and what is damaged."""
    env = f", {foreign.env}" if foreign.env else ", unknown environment"
    rows = f"{count_noun(foreign.rows, 'row')} up to {foreign.env_steps:,} env steps"
    names = "" if foreign.library in foreign.format else f", names of {foreign.library}"
    yield f"  {foreign.format}{names}{env}: {rows}"
    yield from (f"  damaged: {problem}" for problem in foreign.problems)


def _checks(foreign: ForeignDiagnosis) -> Iterator[str]:
    """Yields which causes were looked for, and why others were not."""
    checked = len(foreign.checked)
    names = f": {', '.join(foreign.checked)}" if checked else ""
    yield f"  checked: {checked} of {checked + len(foreign.not_checked)} known causes{names}"
    for one in foreign.not_checked:
        yield f"  not checked: {one.check}, because the run has no {' and no '.join(one.missing)}"


def _findings(findings: Sequence[LikelyCause]) -> Iterator[str]:
    """Yields the first MAX_FINDINGS findings, numbered, each with its evidence and the settings to
    try; then how many more there are."""
    for rank, finding in enumerate(findings[:MAX_FINDINGS], start=1):
        yield f"  {rank}. {finding.cause}"
        yield from (f"     - {line}" for line in finding.evidence)
        if finding.advice:
            yield f"     {finding.advice}"
        elif finding.changes:
            yield f"     try {_settings(finding.changes)}"
    more = len(findings) - MAX_FINDINGS
    if more > 0:
        yield f"  and {more} more (--json has all)"


def _verdict(diagnosis: Diagnosis) -> str:
    """Returns the outcome of a run in one line, and whether a cause explains it."""
    kind, text = diagnosis.outcome.kind, diagnosis.outcome.text
    if diagnosis.foreign is not None and kind != "unknown":
        return f"{diagnosis.foreign.verdict}: {text}"
    if diagnosis.healthy:
        return f"healthy: {text}"
    labels = {"early": "too early to say", "unknown": "not judged"}
    unexplained = kind == "failed" and not diagnosis.findings
    unexplained = "; no known cause matches" if unexplained else ""
    return f"{labels.get(kind, kind)}: {text}{unexplained}"


def _settings(changes: Mapping[str, object]) -> str:
    return " ".join(f"--set '{key}={value}'" for key, value in changes.items())
