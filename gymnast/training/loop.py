"""The training loop. Read this file first.

environments --collect--> rollout --update--> metrics --record--> files, console, alerts
     ^                                 |
     +------------- policy <-----------+

One learner per role, no callbacks: this file decides everything that changes a run, in the order
in which it is written here. What happens at its evaluation points is in evaluation_points.py, what it is told
meanwhile in commands.py. Whatever watches a run reads its rows.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from gymnast.collect.collector import Collected
from gymnast.config.families import has_roles
from gymnast.envs.backends.backend import raise_fault
from gymnast.measure.rollout import Stopwatch, clock_row, scoped
from gymnast.metrics.recorder import Recorder, Summary
from gymnast.metrics.store import MetricStore
from gymnast.rollout import Rollout
from gymnast.runs.run import Run
from gymnast.training import evaluation_points
from gymnast.training.lifecycle.bundle import write_incident_bundle
from gymnast.training.lifecycle.ending import Ending, finish_run
from gymnast.training.lifecycle.saving import save, trim_traces
from gymnast.training.lifecycle.stop import Reason, after_rollout, is_solved, within_budget
from gymnast.training.live.commands import Commands, apply_changes
from gymnast.training.live.fault_reports import FaultReports
from gymnast.training.live.interrupts import Interrupts
from gymnast.training.session import Session
from gymnast.training.transaction import Incident
from gymnast.training.update import LearnerThread, Update, update_roles

Row = dict[str, float]
REPORT_SECONDS = 2.0
"""How often run.json learns how far the run is, between checkpoints."""


@dataclass
class Loop:
    run: Run
    session: Session
    recorder: Recorder
    store: MetricStore
    interrupts: Interrupts
    commands: Commands
    watch: Stopwatch = field(default_factory=Stopwatch)
    row: Row = field(default_factory=dict[str, float])
    """The last row."""
    collected: Collected | None = None
    """The last rollout."""
    made: dict[str, Update] = field(default_factory=dict[str, Update])
    """The last update of each role that learned after the last rollout."""
    updates: int = 0
    """Steps of the optimiser in the last update."""
    reported: float = 0.0
    learner_thread: LearnerThread = field(default_factory=LearnerThread)
    faults: FaultReports = field(init=False)

    def __post_init__(self) -> None:
        self.faults = FaultReports("match" if has_roles(self.session.cfg.env.id) else "copy")

    def train(self) -> Summary:
        """Until a reason to stop; returns how it ended."""
        s = self.session
        if s.clock.rollouts == 0:
            self.save("start")
        reason = s.ended or evaluation_points.finish_point(self) or self.budget_spent_reason()
        reason = reason or self.commands.apply_pending(self)
        while reason is None:
            self.iterate()
            reason, scored = evaluation_points.evaluate(self)
            self.record()
            self.apply_rules(self.row)
            self.update_league()
            s.ended = reason
            reason = reason or self.stop_reason()
            if s.saves.due(s.clock) or scored:
                self.save("cadence")
            self.stop_if_given_up()
            self.report()
            reason = reason or self.commands.apply_pending(self)  # while paused, it stays in there
        self.tell_reason(reason)
        for fault in self.faults.rest():
            self.event("fault", env=s.cfg.env.id, **fault)
        if reason.is_end:
            evaluation_points.take_last_results(self, reason)
        self.save("exit")
        return self.finish(reason)

    def iterate(self) -> None:
        """Collect one rollout per role and learn from it; or, where learning lags behind, from the
        one before it at the same time."""
        s, clock = self.session, self.session.clock
        values = {role: s.settings.control_of(role).values(clock) for role in s.learners}
        if s.cfg.overlap:
            under_way = self.learner_thread.submit(partial(update_roles, s, s.waiting, values))
            collected, s.waiting = self.collect()
            began = time.perf_counter()
            learned = under_way.result()
            s.sync_acting_policies()
        else:
            collected, fresh = self.collect()
            began = time.perf_counter()
            learned = update_roles(s, fresh, values)
        self.watch.add("update", time.perf_counter() - began)
        self.row, self.made = dict(learned.row), learned.made
        for role, algo in values.items():
            self.row |= scoped(role, s.settings.control_of(role).row(algo))
        for role, rollout in collected.rollouts.items():
            s.recent[role].add(rollout.episodes)
            self.row |= scoped(role, s.recent[role].row())
        for role, incident, rollout in learned.rolled_back:
            self.record_rollback(role, incident, rollout, values[role])
        if s.league is not None:
            s.league.record_matches(collected.ends)
            self.row |= s.league.row()

        clock.env_steps += collected.steps
        clock.vec_steps += collected.vec_steps
        clock.frames += collected.steps * s.cfg.env.frames_per_step
        self.updates = learned.updates
        clock.updates += learned.updates
        clock.rollouts += 1
        clock.episodes += collected.episodes
        s.traces += collected.traces
        s.match_traces += collected.match_traces
        for fault in self.faults.take(collected.faults, collected.failed):
            self.event("fault", env=s.cfg.env.id, **fault)
        self.row["rollout/faults"] = len(collected.faults)
        if s.curriculum is not None:
            self.row["progress/stage"] = s.curriculum.stage + 1

    def collect(self) -> tuple[Collected, dict[str, Rollout]]:
        """What came of one rollout per role, and the rollouts to learn from: none where the budget
        cut off the longer episodes."""
        s, clock = self.session, self.session.clock
        wanted = s.control.values(clock).span()
        span = within_budget(wanted, s.cfg.env.n_envs, s.cfg.env.frames_per_step, clock)
        collected = s.collector.collect(s.lineup(), span, clock, self.no_time_left)
        learns = collected.complete or (span == wanted and not self.no_time_left())
        self.watch.add("env", collected.env_seconds)
        self.watch.add("inference", collected.inference_seconds)
        self.collected = collected
        return collected, collected.rollouts if learns else {}

    def no_time_left(self) -> bool:
        """For what may take any time: are the budget's seconds over?"""
        clock = self.session.clock
        total = clock.limits.get("seconds")
        return total is not None and clock.seconds + self.watch.elapsed >= total

    def record_rollback(self, role: str, incident: Incident, rollout: Rollout, values: Any) -> None:
        """Keep what a person needs to find out why, and say so."""
        bundle = write_incident_bundle(self.run, self.session, role, incident, rollout, values)
        self.event("update rolled back", role=role, **asdict(incident), bundle=str(bundle))

    def stop_if_given_up(self) -> None:
        """A copy of the environment failed too often: end with a checkpoint, from which `resume`
        begins with fresh copies."""
        if self.collected is not None and self.collected.failed is not None:
            self.save("fault")
            fix = f"mend the environment, then: gymnast resume {self.run.id}"
            raise_fault(self.session.cfg.env.id, [self.collected.failed], fix)

    def record(self) -> None:
        """Finish the row with clocks and times, and write it."""
        clock = self.session.clock
        assert self.collected is not None
        before = clock.read(clock.main)
        seconds, times = self.watch.lap(self.collected.steps, self.updates)
        clock.seconds += seconds
        self.row |= times
        self.row |= clock_row(clock, self.pace(before))
        self.recorder.write(self.row)
        self.session.late_rows = 0
        self.session.applied_commands = []

    def apply_rules(self, row: Row) -> None:
        """Do what a row says is to change: the stage of the curriculum, for the episodes that begin
        from now on; settings, by the rules."""
        s = self.session
        moved = None if s.curriculum is None else s.curriculum.watch(row)
        if moved is not None:
            self.event("stage", **moved)
        for rule in s.rules.values():
            told = rule.watch(row, s.settings)
            if told is not None:
                apply_changes(self, told.pop("changes"), "rule", **told)

    def update_league(self) -> None:
        """Do what the matches of the rollout lead to: past selves, next opponents, remedies."""
        s = self.session
        if s.league is not None:
            policies = {role: learner.policy for role, learner in s.learners.items()}
            for kind, detail in s.league.advance(s.clock, policies):
                self.event(kind, **detail)
            s.sync_acting_policies()

    def pace(self, reading: float) -> float:
        """Counts of the budget's clock per second, over the whole run so far."""
        clock = self.session.clock
        return 1.0 if clock.main == "seconds" else reading / max(clock.seconds, 1e-9)

    def stop_reason(self) -> Reason | None:
        if self.interrupts.received is not None:
            return Reason("interrupted", f"interrupted by {self.interrupts.received}")
        return after_rollout(self.session.cfg, self.session.clock, self.row)

    def budget_spent_reason(self) -> Reason | None:
        """A resumed run may have nothing left to do."""
        clock = self.session.clock
        return after_rollout(self.session.cfg, clock, {}) if clock.rollouts else None

    def tell_reason(self, reason: Reason) -> None:
        """The last of these events says the same as run.json does in the end."""
        overrun = {}
        if reason.version is not None:
            overrun["overrun"] = self.session.clock.env_steps - reason.version
        self.event("stopping", reason=reason.text, reason_kind=reason.kind, **overrun)

    def save(self, reason: str) -> None:
        s = self.session
        began = time.perf_counter()
        self.store.flush()  # the record up to here must be at least as new as the checkpoint
        save(
            self.run,
            s,
            self.recorder.alerts,
            row=self.row,
            collected=self.collected,
            made=self.made,
            reason=reason,
        )
        self.watch.add("checkpoint", time.perf_counter() - began)

    def report(self) -> None:
        if time.monotonic() - self.reported > REPORT_SECONDS:
            self.reported = time.monotonic()
            self.run.update(clocks=self.session.clock.counters())

    def finish(self, reason: Reason) -> Summary:
        """Confirm the best version on held-out seeds and close the books."""
        s = self.session
        best = s.scores.best
        version = best["env_steps"] if best else s.clock.env_steps
        confirmed = evaluation_points.confirm(self, version) if reason.is_end else None
        if reason.is_end and confirmed is None:  # a resume confirms it, and ends for that reason
            when = f"before its score was confirmed ({reason.text})"
            reason = Reason("interrupted", f"interrupted by {self.interrupts.received} {when}")
            self.tell_reason(reason)
        score = confirmed.score() if confirmed else best
        threshold = s.cfg.facts.threshold
        sound = confirmed is not None and confirmed.shortfall.is_sound
        solved = None if threshold is None else sound and is_solved(score, threshold)
        if confirmed is not None:
            self.event("confirmed", version=version, score=score)
        self.store.flush()
        trim_traces(self.run, s, {version})
        ended = Ending(
            reason=reason,
            interrupted=self.interrupts.asked(),
            score=score,
            confirmed=confirmed is not None,
            solved=solved,
            best=version if confirmed or best else None,
        )
        return finish_run(self.run, s.clock, ended, self.recorder.alerts)

    def event(self, kind: str, **detail: object) -> None:
        counters = self.session.clock.counters()
        self.run.event(kind, counters, **detail)
        self.recorder.event({"kind": kind, **counters, **detail})
