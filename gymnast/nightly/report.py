"""The report of a night: its verdict, its Markdown, and the texts of tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gymnast.insight.report.blocks import Block, Heading, Paragraph, Table
from gymnast.insight.report.markdown import render_markdown
from gymnast.nightly.record import NightlyFinding, NightlyReport, StepReport
from gymnast.privacy.sanitize import Sanitizer
from gymnast.review.run_parts import code_block
from gymnast.text.formatting import count_noun, duration

FINE, FINDINGS, NOT_RUN = 0, 1, 2
"""Exit codes."""
_INCOMPLETE = ("failed", "interrupted", "waiting", "skipped")


def exit_code(steps: Sequence[StepReport], *, strict: bool = False) -> int:
    """Returns 1 if a step found something; else 2 if a step could not be completed or nothing was run at all
    (with `strict`, also if a step was skipped); else 0."""
    states = [step.state for step in steps]
    if any(step.findings and step.state != "failed" for step in steps):
        return FINDINGS
    incomplete = {"failed", "interrupted", "waiting", *(["skipped"] if strict else [])}
    return NOT_RUN if incomplete & {*states} or "passed" not in states else FINE


def verdict(steps: Sequence[StepReport]) -> str:
    """Returns the result of a night in one or two sentences. What was not run is always named: it must not
    look like a success."""
    found = sum(len(step.findings) for step in steps)
    text = (
        f"There {'is' if found == 1 else 'are'} {count_noun(found, 'finding')}."
        if found
        else "Nothing was found."
    )
    groups = {
        "Not complete": [step.name for step in steps if step.state in _INCOMPLETE],
        "Only partly checked": [
            step.name for step in steps if step.partial and step.state not in _INCOMPLETE
        ],
    }
    missing = [f"{title}: {', '.join(names)}." for title, names in groups.items() if names]
    return " ".join([text, *missing])


def cleaned(
    steps: Sequence[StepReport], sanitizer: Sanitizer, context: str
) -> tuple[StepReport, ...]:
    """Returns the reports without names, home directories and secrets, and with the texts of the findings.
    `context`: a sentence about the code and the machine."""
    clean = [sanitizer.record(step) for step in steps]
    return tuple(
        replace(
            step,
            findings=tuple(replace(one, text=task_text(one, context)) for one in step.findings),
        )
        for step in clean
    )


def task_text(finding: NightlyFinding, context: str) -> str:
    """Returns a finding as the text of a task, complete in itself."""
    blocks = [Heading(finding.title, 1), *_finding_blocks(finding), Paragraph(context)]
    return render_markdown(blocks)


def report_markdown(report: NightlyReport) -> str:
    """Returns the report as Markdown."""
    return render_markdown(list(_blocks(report)))


def context_sentence(started: str, version: str, revision: str, machine: str) -> str:
    """Returns the code and the machine of a night in one sentence."""
    code = f"gymnast {version}" + (f" at revision {revision[:12]}" if revision else "")
    changed = " with uncommitted changes" if revision.endswith("-dirty") else ""
    return f"Seen by `gymnast nightly` on {started} UTC, with {code}{changed}, {machine}."


def _blocks(report: NightlyReport) -> Iterator[Block]:
    yield Heading(f"Nightly report of {report.started[:10]}", 1)
    so_far = "" if report.finished else " The night is not over: this is the report so far."
    yield Paragraph(f"**{report.verdict}**{so_far}")
    rows = [
        (s.name, s.title, s.state, s.summary, duration(s.seconds) if s.seconds else "-")
        for s in report.steps
    ]
    yield Table(("step", "what should hold", "result", "in words", "time"), rows)
    if report.findings:
        yield Heading("Findings")
        for number, finding in enumerate(report.findings, start=1):
            yield Heading(f"{number}. {finding.title}", 3)
            yield from _finding_blocks(finding)
    if notes := [(step.name, note) for step in report.steps for note in step.notes]:
        yield Heading("Notes")
        yield Table(("step", "note"), notes)
    if report.dispatched:
        yield Heading("Dispatched")
        sent = [(d.title, "done" if d.ok else "failed", d.answer) for d in report.dispatched]
        yield Table(("finding", "command", "answer"), sent)
    yield Heading("This night")
    where = context_sentence(report.started, report.version, report.revision, report.machine)
    yield Paragraph(
        f"{where} It took {duration(report.seconds)} of {report.minutes:g} minutes. Samples rotate by the "
        f"number of the night, which is {report.seed}: to repeat it, run\n`gymnast nightly --seed "
        f"{report.seed} --minutes {report.minutes:g}`."
    )


def _finding_blocks(finding: NightlyFinding) -> Iterator[Block]:
    yield Paragraph("Observed:")
    yield Paragraph(code_block(finding.observed))
    if finding.command:
        yield Paragraph("To see it again:")
        yield Paragraph(code_block(finding.command, "sh"))
    yield Paragraph(f"To do: {finding.todo}")
