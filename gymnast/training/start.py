"""Begin a run, or go on with one: everything that surrounds the loop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from gymnast import guard
from gymnast.collect.collector import ROLE, Collector
from gymnast.collect.vector import VectorCollector
from gymnast.config.config import Config
from gymnast.config.families import has_roles
from gymnast.config.resolve import Resolved, save
from gymnast.engine.choice import choose, in_shares
from gymnast.engine.engine import load_engine
from gymnast.engine.threads import fix_threads, refuse_missing_device
from gymnast.errors import CheckpointError, ConfigError, GymnastError, RunError
from gymnast.film.background import film_in_background
from gymnast.metrics.recorder import Recorder, Sink, Summary
from gymnast.metrics.sinks.log import LogFile
from gymnast.metrics.specs import Metric, declared
from gymnast.metrics.store import MetricStore
from gymnast.metrics.tracking import Tracked, refuse_missing, trackers
from gymnast.runs import checkpoint, films, store
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.parts import of_role
from gymnast.runs.run import Run
from gymnast.shaping.shaping import Shaping
from gymnast.training.branch import WEIGHTS
from gymnast.training.commands import Commands
from gymnast.training.control import Settings
from gymnast.training.debug import announce, in_one_process
from gymnast.training.effects import note_settings_without_effect
from gymnast.training.evaluate import refuse_uncountable
from gymnast.training.evaluation import open_evaluation
from gymnast.training.holding import refuse_too_many_steps
from gymnast.training.interrupts import LEAVE_SECONDS, Interrupts
from gymnast.training.keys import Keys
from gymnast.training.label import Label
from gymnast.training.learner import load_algorithm, policy_for
from gymnast.training.loop import Loop
from gymnast.training.progress import progress_text
from gymnast.training.rules import refuse_rules_that_cannot_act
from gymnast.training.scores import Scores
from gymnast.training.session import POLICY, Session, judged_settings, limits_of
from gymnast.training.slurm import requeue
from gymnast.training.summary import end_text
from gymnast.training.watchdog import StallReport, Watchdog

ConsoleFor = Callable[[Mapping[str, Metric], Config[Any]], Sink]
"""Makes what shows the run to a person, once its metrics are known."""


def begin(
    resolved: Resolved,
    collector: Collector,
    runs_dir: Path,
    *,
    label: Label = Label(),  # noqa: B008
    source: tuple[Run, Checkpoint] | None = None,
    console: ConsoleFor,
    keyboard: bool = False,
    debug: bool = False,
    continues: bool = False,
) -> tuple[Run, Summary]:
    """Train a new run to its end. `source`: the run and checkpoint whose weights it starts from;
    `keyboard`: keys pressed in the terminal are commands; `continues`: the same command, given again,
    would continue it."""
    cfg = resolved.config
    refuse_what_cannot_begin(cfg, collector, source)
    if has_roles(cfg.env.id):
        _refuse_unknown_players(cfg, collector, runs_dir)
    with store.naming(label.name, runs_dir):
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
            claimed=label.claimed,
            threshold=cfg.facts.threshold,
            repeatable=_repeatable(cfg),
        )
    held = in_one_process(cfg) if debug else cfg
    with open_run(run, held, collector, console, keyboard=keyboard, continues=continues) as loop:
        start_fresh(loop, source)
        note_settings_without_effect(loop, resolved.given)
        if debug:
            announce(loop, cfg)
        return run, train_to_end(loop)


@contextmanager
def open_run(
    run: Run,
    cfg: Config[Any],
    collector: Collector,
    console: ConsoleFor,
    *,
    keyboard: bool = False,
    continues: bool = False,
) -> Iterator[Loop]:
    """The run's writer: recorder, evaluation and signals around a loop; all closed on every exit."""
    with ExitStack() as stack:
        stack.callback(guard.unmark)
        stack.callback(collector.close)
        stack.enter_context(run.writer())
        metrics = declared(cfg, limits_of(collector, cfg))
        log = LogFile(run.path / "log.txt", metrics, ending=end_text)
        stack.enter_context(log.listening())
        record, loss = _open_record(run)
        shown = console(metrics, cfg)

        def tell(kind: str, counters: Mapping[str, float], **detail: Any) -> None:
            run.event(kind, counters, **detail)
            recorder.event({"kind": kind, **counters, **detail})

        placed = partial(films.placed, run.path)
        following = trackers(Tracked.of(run.info, cfg, metrics, run.path, placed), tell)
        # closed in this order: a tracker may take its time, and the log tells what became of it
        sinks: list[Sink] = [shown, *following, log]
        roles = [role for role in collector.spaces if role != ROLE]
        recorder = Recorder(metrics, sinks, judged_settings(cfg, run), roles, record)
        stack.callback(recorder.close)

        def report(done: int, total: int, seconds: float) -> None:
            """Shown to whoever waits for an evaluation; not kept among the events."""
            recorder.event({"kind": "evaluating", "finished": progress_text(done, total, seconds)})

        evaluating = open_evaluation(cfg, log.line, report)
        stack.callback(evaluating.close)
        played = run.matches if has_roles(cfg.env.id) else run.traces
        scores = Scores(evaluating, played if cfg.traces.eval else None, run.path)
        session = Session.build(cfg, collector, scores, run.path)
        networks = [x.policy.network for x in session.learners.values()]
        fix_threads(cfg.threads, in_shares=any(in_shares(cfg, network) for network in networks))

        commands = Commands(run)
        keys = Keys(run, commands, shown, wanted=keyboard)

        def leave(reason: str) -> None:
            keys.close()
            closing = threading.Thread(target=recorder.close, daemon=True)
            closing.start()
            closing.join(LEAVE_SECONDS / 2)  # a tracker may wait for a network
            run.update(status="stopped", reason=reason, reason_kind="interrupted")
            counters = session.clock.counters()
            run.event("stopping", counters, reason=reason, reason_kind="interrupted")
            requeue(run, counters, interrupts.received, continues=continues)
            closing.join()

        def say(text: str) -> None:
            for sink in (shown, log):
                sink.event({"kind": "stopping", "message": text})

        interrupts = stack.enter_context(Interrupts(leave, say))
        stall_report = StallReport(run, log, shown, lambda: dict(session.clock.counters()))
        stack.enter_context(Watchdog(cfg.env.timeout, stall_report))
        stack.enter_context(keys)
        attempts = run.info["attempts"] + 1
        run.update(status="running", reason="", reason_kind="", live={}, attempts=attempts)
        loop = Loop(run, session, recorder, record, interrupts, commands)
        stack.callback(loop.beside.close)
        if loss:
            loop.event("record begins anew", why=loss)
        yield loop
        requeue(run, session.clock.counters(), interrupts.received, continues=continues)


def start_fresh(loop: Loop, source: tuple[Run, Checkpoint] | None) -> None:
    note_engine(loop)
    for doubt in loop.session.collector.doubts:
        loop.event("seeds in doubt", why=doubt)
    loop.session.collector.begin()
    if source is not None:
        _take_weights(loop, *source)


def note_engine(loop: Loop) -> list[str]:
    """What computes from here on; `engine` if that is not what computed before."""
    cfg, before = loop.session.cfg, loop.run.info.get("engine", "torch")
    chosen = {choose(cfg, x.policy.network).computes for x in loop.session.learners.values()}
    now = " and ".join(sorted(chosen))
    loop.run.update(engine=now)
    if loop.session.clock.rollouts == 0 or before == now:
        return []
    loop.event("engine changed", **{"from": before, "to": now})
    return ["engine"]


def _open_record(run: Run) -> tuple[MetricStore, str]:
    """The metric record to go on with, and what was lost of it. A damaged one is set aside."""
    path = run.path / "metrics.db"
    missing = max(checkpoint.steps(run.path), default=0) > 0 and not path.exists()
    try:
        return MetricStore(path, "w"), "metrics.db was missing" if missing else ""
    except RunError as problem:
        aside = path.with_name(f"metrics.damaged-{int(time.time())}.db")
        path.rename(aside)
        return MetricStore(path, "w"), f"{problem.message}; the file is now {aside.name}"


def train_to_end(loop: Loop) -> Summary:
    try:
        summary = loop.train()
    except BaseException as problem:
        loop.interrupts.hold_if_leaving()
        text = (str(problem) or type(problem).__name__).splitlines()[0]
        loop.run.update(status="failed", reason=text, reason_kind="failed", solved=None)
        with suppress(GymnastError):  # the disk may be full
            loop.event("stopping", reason=text, reason_kind="failed")
        with suppress(Exception):  # what led to it is told before it
            loop.recorder.settle()
        logging.getLogger("gymnast").exception("training failed")
        raise
    finally:
        with suppress(GymnastError):  # a full disk has been told of
            loop.commands.refuse_the_rest(loop, "the run had ended")
    film_in_background(loop.run.path, loop.session.cfg)
    loop.recorder.close(summary)
    return summary


def _take_weights(loop: Loop, parent: Run, saved: Checkpoint) -> None:
    for role, learner in loop.session.learners.items():
        arrays = of_role(role, saved.tensors(POLICY))
        taken, fresh = learner.policy.load_compatible(arrays)
        loop.event("weights taken", parent=parent.id, step=saved.step, taken=taken, fresh=fresh)
    loop.session.catch_up()


def refuse_what_cannot_begin(
    cfg: Config[Any], collector: Collector, source: tuple[Run, Checkpoint] | None
) -> None:
    """While there is no run yet: a run that exists is a run that trains."""
    refuse_missing(cfg.track.to)
    if not cfg.algo.native:
        load_engine("torch")
    load_algorithm(cfg.algo)
    if cfg.algo.acts != "sample" and isinstance(collector, VectorCollector):
        collector.envs.reset([0], [cfg.seed])
        if collector.envs.mask is not None:
            what = f"{cfg.algo.name} does not know action masks, which {cfg.env.id} gives"
            raise ConfigError(what, fix="set env.action_mask=off, or choose another algorithm")
    refuse_rules_that_cannot_act(cfg)
    refuse_missing_device(cfg.device)
    refuse_too_many_steps(cfg, [obs for obs, _ in collector.spaces.values()])
    settings, fits = Settings(cfg), False
    for role, (obs, action) in collector.spaces.items():
        own = settings.of(role)
        policy = policy_for(obs, action, own)
        load_engine(policy.engine)
        Shaping(own, obs)
        if cfg.eval.starts == "all":
            refuse_uncountable(obs)
        if source is not None:
            taken, _ = policy.load_compatible(of_role(role, source[1].tensors(POLICY)))
            fits |= any(name.endswith(".weight") or name.startswith("module.") for name in taken)
    if source is not None and not fits:
        raise CheckpointError(
            f"{source[0].id} has no weights that fit this policy",
            at=str(source[1].path),
            fix="use a run of the same environment and policy section",
        )


def _refuse_unknown_players(cfg: Config[Any], collector: Collector, runs_dir: Path) -> None:
    from gymnast.collect.matches import MatchCollector
    from gymnast.training.players import refuse_unknown_players

    assert isinstance(collector, MatchCollector)
    refuse_unknown_players(cfg, collector.matches, collector.learners, runs_dir)


def _repeatable(cfg: Config[Any]) -> bool:
    """Whether the same seed gives the same run: nothing that decides may read a wall clock."""
    settings = Settings(cfg)
    owners = [cfg, *(settings.of(role) for role in cfg.roles)]
    timed = [schedule for owner in owners for schedule in owner.algo.scheduled().values()]
    timed += [term.weight for owner in owners for term in owner.shaping.values()]
    cadences = [cadence for cadence in (cfg.eval.every, cfg.league.snapshot) if cadence]
    clocks = {x.clock for x in (*timed, *cadences)} | set(cfg.stop.limits())
    return "seconds" not in clocks
