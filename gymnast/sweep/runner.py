"""The parent of a study: decides, announces in the journal, starts, waits, records.

Everything is announced before it happens and recorded after it did, and starting is idempotent. So it does
not matter where the process is killed: the next one repeats at most the step that was under way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from gymnast.sweep import pbt
from gymnast.sweep.decide import (
    BASELINE,
    TIME_OVER,
    Decision,
    Done,
    NewTrial,
    Plan,
    Train,
    Wait,
    decide,
    prune_at,
)
from gymnast.sweep.executor import Executor, Work, run_name
from gymnast.sweep.history import History, Measurement, Trial, Unit, judged
from gymnast.sweep.journal import Journal
from gymnast.sweep.objective import Points, evaluated_at
from gymnast.sweep.samplers import Proposer
from gymnast.sweep.space import Space
from gymnast.sweep.state import Phase, StudyState, result_event, state_of, unit_event
from gymnast.sweep.time_limit import (
    MIN_SEEDS,
    decision_seconds,
    end_of_search,
    end_of_study,
    seed_fits,
)

POLL_SECONDS = 0.2
"""Seconds between two looks at the runs, if none of them has ended."""
STOP_SECONDS = 4.0
"""How long runs that are asked to stop are waited for, when the time is over."""
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
    jobs: int = 1
    """Number of units that are trained at once."""
    clock: Callable[[], float] = time.monotonic
    """Returns the time in seconds."""
    sleep: Callable[[float], None] = time.sleep
    state: StudyState = field(init=False)

    def __post_init__(self) -> None:
        self.state = state_of(self.journal.events())
        self._started = self.clock()
        self._before = self.state.seconds
        self._search_end = end_of_search(self.plan, self.state, self.jobs)

    @property
    def seconds(self) -> float:
        """Wall time of the study, earlier processes included."""
        return self._before + self.clock() - self._started

    def search(self) -> StudyState:
        """Searches until it is over or interrupted; returns the state then."""
        for unit in self._open("search"):
            self._start("search", unit)
        while not self.state.ended:
            if self.should_stop():
                return self._interrupt("search")
            if self.seconds >= self._search_end:
                self._stop_open("search")
                self._append({"event": "ended", "reason": TIME_OVER})
                break
            decision = self._decide()
            if isinstance(decision, Done):
                self._append({"event": "ended", "reason": decision.reason})
            elif isinstance(decision, Wait):
                self._collect("search")
            else:
                self._begin(decision)
        return self.state

    def confirm(self, units: Sequence[Unit]) -> bool:
        """Trains the units of the confirmation, `jobs` at a time; False if it was interrupted. Units that
        are announced already are not announced again. If the time is short, the last seeds are left out."""
        for unit in self._open("confirm"):
            self._start("confirm", unit)
        while True:
            if self.should_stop():
                self._interrupt("confirm")
                return False
            if self.seconds >= end_of_study(self.plan):
                self._stop_open("confirm")
                self._shorten(units)
                return True
            waiting = [] if self.state.confirm_seeds is not None else self._waiting(units)
            if waiting and len(self._open("confirm")) < self.jobs:
                self._confirm_next(waiting[0], units)
            elif self._open("confirm"):
                self._collect("confirm")
            else:
                return True

    def _confirm_next(self, unit: Unit, units: Sequence[Unit]) -> None:
        """Starts a unit of the confirmation, or leaves its seed and those after it out if they take too
        long."""
        sides = [other for other in units if other.seed == unit.seed]
        may_leave_out = unit.trial == sides[0].trial and unit.seed >= MIN_SEEDS
        if may_leave_out and not seed_fits(
            self.plan, self.state, self.seconds, len(sides), self.jobs
        ):
            self._append({"event": "shortened", "seeds": unit.seed})
            return
        unit = replace(unit, number=len(self.state.confirm.units))
        self._append(unit_event("confirm", unit, None))
        self._start("confirm", unit)

    def _waiting(self, units: Sequence[Unit]) -> list[Unit]:
        """Returns the units of the confirmation that have to be announced."""
        known = {(unit.trial, unit.seed) for unit in self.state.confirm.without_stopped()}
        return [unit for unit in units if (unit.trial, unit.seed) not in known]

    def _shorten(self, units: Sequence[Unit]) -> None:
        """Records on how many seeds all trials were confirmed, if it is not all of them."""
        missing = {unit.seed for unit in self._waiting(units)}
        if missing:
            seeds = len({unit.seed for unit in units} - missing)
            self._append({"event": "shortened", "seeds": seeds})

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
        if self.plan.options.mode == "pbt":
            return pbt.decide(self.plan, self.state.search)
        exploring = self.seconds < self._search_end * (1 - self.plan.options.final_share)
        decision = decide(self.plan, self.state.search, exploring=exploring)
        if isinstance(decision, Done) and not exploring:
            # The best ones have all of their seeds: the time that is left goes to further trials.
            decision = decide(self.plan, self.state.search)
        if isinstance(decision, Wait | Done):
            return decision
        if self.seconds + decision_seconds(self.state, decision) <= self._search_end:
            return decision
        return Wait() if self._open("search") else Done(TIME_OVER)

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
        self._start("search", unit)

    def _start(self, phase: Phase, unit: Unit) -> None:
        """Starts the training of a unit, unless the config of its trial is not valid."""
        if not self.state.search.trials[unit.trial].problem:
            self.executor.start(self.work(phase, unit))

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
            self.sleep(POLL_SECONDS)

    def _stop_open(self, phase: Phase) -> None:
        """Stops the units under way because the time is over. What they have not finished counts as not
        started. A run that does not react in time ends later, by itself."""
        deadline = self.seconds + STOP_SECONDS
        while units := self._open(phase):
            is_late = self.seconds >= deadline
            for unit in units:
                measured = self.executor.prune(self.work(phase, unit))
                if measured is None and is_late:
                    measured = Measurement("stopped")
                if measured is not None:
                    if not _is_complete(measured, unit):
                        measured = replace(measured, ended="stopped")
                    self._append(result_event(phase, unit.number, measured, self.seconds))
            self.sleep(POLL_SECONDS)

    def _measure(self, phase: Phase, work: Work) -> Measurement | None:
        """Returns the result of a unit, None while it is trained. Prunes it if it is too weak: then its
        result is what was known at the rung where that shows, whenever the run has really stopped."""
        if phase == "confirm" or work.unit.seed == 0:  # only further seeds are pruned
            measured = self.executor.poll(work)
            return (
                None
                if measured is None
                else judged(measured, work.unit, self.plan.objective, self.plan.budget)
            )
        at = self._pruned_at(work, self.executor.points(work))
        measured = self.executor.poll(work) if at is None else self.executor.prune(work)
        if measured is None:
            return None
        # Again: the run may have ended since its curve was read, and our speed must not matter.
        at = self._pruned_at(work, measured.points)
        if at is None:
            return self._judged(work, measured)
        reached = evaluated_at(measured.points, at)
        kept = tuple((x, y) for x, y in measured.points if x <= reached)
        return replace(measured, ended="pruned", points=kept, env_steps=int(reached))

    def _judged(self, work: Work, measured: Measurement) -> Measurement:
        return judged(measured, work.unit, self.plan.objective, self.plan.budget)

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
        if event["event"] == "result":
            self._search_end = end_of_search(self.plan, self.state, self.jobs)
        self.report(self.state)


def _is_complete(measured: Measurement, unit: Unit) -> bool:
    """True if a run that was asked to stop had ended by itself before."""
    if measured.ended == "failed":
        return bool(measured.run)  # without a run, it was still waiting in the queue
    return measured.ended == "finished" or measured.env_steps >= unit.env_steps
