"""The training loop. Read this file first.

environments --collect--> rollout --update--> metrics --record--> files, console, alerts
     ^                                 |
     +------------- policy <-----------+

There is one learner per role and there are no callbacks: this file decides everything that changes
a run, in the order in which it is written here. Evaluation points are in evaluation_points.py, commands
sent to a running training in live/commands.py. Sinks, alerts and readers only look at the rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gymnast.collect.collector import CollectResult
from gymnast.config.families import is_multi_agent
from gymnast.config.section import Hyperparameters, RolloutLength
from gymnast.envs.backends.backend import raise_fault
from gymnast.measure.rollout import Stopwatch, add_role_scope, clock_row
from gymnast.metrics.recorder import Recorder, Summary
from gymnast.metrics.store import MetricStore
from gymnast.rollout import Rollout
from gymnast.runs.run import Run
from gymnast.training import evaluation_points
from gymnast.training.lifecycle.bundle import write_incident_bundle
from gymnast.training.lifecycle.ending import Ending, finish_run
from gymnast.training.lifecycle.saving import save, trim_traces
from gymnast.training.lifecycle.stop import (
    StopReason,
    is_solved,
    limit_to_budget,
    rollout_stop_reason,
)
from gymnast.training.live.commands import Commands, apply_changes
from gymnast.training.live.fault_reports import FaultReports
from gymnast.training.live.interrupts import Interrupts
from gymnast.training.session import Session
from gymnast.training.transaction import Incident
from gymnast.training.update import AcceptedUpdate, LearnerThread, update_roles

Row = dict[str, float]
REPORT_SECONDS = 2.0
"""Interval at which run.json is updated with the clocks, between checkpoints."""


@dataclass
class Loop:
    run: Run
    session: Session
    recorder: Recorder
    store: MetricStore
    interrupts: Interrupts
    commands: Commands
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    row: Row = field(default_factory=dict[str, float])
    """Metrics of the last rollout."""
    collected: CollectResult | None = None
    """The last rollout of every role."""
    last_updates: dict[str, AcceptedUpdate] = field(default_factory=dict[str, AcceptedUpdate])
    """Role -> its update in the last iteration. Roles without one are missing."""
    gradient_steps: int = 0
    """Number of optimizer steps in the last iteration."""
    last_report: float = 0.0
    """Monotonic time at which run.json was last updated."""
    learner_thread: LearnerThread = field(default_factory=LearnerThread)
    fault_reports: FaultReports = field(init=False)

    def __post_init__(self) -> None:
        self.fault_reports = FaultReports(
            "match" if is_multi_agent(self.session.cfg.env.id) else "copy"
        )

    def train(self) -> Summary:
        """Trains until there is a reason to stop and returns a summary of how the run ended."""
        s = self.session
        if s.clock.rollouts == 0:
            self.save("start")  # so that a run killed in its first rollout can be resumed
        # A resumed run may have ended already, owe the score of an evaluation point, or have no
        # budget left. In these cases nothing more may be learned.
        reason = (
            s.end_reason
            or evaluation_points.complete_open_point(self)
            or self.budget_spent_reason()
        )
        reason = reason or self.commands.apply_pending(self)
        while reason is None:
            self.iterate()
            # Before the row is written, so that a score is part of the row of its rollout.
            reason, scored = evaluation_points.evaluate_if_due(self)
            self.record()
            # Before the checkpoint, which must contain the settings and opponents of the next rollout.
            self.apply_rules(self.row)
            self.update_league()
            # Saved with the checkpoint: a run killed right after a result that ends it stays ended.
            s.end_reason = reason
            reason = reason or self.stop_reason()
            # `due` comes first: asking it uses up the crossing, also where an evaluation saves
            if s.save_timer.due(s.clock) or scored:
                self.save("cadence")
            self.raise_if_env_failed()
            self.update_run_info()
            reason = reason or self.commands.apply_pending(self)  # blocks while the run is paused
        self.log_stop_reason(reason)
        self.report_faults(self.fault_reports.remaining())
        if reason.is_final:
            evaluation_points.finish_evaluations(self, reason)
        self.save("exit")
        return self.finish(reason)

    def iterate(self) -> None:
        """Collects one rollout per role and updates the policies with it. With `overlap`, the update
        uses the previous rollout and runs in a thread while this one is collected."""
        s, clock = self.session, self.session.clock
        # 1. Hyperparameters of this rollout, with schedules evaluated at the clocks before it.
        hparams = s.settings.hyperparameters(clock, s.learners)
        length = next(iter(hparams.values())).rollout_length()  # the same for all roles

        # 2. Collect and update. With `overlap` the thread updates the learners' policies while
        # copies of them act. Waiting for the thread before syncing the copies makes the lag always
        # exactly one update, so the run stays a function of its seed (docs/decisions/0009).
        if s.cfg.overlap:
            future = self.learner_thread.submit(
                partial(update_roles, s, s.waiting_rollouts, hparams)
            )
            collected, s.waiting_rollouts = self.collect(length)
            began = time.perf_counter()
            updated = future.result()
            s.sync_acting_policies()
        else:
            collected, rollouts = self.collect(length)
            began = time.perf_counter()
            updated = update_roles(s, rollouts, hparams)
        self.stopwatch.add("update", time.perf_counter() - began)

        # 3. The row of this rollout.
        self.row, self.last_updates = dict(updated.row), updated.updates
        for role, current in hparams.items():
            self.row |= add_role_scope(role, s.settings.schedules_for(role).row(current))
        for role, rollout in collected.rollouts.items():
            s.recent_episodes[role].add(rollout.episodes)
            self.row |= add_role_scope(role, s.recent_episodes[role].row())
        for role, incident, rollout in updated.rolled_back:
            self.record_rollback(role, incident, rollout, hparams[role])
        if s.league is not None:
            s.league.record_matches(collected.match_ends)
            self.row |= s.league.row()

        # 4. The clocks move only now: schedules and random streams above belong to this rollout.
        clock.env_steps += collected.steps
        clock.vec_steps += collected.vec_steps
        clock.frames += collected.steps * s.cfg.env.frames_per_step
        self.gradient_steps = updated.gradient_steps
        clock.updates += updated.gradient_steps
        clock.rollouts += 1
        clock.episodes += collected.episodes
        s.traces += collected.traces
        s.match_traces += collected.match_traces
        self.report_faults(self.fault_reports.add(collected.faults, collected.fatal_fault))
        self.row["rollout/faults"] = len(collected.faults)
        if s.curriculum is not None:
            self.row["progress/stage"] = s.curriculum.stage + 1

    def collect(self, length: RolloutLength) -> tuple[CollectResult, dict[str, Rollout]]:
        """Returns the collected rollouts, of this length unless the budget ends before, and those of them to
        learn from. The latter are none if the budget ended before the episodes of an algorithm that needs
        whole episodes: only the short episodes would be left, a biased sample."""
        s, clock = self.session, self.session.clock
        span = limit_to_budget(length, s.cfg.env.n_envs, s.cfg.env.frames_per_step, clock)
        collected = s.collector.collect(s.acting_policies(), span, clock, self.out_of_time)
        # Episodes that algo.n_steps cuts are carried over and learned from later. After a cut by the
        # budget there is no later rollout (docs/decisions/0007).
        learns = collected.complete or (span == length and not self.out_of_time())
        self.stopwatch.add("env", collected.env_seconds)
        self.stopwatch.add("inference", collected.inference_seconds)
        self.collected = collected
        return collected, collected.rollouts if learns else {}

    def out_of_time(self) -> bool:
        """True if the budget in seconds is spent. Collecting whole episodes asks this at every step,
        since an episode may last arbitrarily long."""
        clock = self.session.clock
        total = clock.limits.get("seconds")
        return total is not None and clock.seconds + self.stopwatch.elapsed >= total

    def record_rollback(
        self, role: str, incident: Incident, rollout: Rollout, hparams: Hyperparameters
    ) -> None:
        """Stores what is needed to reproduce a rolled back update of a role, and records an event. `hparams`:
        the hyperparameters of the update."""
        bundle = write_incident_bundle(self.run, self.session, role, incident, rollout, hparams)
        self.event(
            "update rolled back",
            role=role,
            problem=incident.problem,
            dropped=incident.dropped,
            bundle=str(bundle),
        )

    def report_faults(self, reports: Iterable[dict[str, Any]]) -> None:
        """Writes an event for each report of `FaultReports`."""
        for report in reports:
            self.event("fault", env=self.session.cfg.env.id, **report)

    def raise_if_env_failed(self) -> None:
        """Raises EnvError if a copy of the environment broke more often than `env.max_faults` allows,
        after saving a checkpoint from which `resume` starts with new copies."""
        if self.collected is not None and self.collected.fatal_fault is not None:
            self.save("fault")
            fix = f"fix the environment, then: gymnast resume {self.run.id}"
            raise_fault(self.session.cfg.env.id, [self.collected.fatal_fault], fix)

    def record(self) -> None:
        """Adds clocks and timings to the row and writes it."""
        clock = self.session.clock
        assert self.collected is not None
        # Read before clock.seconds moves, which may be the main clock.
        reading = clock.read(clock.main_clock)
        seconds, times = self.stopwatch.lap(self.collected.steps, self.gradient_steps)
        clock.seconds += seconds
        self.row |= times
        self.row |= clock_row(clock, self.budget_rate(reading))
        self.recorder.write(self.row)
        # Both count from the last rollout; resume uses them to keep rows and not to repeat commands.
        self.session.late_rows = 0
        self.session.applied_commands = []

    def apply_rules(self, row: Row) -> None:
        """Applies the automatic changes that a row triggers: the stage of the curriculum, which holds
        for episodes that start from now on, and the settings changed by plateau rules."""
        s = self.session
        moved = None if s.curriculum is None else s.curriculum.update(row)
        if moved is not None:
            self.event("stage", **moved)
        for rule in s.rules.values():
            action = rule.update(row, s.settings)
            if action is not None:
                apply_changes(self, action.pop("changes"), "rule", **action)

    def update_league(self) -> None:
        """Lets the league react to the matches of this rollout: store snapshots, choose the next
        opponents, balance the roles."""
        s = self.session
        if s.league is not None:
            policies = {role: learner.policy for role, learner in s.learners.items()}
            for kind, detail in s.league.advance(s.clock, policies):
                self.event(kind, **detail)
            s.sync_acting_policies()

    def budget_rate(self, reading: float) -> float:
        """Returns how fast the budget is used, in counts of its clock per second, averaged over the whole
        run. `reading`: the main clock after the last rollout."""
        clock = self.session.clock
        return 1.0 if clock.main_clock == "seconds" else reading / max(clock.seconds, 1e-9)

    def stop_reason(self) -> StopReason | None:
        """Returns a reason to stop after this rollout, or None: a signal, the training return or a budget."""
        if self.interrupts.received is not None:
            return StopReason("interrupted", f"interrupted by {self.interrupts.received}")
        return rollout_stop_reason(self.session.cfg, self.session.clock, self.row)

    def budget_spent_reason(self) -> StopReason | None:
        """Returns a reason to stop if the budget is spent already, as it may be on resume."""
        clock = self.session.clock
        return rollout_stop_reason(self.session.cfg, clock, {}) if clock.rollouts else None

    def log_stop_reason(self, reason: StopReason) -> None:
        """Records a "stopping" event. If there are several, the last one agrees with run.json."""
        overrun = {}
        if reason.version is not None:
            overrun["overrun"] = self.session.clock.env_steps - reason.version
        self.event("stopping", reason=reason.text, reason_kind=reason.kind, **overrun)

    def save(self, reason: str) -> None:
        """Writes a checkpoint. `reason`: why it is saved, for its document: start, cadence, exit, ..."""
        s = self.session
        began = time.perf_counter()
        # Rows go first: resuming drops rows after the checkpoint, but cannot recreate earlier ones.
        self.store.flush()
        save(
            self.run,
            s,
            self.recorder.alerts,
            row=self.row,
            collected=self.collected,
            updates=self.last_updates,
            reason=reason,
        )
        self.stopwatch.add("checkpoint", time.perf_counter() - began)

    def update_run_info(self) -> None:
        """Updates the clocks in run.json, at most every REPORT_SECONDS."""
        if time.monotonic() - self.last_report > REPORT_SECONDS:
            self.last_report = time.monotonic()
            self.run.update(clocks=self.session.clock.counters())

    def finish(self, reason: StopReason) -> Summary:
        """Confirms the best version on held-out seeds and writes the final state to run.json."""
        s = self.session
        best = s.scores.best
        version = best["env_steps"] if best else s.clock.env_steps
        confirmed = evaluation_points.confirm_score(self, version) if reason.is_final else None
        if reason.is_final and confirmed is None:
            # Resume confirms the score and then ends for the original reason.
            when = f"before its score was confirmed ({reason.text})"
            reason = StopReason("interrupted", f"interrupted by {self.interrupts.received} {when}")
            self.log_stop_reason(reason)
        score = confirmed.score() if confirmed else best
        threshold = s.cfg.facts.threshold
        # The best of many evaluations is a lucky one, so only a confirmed score can count as solved
        # (docs/decisions/0004).
        can_solve = confirmed is not None and confirmed.shortfall.is_unbiased
        solved = None if threshold is None else can_solve and is_solved(score, threshold)
        if confirmed is not None:
            self.event("confirmed", version=version, score=score)
        self.store.flush()
        trim_traces(self.run, s, {version})
        ending = Ending(
            reason=reason,
            interrupted=self.interrupts.stop_requested(),
            score=score,
            confirmed=confirmed is not None,
            solved=solved,
            best_version=version if confirmed or best else None,
        )
        return finish_run(self.run, s.clock, ending, self.recorder.alerts)

    def event(self, kind: str, **detail: object) -> None:
        """Writes an event, with the clocks, to events.jsonl and passes it to the console and log."""
        counters = self.session.clock.counters()
        self.run.record_event(kind, counters, **detail)
        self.recorder.event({"kind": kind, **counters, **detail})
