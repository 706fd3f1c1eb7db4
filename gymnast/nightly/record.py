"""The records of a night. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

StepState = Literal["waiting", "passed", "findings", "failed", "skipped", "interrupted"]
"""`failed`: it could not be completed, so that it says nothing about what it did not reach; `skipped`: it was
not run, for a reason that is not a problem; `waiting`: its turn has not come."""


@dataclass(frozen=True)
class NightlyFinding:
    """Something that a person or an assistant should look at."""

    title: str
    """One line: what is wrong, and where."""
    observed: str
    """The observation, with numbers."""
    command: str
    """The command that shows it again."""
    todo: str
    """The work that it asks for."""
    step: str = ""
    """Name of the step that found it."""
    text: str = ""
    """All of this as Markdown, which is complete without the report: the text of a task."""


@dataclass(frozen=True)
class JobResult:
    """The result of one job of a step."""

    done: int
    """Number of things that were checked."""
    findings: tuple[NightlyFinding, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences for the report that are no findings."""
    skipped: tuple[str, ...] = ()
    """Things that could not be checked, each with the reason."""


@dataclass(frozen=True)
class StepReport:
    """The result of one step."""

    name: str
    title: str
    """The claim that the step checks, in words."""
    state: StepState
    summary: str
    """The result in one sentence; if the step was not run, the reason."""
    seconds: float = 0.0
    """Wall time."""
    findings: tuple[NightlyFinding, ...] = ()
    """Findings; those about jobs that could not be completed are at the end."""
    notes: tuple[str, ...] = ()
    """Other sentences about the result, such as what was left out."""
    partial: bool = False
    """Whether it left something out that it should have checked, for lack of time or of a package."""


@dataclass(frozen=True)
class DispatchedFinding:
    """A finding that was passed to a command of the user."""

    title: str
    """Title of the finding."""
    ok: bool
    """Whether the command succeeded."""
    answer: str
    """The output of the command, or the reason why it failed; shortened."""


@dataclass(frozen=True)
class NightlyReport:
    """The report of a night, complete or so far."""

    started: str
    """Date and time in UTC, as `2026-11-18 02:00`."""
    seconds: float
    """Wall time so far."""
    minutes: float
    """The time that was allowed."""
    seed: int
    """Number of the night: it decides where the rotating samples start."""
    version: str
    """Version of gymnast."""
    revision: str
    """Commit of the code; empty if it is unknown."""
    machine: str
    """CPU model and number of cores."""
    steps: tuple[StepReport, ...]
    """One report per step, in order."""
    finished: bool
    """Whether every step has had its turn."""
    exit_code: int
    """0: nothing was found; 1: there are findings; 2: there are none, but something could not be run."""
    verdict: str
    """The result in one sentence."""
    dispatched: tuple[DispatchedFinding, ...] = field(default=())
    """The findings that were passed to a command."""

    @property
    def findings(self) -> tuple[NightlyFinding, ...]:
        return tuple(finding for step in self.steps for finding in step.findings)
