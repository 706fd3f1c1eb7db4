"""The parent of a study: decides, announces in the journal, starts, waits, records.

Everything is announced before it happens and recorded after it did, and starting is idempotent. So it does
not matter where the process is killed: the next one repeats at most the step that was under way.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from gymnast.settings import load_settings
from gymnast.sweep import pbt
from gymnast.sweep.decide import (
    BASELINE,
    Decision,
    Done,
    NewTrial,
    Plan,
    Train,
    Wait,
    decide,
    prune_at,
)
from gymnast.sweep.executor import Executor, Work
from gymnast.sweep.history import History, Measurement, Trial, Unit
from gymnast.sweep.journal import Journal
from gymnast.sweep.objective import Points
from gymnast.sweep.options import PROCESS
from gymnast.sweep.process import CommandProposer
from gymnast.sweep.samplers import Proposer, Sampler
from gymnast.sweep.space import Space
from gymnast.sweep.state import Phase, StudyState, result_event, state_of, unit_event

POLL_SECONDS = 0.2
"""Seconds between two looks at the runs, if none of them has ended."""
CONFIRM_SEED = 10_000
"""Seeds of the confirmation are those of the search plus this."""


@dataclass
class Runner:
    """Runs a study in this process until it is over, interrupted or out of time."""

    space: Space
    plan: Plan
    journal: Journal
    executor: Executor
    proposer: Proposer
    name: str = "study"
    """Name of the study, the first part of the names of its runs."""
    source: str = ""
    """The run or RUN:CHECKPOINT that all trials start from; empty: from scratch."""
    should_stop: Callable[[], bool] = lambda: False
    """Asked between two looks at the runs."""
    report: Callable[[StudyState], None] = lambda _: None
    """Called after every change of the state."""
    state: StudyState = field(init=False)
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self.state = state_of(self.journal.events())
        self._started = time.monotonic()
        self._before = self.state.seconds

    @property
    def seconds(self) -> float:
        """Wall time of the study, earlier processes included."""
        return self._before + time.monotonic() - self._started

    def search(self) -> StudyState:
        """Searches until it is over or interrupted; returns the state then."""
        for unit in self._open("search"):
            self.executor.start(self.work("search", unit))
        while not self.state.ended:
            if self.should_stop():
                return self._interrupt("search")
            decision = self._decide()
            if isinstance(decision, Done):
                self._append({"event": "ended", "reason": decision.reason})
            elif isinstance(decision, Wait):
                self._collect("search")
            else:
                self._begin(decision)
        return self.state

    def run_units(self, units: list[Unit]) -> StudyState:
        """Trains units of the confirmation, and returns the state when all are done or it was interrupted.
        Units that are announced already are not announced again."""
        known = {(unit.trial, unit.seed) for unit in self.state.confirm.units}
        for unit in units:
            if (unit.trial, unit.seed) not in known:
                number = len(self.state.confirm.units)
                self._append(unit_event("confirm", replace(unit, number=number), None))
        for unit in self._open("confirm"):
            self.executor.start(self.work("confirm", unit))
        while self._open("confirm"):
            if self.should_stop():
                return self._interrupt("confirm")
            self._collect("confirm")
        return self.state

    def work(self, phase: Phase, unit: Unit) -> Work:
        """Returns a unit with everything that is needed to train it."""
        trial = self.state.search.trials[unit.trial]
        first = self.plan.options.seed + (CONFIRM_SEED if phase == "confirm" else 0)
        source = self.source
        if trial.source is not None:
            source = f"{run_name(self.name, 'search', trial.source, 0)}:latest"
        return Work(
            unit,
            trial.settings,
            trial.assignment,
            first + unit.seed,
            self.plan.budget,
            source,
            run_name(self.name, phase, unit.trial, unit.seed),
            phase == "confirm",
        )

    def _decide(self) -> Decision:
        minutes = self.plan.options.minutes
        if minutes is not None and self.seconds >= 60 * minutes:
            return Wait() if self._open("search") else Done(f"{minutes:g} minutes are over")
        if self.plan.options.mode == "pbt":
            return pbt.decide(self.plan, self.state.search)
        share = 1 - self.plan.options.final_share
        exploring = minutes is None or self.seconds < 60 * minutes * share
        return decide(self.plan, self.state.search, exploring=exploring)

    def _begin(self, decision: NewTrial | Train) -> None:
        """Announces a decision and starts its unit."""
        history = self.state.search
        number = len(history.units)
        if isinstance(decision, Train):
            unit = Unit(number, decision.trial, decision.seed, decision.env_steps)
            self._append(unit_event("search", unit, None))
        else:
            trial = self._propose(decision)
            unit = Unit(number, trial.number, 0, decision.env_steps)
            self._append(unit_event("search", unit, trial))
        self.executor.start(self.work("search", unit))

    def _propose(self, decision: NewTrial) -> Trial:
        """Returns a new trial with what the sampler proposes; the first is the baseline, if there is one."""
        history = self.state.search
        number = len(history.trials)
        if self.plan.options.baseline and number == BASELINE:
            return Trial(number, None, self.space.trial_settings(None))
        # What the decision has seen, not what has arrived since.
        view = history.before(self.plan.options.lookahead) or History(history.trials, history.units)
        if self.plan.options.mode == "pbt":
            assignment = pbt.propose(self.space, self.plan, history, number)
        else:
            assignment = self.proposer.propose(self.space, self.plan, view, number)
        problem = self.space.problem(assignment)
        settings = self.space.trial_settings(assignment)
        return Trial(number, assignment, settings, problem, decision.source)

    def _collect(self, phase: Phase) -> None:
        """Records the results that have arrived; sleeps a moment if there are none."""
        arrived = False
        for unit in self._open(phase):
            work = self.work(phase, unit)
            trial = self.state.search.trials[unit.trial]
            measured = (
                Measurement("failed", problem=trial.problem)
                if trial.problem
                else self._measure(phase, work)
            )
            if measured is not None:
                arrived = True
                self._append(result_event(phase, unit.number, measured, self.seconds))
        if not arrived:
            time.sleep(POLL_SECONDS)

    def _measure(self, phase: Phase, work: Work) -> Measurement | None:
        """Returns the result of a unit, None while it is trained. Prunes it if it is too weak: then its
        result is what was known at the rung where that shows, whenever the run has really stopped."""
        if phase == "confirm" or work.unit.seed == 0:  # only further seeds are pruned
            return self.executor.poll(work)
        at = self._pruned_at(work, self.executor.points(work))
        measured = self.executor.poll(work) if at is None else self.executor.prune(work)
        if measured is None:
            return None
        # Again: the run may have ended since its curve was read, and our speed must not matter.
        at = self._pruned_at(work, measured.points)
        if at is None:
            return measured
        kept = tuple((x, y) for x, y in measured.points if x <= at)
        return replace(measured, ended="pruned", points=kept, env_steps=at)

    def _pruned_at(self, work: Work, points: Points) -> int | None:
        return prune_at(self.plan, self.state.search, work.unit.number, points)

    def _interrupt(self, phase: Phase) -> StudyState:
        """Stops the running units so that they can be continued."""
        for unit in self._open(phase):
            self.executor.interrupt(self.work(phase, unit))
        self._append({"event": "interrupted"})
        return self.state

    def _open(self, phase: Phase) -> list[Unit]:
        """Returns the units without a result."""
        history = self.state.history(phase)
        return [unit for unit in history.units if unit.number not in history.results]

    def _append(self, event: dict[str, object]) -> None:
        event = {**event, "seconds": self.seconds}
        self.journal.append(event)
        self.state = self.state.after(event)
        self.report(self.state)


def run_name(study: str, phase: Phase, trial: int, seed: int) -> str:
    """Returns the name of the run of a seed of a trial."""
    letter = "s" if phase == "search" else "c"
    return f"{study}-{trial:03d}-{letter}{seed}"


def make_proposer(plan: Plan, folder: Path = Path()) -> Proposer:
    """Returns the proposer that the options of a study name. `folder`: the directory of the study, in which a
    command runs. Raises UsageError if the settings file does not have the command."""
    options = plan.options
    if options.sampler != PROCESS:
        return Sampler(options.sampler)
    command = load_settings().propose_command(options.proposer)
    return CommandProposer(options.proposer, command, folder)
