"""Starts a run, or reopens one for resume: everything around the training loop."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from gymnast.clock import DEFAULT_CLOCK, ClockName
from gymnast.collect.collector import ROLE, Collector
from gymnast.collect.open_vector import refuse_action_masks
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.config.resolve import ResolvedConfig, save
from gymnast.data_dir import data_dir
from gymnast.engine.choice import choose_engine, splits_batch_over_threads
from gymnast.engine.engine import load_engine
from gymnast.engine.threads import require_device, set_num_threads
from gymnast.errors import CheckpointError, GymnastError, RunError
from gymnast.evaluation.evaluate import require_countable_starts
from gymnast.evaluation.jobs import open_evaluation_runner
from gymnast.evaluation.progress import progress_text
from gymnast.evaluation.scores import Scores
from gymnast.film.background import film_in_background
from gymnast.measure.limits import metric_limits
from gymnast.metrics.recorder import Recorder, Sink, Summary
from gymnast.metrics.sinks.log import LogFile
from gymnast.metrics.specs import Metric, run_metrics
from gymnast.metrics.store import MetricStore
from gymnast.metrics.tracking import TrackedRun, require_packages, tracker_sinks
from gymnast.processes import guard
from gymnast.runs import checkpoint, films, layout, store
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.info import WEIGHTS
from gymnast.runs.role_arrays import arrays_of_role
from gymnast.runs.run import Run
from gymnast.runs.run_data import record_of_data_dir, sign_data_dir
from gymnast.settings import view_clock
from gymnast.shaping.shaping import Shaping
from gymnast.training.learner import build_policy, load_algorithm
from gymnast.training.lifecycle.debug import single_process_config, start_debugging
from gymnast.training.lifecycle.label import Label
from gymnast.training.lifecycle.slurm import requeue
from gymnast.training.lifecycle.summary import end_text
from gymnast.training.live.commands import Commands
from gymnast.training.live.interrupts import CLEANUP_SECONDS, Interrupts
from gymnast.training.live.keys import KeyListener
from gymnast.training.live.rules import validate_rules
from gymnast.training.live.settings import Settings, alert_settings
from gymnast.training.live.watchdog import StallReport, Watchdog
from gymnast.training.loop import Loop
from gymnast.training.memory_check import check_memory_fits
from gymnast.training.run_writer import RunWriter
from gymnast.training.session import POLICY, Session
from gymnast.training.update import LearnerThread

ConsoleFactory = Callable[[Mapping[str, Metric], Config], Sink]
"""Returns the console sink of a run, for its metrics and config."""


def start_run(
    resolved: ResolvedConfig,
    collector: Collector,
    runs_dir: Path,
    *,
    label: Label = Label(),  # noqa: B008
    source: tuple[Run, Checkpoint] | None = None,
    console: ConsoleFactory,
    keyboard: bool = False,
    debug: bool = False,
    rerun_resumes: bool = False,
    pause_at: int | None = None,
) -> tuple[Run, Summary]:
    """Creates a run in `runs_dir`, trains it to its end and returns it with its summary. `label`: its name,
    group and tags; `source`: the run and checkpoint whose weights it starts from; `keyboard`: keys pressed in
    the terminal are commands; `rerun_resumes`: running the same command again would continue this run
    (decides whether a SLURM job is requeued); `pause_at`: as in `TrainRequest`."""
    # 1. Refuse what cannot work while there is nothing to clean up.
    cfg = resolved.config
    data = validate_new_run(cfg, collector, source, runs_dir)
    # 2. Create the run directory. The stored config is the requested one, also with --debug.
    with store.reserve_name(label.name, runs_dir):
        run = Run.create(
            runs_dir,
            config_text=save(cfg),
            preset=resolved.preset,
            seed=cfg.seed,
            name=label.name,
            parent=source[0].id if source else None,
            parent_step=source[1].step if source else None,
            parent_kind=WEIGHTS if source else None,
            group=label.group,
            tags=label.tags,
            provenance=resolved.provenance,
            env=cfg.env.id,
            algo=cfg.algo.name,
            reserved_dir=label.claimed_dir,
            threshold=cfg.facts.threshold,
            repeatable=_repeatable(cfg),
            data=record_of_data_dir(data, runs_dir),
        )
    sign_data_dir(run)
    # 3. Train.
    used = single_process_config(cfg) if debug else cfg
    with open_run(
        run, used, collector, console, keyboard=keyboard, rerun_resumes=rerun_resumes
    ) as opened:
        start_fresh(opened.session, opened.writer, source)
        opened.announce(resolved.explicit_keys, cfg if debug else None)
        return run, train_to_end(opened, pause_at=pause_at)


@dataclass(frozen=True)
class OpenRun:
    """A run that is open for training: its state, and what reads and writes next to it."""

    session: Session
    writer: RunWriter
    interrupts: Interrupts
    commands: Commands
    learner_thread: LearnerThread

    def announce(self, changed_keys: Iterable[str], debugged: Config | None) -> None:
        """Records an event for each of these settings that has no effect in this run and, for a session with
        --debug, which settings of the config `debugged` it replaces."""
        session = self.session
        self.writer.unused_settings(changed_keys, session.cfg, session.collector)
        if debugged is not None:
            policies = [learner.policy for learner in session.learners.values()]
            self.writer.event("debugging", changes=start_debugging(debugged, policies))


@contextmanager
def open_run(
    run: Run,
    cfg: Config,
    collector: Collector,
    console: ConsoleFactory,
    *,
    keyboard: bool = False,
    rerun_resumes: bool = False,
) -> Iterator[OpenRun]:
    """Opens everything that a run needs (lock, recorder, evaluation, signal handlers, watchdog, keys), yields
    it, and closes it all on every way out, in reverse order. The arguments are those of `start_run`."""
    with ExitStack() as stack:
        # The stack closes in reverse order, so what is entered first is available longest: a failure
        # anywhere below can still be recorded, and the lock is held until all files are written.
        stack.callback(guard.unmark)
        stack.callback(collector.close)
        stack.enter_context(run.writer())
        metrics = run_metrics(cfg, metric_limits(collector, cfg))
        log = LogFile(layout.LOG.path(run.path), metrics, format_summary=end_text)
        stack.enter_context(log.capture_logging())
        metric_store, loss = _open_metric_store(run)
        console_sink = console(metrics, cfg)

        def record_event(kind: str, counters: Mapping[str, float], **detail: object) -> None:
            run.record_event(kind, counters, **detail)
            recorder.event({"kind": kind, **counters, **detail})

        clock = _clock_of_trackers(run) if cfg.track.to else DEFAULT_CLOCK
        list_films = partial(films.placed_films, run.path, clock)
        tracked = TrackedRun.from_run_info(run.info, cfg, metrics, run.path, list_films, clock)
        # The recorder closes its sinks in this order: a tracker may take long to upload, and the log
        # records how that ended.
        sinks: list[Sink] = [console_sink, *tracker_sinks(tracked, record_event), log]
        roles = [role for role in collector.spaces if role != ROLE]
        recorder = Recorder(metrics, sinks, alert_settings(cfg, run), roles, metric_store)
        stack.callback(recorder.close)

        def report_progress(done: int, total: int, seconds: float) -> None:
            """Shows the progress of an evaluation; it is not written to events.jsonl."""
            recorder.event({"kind": "evaluating", "finished": progress_text(done, total, seconds)})

        evaluation_runner = open_evaluation_runner(cfg, log.write_line, report_progress)
        stack.callback(evaluation_runner.close)
        traces = run.matches if is_multi_agent(cfg.env.id) else run.traces
        scores = Scores(evaluation_runner, traces if cfg.traces.eval else None, run.path)
        session = Session.build(cfg, collector, scores, run.path)
        networks = [learner.policy.network for learner in session.learners.values()]
        set_num_threads(
            cfg.threads,
            split_batch=any(splits_batch_over_threads(cfg, network) for network in networks),
        )

        commands = Commands(run)
        keys = KeyListener(run, commands, console_sink, enabled=keyboard)

        def on_exit(reason: str, kind: str) -> None:
            """Called by another thread just before the process exits. `kind`: interrupted or failed."""
            keys.close()
            closing = threading.Thread(target=recorder.close, daemon=True)
            closing.start()
            closing.join(CLEANUP_SECONDS / 2)  # a tracker may wait for a network
            status = "stopped" if kind == "interrupted" else kind
            run.update(status=status, reason=reason, reason_kind=kind)
            counters = session.clock.counters()
            run.record_event("stopping", counters, reason=reason, reason_kind=kind)
            if kind == "failed":
                fix = f"gymnast resume {run.id} --set env.backend=process"
                print(f"error: {run.id}: {reason}\n  fix: {fix}", file=sys.stderr, flush=True)
            # SLURM kills the job when it is requeued, so everything else is done before.
            requeue(run, counters, interrupts.received, rerun_resumes=rerun_resumes)
            closing.join()  # the caller ends the process after CLEANUP_SECONDS in any case

        def show_message(text: str) -> None:
            for sink in (console_sink, log):
                sink.event({"kind": "stopping", "message": text})

        interrupts = stack.enter_context(Interrupts(on_exit, show_message))
        counters = lambda: dict(session.clock.counters())  # noqa: E731
        stall_report = StallReport(run, log, console_sink, counters, interrupts.fail)
        stack.enter_context(Watchdog(cfg.env.timeout, stall_report))
        stack.enter_context(keys)
        attempts = run.info["attempts"] + 1
        limits = cfg.stop.limits()
        run.update(
            status="running", reason="", reason_kind="", live={}, limits=limits, attempts=attempts
        )
        learner_thread = LearnerThread()
        stack.callback(learner_thread.close)
        writer = RunWriter(run, recorder, metric_store, session.clock)
        if loss:
            writer.event("record restarted", why=loss)
        yield OpenRun(session, writer, interrupts, commands, learner_thread)
        requeue(run, session.clock.counters(), interrupts.received, rerun_resumes=rerun_resumes)


def start_fresh(session: Session, writer: RunWriter, source: tuple[Run, Checkpoint] | None) -> None:
    """Starts the first episodes, with the weights of `source` if there is one."""
    writer.run.update(engine=engine_name(session))
    for warning in session.collector.seeding_warnings:
        writer.event("seeding warning", why=warning)
    session.collector.start_episodes()
    if source is not None:
        parent, saved = source
        for loaded, fresh in session.load_weights(saved):
            writer.event(
                "weights loaded", parent=parent.id, step=saved.step, taken=loaded, fresh=fresh
            )


def _clock_of_trackers(run: Run) -> ClockName:
    """Returns the clock that trackers draw a run over: the one of its first attempt, since later rows join
    the same charts."""
    clock = run.info.get("tracked_over") or view_clock()
    run.update(tracked_over=clock)
    return clock


def engine_name(session: Session) -> str:
    """Returns the engine that computes the updates, or several joined by "and"."""
    learners = session.learners.values()
    chosen = {choose_engine(session.cfg, learner.policy.network).backend for learner in learners}
    return " and ".join(sorted(chosen))


def _open_metric_store(run: Run) -> tuple[MetricStore, str]:
    """Returns the database of metrics to append to, and what was lost ("" if nothing). A damaged file
    is renamed and a new one started."""
    path = layout.METRICS.path(run.path)
    # A run with only its start checkpoint has no rows yet, so nothing is missing.
    has_rows = max(checkpoint.list_checkpoints(run.path), default=0) > 0
    problem = "empty" if path.exists() else "missing"
    try:
        opened = MetricStore(path, "w")
        lost = has_rows and not opened.count(1)
        return opened, f"metrics.db was {problem}" if lost else ""
    except RunError as problem:
        aside = path.with_name(f"metrics.damaged-{int(time.time())}.db")
        path.rename(aside)
        return MetricStore(path, "w"), f"{problem.message}; the file is now {aside.name}"


def train_to_end(
    opened: OpenRun, row: Mapping[str, float] = {}, *, pause_at: int | None = None
) -> Summary:
    """Trains until the loop ends and closes the recorder. A failure is recorded before it is raised. `row`:
    the metrics of the last rollout before a resume; `pause_at`: as in `TrainRequest`."""
    session, writer = opened.session, opened.writer
    loop = Loop(
        session,
        writer,
        opened.interrupts,
        opened.commands,
        opened.learner_thread,
        dict(row),
        pause_at,
    )
    try:
        summary = loop.train()
    except BaseException as problem:
        # After a second signal this exception comes from files that the exiting thread has closed.
        opened.interrupts.block_if_exiting()
        text = (str(problem) or type(problem).__name__).splitlines()[0]
        writer.run.update(status="failed", reason=text, reason_kind="failed", solved=None)
        with suppress(GymnastError):  # the disk may be full
            writer.event("stopping", reason=text, reason_kind="failed")
        with suppress(Exception):  # write the rows that led to the failure before the traceback
            writer.recorder.process_pending()
        if isinstance(problem, Exception) and not isinstance(problem, GymnastError):
            archive = f"the archive that `gymnast bundle {writer.run.id}` writes"
            problem.add_note(f"If this is a defect of gymnast, attach {archive} to your report.")
        logging.getLogger("gymnast").exception("training failed")
        raise
    finally:
        with suppress(GymnastError):  # a full disk has been reported already
            loop.refuse_commands("the run had ended")
    # Last, and without waiting: filming must not cost training time.
    film_in_background(writer.run.path, session.cfg)
    writer.recorder.close(summary)
    return summary


def validate_new_run(
    cfg: Config, collector: Collector, source: tuple[Run, Checkpoint] | None, runs_dir: Path
) -> Path:
    """Returns the data directory of a new run. Raises for every problem that can be found before it
    exists."""
    validate_before_start(cfg, collector, source)
    if is_multi_agent(cfg.env.id):
        _refuse_unknown_players(cfg, collector, runs_dir)
    return data_dir(cfg.traces.data, runs_dir)


def validate_before_start(
    cfg: Config, collector: Collector, source: tuple[Run, Checkpoint] | None
) -> None:
    """Raises for every problem that can be found before the run directory exists, so that a run that exists
    is a run that trains: missing trackers, engines and devices, unsuitable spaces, too little memory, rules
    that cannot act, weights that do not fit. `source`: the run and checkpoint of these weights, if any."""
    require_packages(cfg.track.to)
    if not cfg.algo.native:
        load_engine("torch")
    load_algorithm(cfg.algo)
    # Whether an environment provides masks is known only after a reset.
    if cfg.algo.action_selection != "sample" and isinstance(collector, VectorCollector):
        collector.envs.reset([0], [cfg.seed])
        if collector.envs.mask is not None:
            refuse_action_masks(cfg)
    validate_rules(cfg)
    require_device(cfg.device)
    check_memory_fits(cfg, [obs for obs, _ in collector.spaces.values()])
    settings, fits = Settings(cfg), False
    for role, (obs, action) in collector.spaces.items():
        own = settings.for_role(role)
        policy = build_policy(obs, action, own)
        load_engine(policy.engine)
        Shaping(own, obs)
        if cfg.eval.starts == "all":
            require_countable_starts(obs)
        if source is not None:
            loaded, _ = policy.load_compatible(arrays_of_role(role, source[1].tensors(POLICY)))
            # biases alone do not count: they fit almost any network of the same width
            fits |= any(name.endswith(".weight") or name.startswith("module.") for name in loaded)
    if source is not None and not fits:
        raise CheckpointError(
            f"{source[0].id} has no weights that fit this policy",
            at=str(source[1].path),
            fix="use a run of the same environment and policy section",
        )


def _refuse_unknown_players(cfg: Config, collector: Collector, runs_dir: Path) -> None:
    """Raises ConfigError if the config names an opponent that cannot be loaded."""
    # imported here: training a single agent must not pay for loading the self-play modules
    from gymnast.collect.matches import MatchCollector
    from gymnast.selfplay.players import refuse_unknown_players

    assert isinstance(collector, MatchCollector)
    refuse_unknown_players(cfg, collector.matches, collector.learners, runs_dir)


def _repeatable(cfg: Config) -> bool:
    """True if the same seed gives the same run: no schedule, cadence or budget uses the wall clock, and hosts
    do not collect asynchronously."""
    settings = Settings(cfg)
    owners = [cfg, *(settings.for_role(role) for role in cfg.roles)]
    schedules = [
        schedule for owner in owners for schedule in owner.algo.active_schedules().values()
    ]
    schedules += [term.weight for owner in owners for term in owner.shaping.values()]
    cadences = [cadence for cadence in (cfg.eval.every, cfg.league.snapshot) if cadence]
    clocks = {x.clock for x in (*schedules, *cadences)} | set(cfg.stop.limits())
    return "seconds" not in clocks and cfg.collect.mode != "async"
