"""The training loop. Read this file first.

environments --collect--> rollout --update--> metrics --record--> files, console, alerts
     ^                                 |
     +------------- policy <-----------+

There is one learner per role and there are no callbacks: this file decides everything that changes
a run, in the order in which it is written here. What it calls takes values and returns values. Sinks,
alerts and readers only look at the rows.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from gymnast.collect.collector import CollectResult
from gymnast.config.families import is_multi_agent
from gymnast.config.section import Hyperparameters, RolloutLength
from gymnast.config.sections.stop import limits_after
from gymnast.config.serialize import SettingChange
from gymnast.envs.backends.backend import raise_fault
from gymnast.errors import ConfigError, EnvError, HostsMissing
from gymnast.evaluation.evaluate import Evaluation
from gymnast.evaluation.jobs import EvaluationResult
from gymnast.measure.rollout import Stopwatch, add_role_scope, clock_row
from gymnast.metrics.recorder import Summary
from gymnast.rollout import Rollout
from gymnast.runs.events import EVALUATED
from gymnast.training.evaluation_points import EvaluationPoints, ReceivedScore, shortfall_detail
from gymnast.training.lifecycle.bundle import write_incident_bundle
from gymnast.training.lifecycle.ending import Ending, doubts_about, finish_run
from gymnast.training.lifecycle.saving import save, trim_traces
from gymnast.training.lifecycle.stop import (
    StopReason,
    is_worth_evaluating,
    limit_to_budget,
    rollout_stop_reason,
)
from gymnast.training.live.commands import POLL_SECONDS, Answer, Commands, one_line, refuse
from gymnast.training.live.fault_reports import FaultReports
from gymnast.training.live.interrupts import Interrupts
from gymnast.training.run_writer import RunWriter
from gymnast.training.session import Session
from gymnast.training.transaction import Incident
from gymnast.training.update import AcceptedUpdate, LearnerThread, update_roles

Row = dict[str, float]


@dataclass
class Loop:
    session: Session
    writer: RunWriter
    interrupts: Interrupts
    commands: Commands
    learner_thread: LearnerThread
    row: Row
    """Metrics of the last rollout."""
    pause_at: int | None = None
    """Env steps at or after which training pauses at an evaluation point; None: it does not."""
    stopwatch: Stopwatch = field(default_factory=Stopwatch)
    collected: CollectResult | None = None
    """The last rollout of every role."""
    last_updates: dict[str, AcceptedUpdate] = field(default_factory=dict[str, AcceptedUpdate])
    """Role -> its update in the last iteration. Roles without one are missing."""
    gradient_steps: int = 0
    """Number of optimizer steps in the last iteration."""
    points: EvaluationPoints = field(init=False)
    fault_reports: FaultReports = field(init=False)

    def __post_init__(self) -> None:
        self.points = EvaluationPoints(self.session.scores, self.interrupts.stop_requested)
        self.fault_reports = FaultReports(
            "match" if is_multi_agent(self.session.cfg.env.id) else "copy"
        )

    def train(self) -> Summary:
        """Trains until there is a reason to stop and returns a summary of how the run ended."""
        s = self.session
        if s.eval_timer.cadence is not None:
            self.points.start(s.version())
        if s.clock.rollouts == 0:
            self.save("start")  # so that a run killed in its first rollout can be resumed
        # A resumed run may have ended already, owe the score of an evaluation point, or have no
        # budget left. In these cases nothing more may be learned.
        reason = s.end_reason or self.complete_open_point() or self.budget_spent_reason()
        reason = reason or self.pause_reason() or self.apply_commands()
        while reason is None:
            try:
                self.iterate()
            except HostsMissing as problem:
                self.write_events(problem.events)
                reason = StopReason("hosts", one_line(problem))
                break
            # Before the row is written, so that a score is part of the row of its rollout.
            reason, scored = self.evaluate_if_due()
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
            self.writer.report_progress()
            reason = reason or self.apply_commands()  # blocks while the run is paused
        self.log_stop_reason(reason)
        self.report_faults(self.fault_reports.remaining())
        if reason.is_final:
            self.finish_evaluations(reason)
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
            try:
                collected, s.waiting_rollouts = self.collect(length)
            except HostsMissing:
                future.result().undo(s)  # back to the rollout boundary, where a checkpoint is exact
                raise
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
        self.row |= collected.host_row
        self.write_events(collected.host_events)
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
        bundle = write_incident_bundle(
            self.writer.run, self.session, role, incident, rollout, hparams
        )
        self.writer.event(
            "update rolled back",
            role=role,
            problem=incident.problem,
            dropped=incident.dropped,
            bundle=str(bundle),
        )

    def report_faults(self, reports: Iterable[dict[str, object]]) -> None:
        """Writes an event for each report of `FaultReports`."""
        for report in reports:
            self.writer.event("fault", env=self.session.cfg.env.id, **report)

    def write_events(self, events: Iterable[tuple[str, dict[str, object]]]) -> None:
        """Writes events, given as (kind, detail)."""
        for kind, detail in events:
            self.writer.event(kind, **detail)

    def raise_if_env_failed(self) -> None:
        """Raises EnvError if a copy of the environment broke more often than `env.max_faults` allows,
        after saving a checkpoint from which `resume` starts with new copies."""
        if self.collected is not None and self.collected.fatal_fault is not None:
            self.save("fault")
            then = f". Then: gymnast resume {self.writer.run.id}"
            raise_fault(self.session.cfg.env.id, [self.collected.fatal_fault], then)

    def record(self) -> None:
        """Adds clocks and timings to the row and writes it."""
        clock = self.session.clock
        assert self.collected is not None
        seconds, times = self.stopwatch.lap(self.collected.steps, self.gradient_steps)
        clock.seconds += seconds
        self.writer.pace.add(clock)
        self.row |= times
        self.row |= clock_row(clock, self.writer.pace.rates())
        self.writer.row(self.row)
        # Both count from the last rollout; resume uses them to keep rows and not to repeat commands.
        self.session.late_rows = 0
        self.session.applied_commands = []

    def apply_rules(self, row: Row) -> None:
        """Applies the automatic changes that a row triggers: the stage of the curriculum, which holds
        for episodes that start from now on, and the settings changed by plateau rules."""
        s = self.session
        moved = None if s.curriculum is None else s.curriculum.update(row)
        if moved is not None:
            self.writer.event("stage", **moved)
        for rule in s.rules.values():
            action = rule.update(row, s.settings)
            if action is not None:
                detail = {"rule": action["rule"], "did": action["did"], "why": action["why"]}
                self.change_settings(action["changes"], "rule", **detail)

    def update_league(self) -> None:
        """Lets the league react to the matches of this rollout: store snapshots, choose the next
        opponents, balance the roles."""
        s = self.session
        if s.league is not None:
            policies = {role: learner.policy for role, learner in s.learners.items()}
            for kind, detail in s.league.advance(s.clock, policies):
                self.writer.event(kind, **detail)
            s.sync_acting_policies()

    def stop_reason(self) -> StopReason | None:
        """Returns a reason to stop after this rollout, or None: a signal, the training return, a budget or a
        pause."""
        if self.interrupts.received is not None:
            return StopReason("interrupted", f"interrupted by {self.interrupts.received}")
        reason = rollout_stop_reason(self.session.cfg, self.session.clock, self.row)
        return reason or self.pause_reason()

    def pause_reason(self) -> StopReason | None:
        """Returns a reason to stop if training was asked to pause and is at an evaluation point, or None."""
        steps = self.session.clock.env_steps
        if self.pause_at is None or steps < self.pause_at:
            return None
        if self.session.scores.last_submitted != steps:  # the version that was evaluated last
            return None
        return StopReason("paused", f"paused at {steps:,} env steps, as requested")

    def budget_spent_reason(self) -> StopReason | None:
        """Returns a reason to stop if the budget is spent already, as it may be on resume."""
        clock = self.session.clock
        return rollout_stop_reason(self.session.cfg, clock, {}) if clock.rollouts else None

    def log_stop_reason(self, reason: StopReason) -> None:
        """Records a "stopping" event. If there are several, the last one agrees with run.json."""
        overrun = {}
        if reason.version is not None:
            overrun["overrun"] = self.session.clock.env_steps - reason.version
        self.writer.event("stopping", reason=reason.text, reason_kind=reason.kind, **overrun)

    def save(self, reason: str) -> None:
        """Writes a checkpoint. `reason`: why it is saved, for its document: start, cadence, exit, ..."""
        s = self.session
        began = time.perf_counter()
        # Rows go first: resuming drops rows after the checkpoint, but cannot recreate earlier ones.
        self.writer.store.flush()
        save(
            self.writer.run,
            s,
            self.writer.alerts,
            row=self.row,
            collected=self.collected,
            updates=self.last_updates,
            reason=reason,
            progress=self.writer.progress(),
        )
        self.stopwatch.add("checkpoint", time.perf_counter() - began)

    def finish(self, reason: StopReason) -> Summary:
        """Confirms the best version on held-out seeds and writes the final state to run.json."""
        s, run, best = self.session, self.writer.run, self.session.scores.best
        version = best["env_steps"] if best else s.clock.env_steps
        confirmed = self.confirm_score(version) if reason.is_final else None
        if reason.is_final and confirmed is None:
            # Resume confirms the score and then ends for the original reason.
            when = f"before its score was confirmed ({reason.text})"
            reason = StopReason("interrupted", f"interrupted by {self.interrupts.received} {when}")
            self.log_stop_reason(reason)
        self.writer.store.flush()
        start, threshold = s.scores.start, s.cfg.facts.threshold
        doubts = doubts_about(
            confirmed, start, s.cfg, self.writer.store, trained_before=bool(run.info["parent"])
        )
        signal = self.interrupts.received
        ending = Ending.decide(reason, confirmed, best, version, threshold, signal, doubts)
        if confirmed is not None:
            self.writer.event("confirmed", version=version, score=ending.score)
        trim_traces(run, s, {version})
        return finish_run(run, s.clock, ending, start, self.writer.alerts, self.writer.progress())

    # ---- evaluation ----------------------------------------------------------------------------

    def evaluate_if_due(self) -> tuple[StopReason | None, bool]:
        """Returns (reason to stop or None, True if this rollout is an evaluation point)."""
        s, reason = self.session, None
        if s.eval_timer.cadence is not None:  # at least the last version will be evaluated
            s.scores.send_pending()
        if not s.eval_timer.due(s.clock) or not is_worth_evaluating(s.cfg, s.clock, self.row):
            return None, False
        for row, reason_of_score in self.receive(self.points.at_point(s.version(), s.cfg)):
            self.row |= row
            reason = reason or reason_of_score
        return reason, True

    def complete_open_point(self) -> StopReason | None:
        """Completes an evaluation point that an interruption cut short, before anything else is learned;
        returns a reason to stop if the score is one."""
        s = self.session
        if not self.points.is_incomplete(s.cfg):
            return None
        s.end_reason = self.record_late(self.points.complete(s.version(), s.cfg))
        self.save("evaluation point")
        return s.end_reason

    def evaluate_now(self) -> StopReason | None:
        """Evaluates outside of the cadence, as commanded by a user. Training waits for the score, so that
        a resumed run which repeats this command gets it at the same rollout."""
        s = self.session
        s.end_reason = self.record_late(self.points.now(s.version(), s.cfg))
        self.save("evaluation asked")
        return s.end_reason

    def finish_evaluations(self, reason: StopReason) -> None:
        """Waits for the pending evaluation at the end of training, then evaluates the last version,
        unless a score is what ended the run."""
        s = self.session
        self.record_late(self.points.receive(s.cfg))
        ended_by_score = reason.kind in ("solved", "eval_return", "plateau")
        if not ended_by_score and s.cfg.eval.every is not None:
            self.record_late(self.points.now(s.version(), s.cfg))

    def receive(self, scores: Iterator[ReceivedScore]) -> Iterator[tuple[Row, StopReason | None]]:
        """Yields the metrics and the reason to stop, or None, of each score. Episodes that are missing from
        it get an event."""
        league = self.session.league
        try:
            for score in scores:
                self.stopwatch.add("evaluate_wait", score.waited)
                if (missing := shortfall_detail(score.result)) is not None:
                    self.writer.event("evaluation incomplete", **missing)
                row = score.row()
                if row and league is not None and not isinstance(score.result, Evaluation):
                    row |= league.add_evaluation(score.result)
                yield row, score.reason
        except EnvError:
            self.save("fault")  # a rollout boundary, so resume can continue exactly from here
            raise

    def record_late(self, scores: Iterator[ReceivedScore]) -> StopReason | None:
        """Writes scores that arrive after the row of their rollout was written, each as a row of its own.
        Returns the first reason to stop."""
        reason = None
        for row, reason_of_score in self.receive(scores):
            if row:
                self.writer.row(row | clock_row(self.session.clock, {}))
                # Counted, so that resume keeps this row: it has the same number of rollouts as the row
                # before.
                self.session.late_rows += 1
                self.apply_rules(row)
            reason = reason or reason_of_score
        return reason

    def confirm_score(self, version: int) -> EvaluationResult | None:
        """Returns the score of a version (env steps) on the held-out seeds; None if a signal asked to stop
        first, or if no episode finished."""
        # In proportion to the training: an environment with long episodes must not make the confirmation
        # take longer than the run it confirms.
        s, minimum = self.session, self.session.cfg.eval.confirm_seconds
        seconds = None if minimum is None else max(minimum, s.clock.seconds)
        result = self.points.confirm(self.writer.run.path, version, seconds)
        if result is not None and (missing := shortfall_detail(result)) is not None:
            self.writer.event("confirmation incomplete", **missing)
        return result if result is not None and result.has_score else None

    # ---- commands and changes of settings ------------------------------------------------------

    def apply_commands(self) -> StopReason | None:
        """Applies every command due at this rollout boundary and returns a reason to stop, if any.
        While the run is paused, this blocks until a command or a signal ends the pause."""
        reason = self.reapply_changes()
        while reason is None:
            reason = self.apply_inbox()
            if reason is not None or not self.commands.paused:
                break
            if self.interrupts.stop_requested():
                reason = self.stop_reason()
                break
            began = time.perf_counter()
            time.sleep(POLL_SECONDS)
            self.stopwatch.skip(time.perf_counter() - began)  # a pause is no training time
        return reason

    def reapply_changes(self) -> StopReason | None:
        """Applies the recorded changes of this rollout again, after resume. Their events are in events.jsonl
        already, so none is written."""
        s, reason = self.session, None
        for event in self.commands.due_again(s.clock.rollouts):
            if event["kind"] == EVALUATED:
                reason = reason or self.evaluate_now()
                continue
            try:
                reason = self.change_settings(event["changes"]) or reason
                s.applied_commands.append(event["id"])
            except (ConfigError, ValueError) as problem:  # resume --set changed the config under it
                why = one_line(problem)
                self.writer.event("live change not reapplied", of=event["id"], why=why)
        return reason

    def apply_inbox(self) -> StopReason | None:
        """Applies the commands in the inbox, oldest first, and returns the first reason to stop."""
        for command in self.commands.unanswered():
            answer = self.commands.answer(command, self.session.settings, self.session.clock)
            reason = self.carry_out(answer)
            self.commands.discard(command)
            if reason is not None:
                return reason  # `refuse_commands` answers the rest
        return None

    def carry_out(self, answer: Answer) -> StopReason | None:
        """Writes the event that answers a command, then does what it asks. Returns a reason to stop, or
        None."""
        # The event comes first: after a crash in between, the command counts as answered and is not
        # applied a second time.
        if answer.effect == "set":
            return self.set_settings(answer)
        if answer.effect in ("pause", "unpause"):
            self.commands.paused = answer.effect == "pause"
            status = "paused" if self.commands.paused else "running"
            self.writer.run.update(status=status, **self.writer.progress())
        self.writer.event(answer.event, **answer.detail)
        if answer.effect == "checkpoint":
            self.save("asked")
        if answer.effect == "evaluate":
            return self.evaluate_now()
        if answer.effect == "stop":
            return StopReason("command", "stopped by command")
        return None

    def set_settings(self, answer: Answer) -> StopReason | None:
        """Changes settings as commanded, and warns about each that has no effect in this run. Returns a
        reason to stop if the changed budget is spent."""
        s = self.session
        reason = self.change_settings(answer.changes, answer.event, **answer.detail)
        s.applied_commands.append(str(answer.detail["id"]))
        keys = [change["key"] for change in answer.changes]
        self.writer.unused_settings(keys, s.cfg, s.collector)
        return reason

    def change_settings(
        self, changes: Collection[SettingChange], event: str = "", **detail: object
    ) -> StopReason | None:
        """Applies changes of settings (`key`, `from`, `to`) and records them as an event of kind `event`, if
        one is named, with `detail`. Returns a reason to stop if the changed budget is spent."""
        s = self.session
        # Before the event: whoever reacts to the event finds the new values in run.json.
        limits = limits_after(changes, s.clock.limits)
        self.writer.live_settings(s.settings.live_after(changes), limits)
        if event:
            self.writer.event(event, **detail, changes=changes)
        s.settings.change(changes)
        s.adopt_settings()
        self.writer.adopt_settings(s.cfg, s.collector)
        return self.budget_spent_reason()

    def refuse_commands(self, why: str) -> None:
        """Answers every command left in the inbox with a "command refused" event."""
        for command in self.commands.unanswered():
            answer = refuse(command, why)
            self.writer.event(answer.event, **answer.detail)
            self.commands.discard(command)
