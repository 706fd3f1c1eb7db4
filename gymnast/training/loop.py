"""The training loop. Read this file first.

environments --collect--> rollout --update--> metrics --record--> files, console, alerts
     ^                                 |
     +------------- policy <-----------+

One learner per role, no callbacks: this file decides everything that changes a run, in the order
in which it is written here. Whatever watches a run reads its rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from gymnast.collect.vector import Collected
from gymnast.envs.backend import refuse
from gymnast.errors import EnvError
from gymnast.metrics.recorder import Recorder, Summary
from gymnast.metrics.store import MetricStore
from gymnast.rollout import Rollout
from gymnast.runs import checkpoint
from gymnast.runs.run import Run
from gymnast.training.bundle import write_bundle
from gymnast.training.commands import Commands, adopt
from gymnast.training.ending import Ended, close_books
from gymnast.training.evaluate import Evaluation
from gymnast.training.interrupts import Interrupts
from gymnast.training.learning import Beside, learn
from gymnast.training.rows import (
    WINDOW,
    Stopwatch,
    clock_row,
    episode_row,
    scoped,
    task_rows,
)
from gymnast.training.saving import save
from gymnast.training.session import POLICY, Session, of_role
from gymnast.training.stop import (
    Reason,
    after_evaluation,
    after_rollout,
    is_solved,
    within_budget,
    worth_evaluating,
)
from gymnast.training.transaction import Incident

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
    reported: float = 0.0
    beside: Beside = field(default_factory=Beside)

    def train(self) -> Summary:
        """Until a reason to stop; returns how it ended."""
        s = self.session
        if s.clock.rollouts == 0:
            self.save("start")
        reason = s.ended or self.finish_point() or self.spent_already()
        reason = reason or self.commands.obey(self)
        while reason is None:
            self.iterate()
            reason, scored = self.evaluate()
            self.record()
            self.follow()
            s.ended = reason
            reason = reason or self.why_stop()
            if s.saves.due(s.clock) or scored:
                self.save("cadence")
            self.stop_if_given_up()
            self.report()
            reason = reason or self.commands.obey(self)  # while paused, it stays in there
        if reason.is_end:
            self.take_last_results(reason)
        self.save("exit")
        return self.finish(reason)

    def iterate(self) -> None:
        """Collect one rollout per role and learn from it; or, where learning lags behind, from the
        one before it at the same time."""
        s, clock = self.session, self.session.clock
        values: Any = s.control.values(clock)
        if s.cfg.overlap:
            under_way = self.beside.begin(partial(learn, s, s.waiting, values))
            collected, s.waiting = self.collect(values)
            began = time.perf_counter()
            learned = under_way.result()
            s.catch_up()
        else:
            collected, fresh = self.collect(values)
            began = time.perf_counter()
            learned = learn(s, fresh, values)
        self.watch.add("update", time.perf_counter() - began)
        self.row = s.control.row(values) | learned.row
        for role, rollout in collected.rollouts.items():
            s.recent[role].extend(rollout.episodes.last(s.recent[role].maxlen or WINDOW))
            self.row |= scoped(role, episode_row([*s.recent[role]][-WINDOW:]))
            self.row |= task_rows(s.recent[role], tuple(s.cfg.env.tasks))
        for role, incident, rollout in learned.undone:
            self.undone(role, incident, rollout, values)

        clock.env_steps += collected.steps
        clock.vec_steps += collected.vec_steps
        clock.frames += collected.steps * s.cfg.env.frames_per_step
        clock.updates += learned.updates
        clock.rollouts += 1
        clock.episodes += sum(len(r.episodes) for r in collected.rollouts.values())
        s.traces += collected.traces
        for fault in collected.faults:
            self.event("fault", env=s.cfg.env.id, **asdict(fault))
        self.row["rollout/faults"] = len(collected.faults)
        if s.curriculum is not None:
            self.row["progress/stage"] = s.curriculum.stage + 1

    def collect(self, values: Any) -> tuple[Collected, dict[str, Rollout]]:
        """What came of one rollout per role, and the rollouts to learn from: none where the budget
        cut off the longer episodes."""
        s, clock = self.session, self.session.clock
        wanted = values.span()
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

    def undone(self, role: str, incident: Incident, rollout: Rollout, values: Any) -> None:
        """Keep what a person needs to find out why, and say so."""
        bundle = write_bundle(self.run, self.session, role, incident, rollout, values)
        self.event("update undone", role=role, **asdict(incident), bundle=str(bundle))

    def stop_if_given_up(self) -> None:
        """A copy of the environment failed too often: end with a checkpoint, from which `resume`
        begins with fresh copies."""
        if self.collected is not None and self.collected.failed is not None:
            self.save("fault")
            fix = f"mend the environment, then: gymnast resume {self.run.id}"
            refuse(self.session.cfg.env.id, [self.collected.failed], fix)

    def evaluate(self) -> tuple[Reason | None, bool]:
        """Where an evaluation point has come: is there a reason to stop, and was it one?"""
        s = self.session
        if s.evaluates.cadence is not None:  # the last version, at least, will be scored
            s.scores.evaluating.get_ready()
        if not s.evaluates.due(s.clock) or not worth_evaluating(s.cfg, s.clock, self.row):
            return None, False
        return self.at_point(), True

    def at_point(self) -> Reason | None:
        """Take the last result, and unless it ends the run submit the policy as it is now; also
        when asked to stop, since a pending evaluation is begun again on resume."""
        s = self.session
        reason = self.take_result()
        s.scores.point_open = s.scores.pending is not None  # asked to stop before the result came
        if reason is None and not s.scores.point_open:
            self.submit()
            if s.cfg.eval.wait:
                reason = self.take_result()
        return reason

    def finish_point(self) -> Reason | None:
        """What an interruption left undone at an evaluation point, before anything else is learned."""
        s = self.session
        waits = s.cfg.eval.wait and s.scores.pending is not None
        if not s.scores.point_open and not waits:
            return None
        with self.late_results():
            reason = self.at_point() if s.scores.point_open else self.take_result()
        s.ended = reason
        self.save("evaluation point")
        return reason

    def evaluate_now(self) -> Reason | None:
        """An evaluation out of cadence. Training waits for its result, so that it comes at the same
        rollout whenever this is done again; a version that has been scored is not scored twice."""
        s, reason = self.session, None
        if s.scores.newest != s.clock.env_steps:
            with self.late_results():
                reason = self.take_result()
            if reason is None and s.scores.pending is None:
                self.submit()
        with self.late_results():
            reason = reason or self.take_result()
        s.ended = reason
        self.save("evaluation asked")
        return reason

    def submit(self) -> None:
        (learner,) = self.session.learners.values()
        self.session.scores.submit(learner.policy, self.session.clock.env_steps)

    def take_result(self) -> Reason | None:
        """Wait for the evaluation under way, put it into the row, and see if it ends the run."""
        s, began = self.session, time.perf_counter()
        try:
            result = s.scores.take(self.interrupts.asked)
        except EnvError:
            self.save("fault")  # nothing is learned yet of what comes next: a good place to go on
            raise
        if result is None:
            return None
        waited = time.perf_counter() - began
        self.watch.add("evaluate_wait", waited)
        self.row |= {**result.row(), "eval:time/wall": result.seconds, "eval:time/wait": waited}
        reason = after_evaluation(s.cfg, result, s.scores.without_gain)
        if reason is not None:
            self.event("stopping", reason=reason.text, overrun=s.clock.env_steps - result.version)
        return reason

    def record(self) -> None:
        """Finish the row with clocks and times, and write it."""
        clock = self.session.clock
        assert self.collected is not None
        before = clock.read(clock.main)
        seconds, times = self.watch.lap(self.collected.steps)
        clock.seconds += seconds
        self.row |= times | clock_row(clock, self.pace(before))
        self.recorder.write(self.row)
        self.session.late_rows = 0
        self.session.obeyed = []

    def follow(self) -> None:
        """Do what the row says is to change: the stage of the curriculum, for the episodes that begin
        from now on; settings, by the rules."""
        s = self.session
        moved = None if s.curriculum is None else s.curriculum.watch(self.row)
        if moved is not None:
            self.event("stage", **moved)
        for rule in s.rules.values():
            told = rule.watch(self.row, s.settings)
            if told is not None:
                adopt(self, told.pop("changes"), "rule", **told)

    def pace(self, reading: float) -> float:
        """Counts of the budget's clock per second, over the whole run so far."""
        clock = self.session.clock
        return 1.0 if clock.main == "seconds" else reading / max(clock.seconds, 1e-9)

    def why_stop(self) -> Reason | None:
        if self.interrupts.received is not None:
            return Reason("interrupted", f"interrupted by {self.interrupts.received}")
        return after_rollout(self.session.cfg, self.session.clock, self.row)

    def spent_already(self) -> Reason | None:
        """A resumed run may have nothing left to do."""
        clock = self.session.clock
        return after_rollout(self.session.cfg, clock, {}) if clock.rollouts else None

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
            reason=reason,
        )
        self.watch.add("checkpoint", time.perf_counter() - began)

    def report(self) -> None:
        if time.monotonic() - self.reported > REPORT_SECONDS:
            self.reported = time.monotonic()
            self.run.update(clocks=self.session.clock.counters())

    # ---- the end -----------------------------------------------------------------------------

    def take_last_results(self, reason: Reason) -> None:
        """The evaluation under way, and one of the last version unless a result ended the run."""
        s = self.session
        with self.late_results():
            self.take_result()
        scored_out = reason.kind in ("solved", "eval_return", "plateau")
        if not scored_out and s.cfg.eval.every is not None and s.scores.newest != s.clock.env_steps:
            self.submit()
            with self.late_results():
                self.take_result()

    @contextmanager
    def late_results(self) -> Iterator[None]:
        """A result taken in here, after the row of its rollout, has one of its own beside the clocks."""
        before, self.row = self.row, {}
        yield
        if self.row:
            self.recorder.write(self.row | clock_row(self.session.clock, 0.0))
            self.session.late_rows += 1
            self.follow()
        self.row = before

    def finish(self, reason: Reason) -> Summary:
        """Confirm the best version on held-out seeds and close the books."""
        s = self.session
        best = s.scores.best
        version = best["env_steps"] if best else s.clock.env_steps
        confirmed = self.confirm(version) if reason.is_end else None
        score = confirmed.score() if confirmed else best
        threshold = s.cfg.facts.threshold
        solved = None if threshold is None else bool(confirmed) and is_solved(score, threshold)
        if confirmed is not None:
            self.event("confirmed", version=version, score=score)
        self.store.flush()
        ended = Ended(
            reason=reason,
            interrupted=self.interrupts.asked(),
            score=score,
            confirmed=confirmed is not None,
            solved=solved,
            best=version if confirmed or best else None,
        )
        return close_books(self.run, s.clock, ended, self.recorder.alerts)

    def confirm(self, version: int) -> Evaluation | None:
        saved = checkpoint.find(self.run.path, version)
        role = next(iter(self.session.learners))
        spec, arrays = saved.document("policy")[role], of_role(role, saved.tensors(POLICY))
        return self.session.scores.confirm(spec, arrays, version, self.interrupts.asked)

    def event(self, kind: str, **detail: object) -> None:
        counters = self.session.clock.counters()
        self.run.event(kind, counters, **detail)
        self.recorder.event({"kind": kind, **counters, **detail})
