"""Evaluation jobs, done by a process of their own or inline: same numbers either way.

A job carries an immutable snapshot of the policy and its version; the answer names that version.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from gymnast.collect.collector import ROLE
from gymnast.config.config import Config
from gymnast.config.families import has_roles
from gymnast.envs import child
from gymnast.errors import EnvError, GymnastError
from gymnast.policy.policy import Policy
from gymnast.runs.match_trace import write_matches
from gymnast.runs.parts import of_role
from gymnast.runs.trace import write_traces
from gymnast.training.evaluate import Evaluation, Evaluator, SeedList
from gymnast.training.journal import Journal
from gymnast.training.playing import Watch
from gymnast.training.progress import Report, Shown

if TYPE_CHECKING:
    from gymnast.training.match_evaluation import MatchEvaluation, MatchEvaluator

Scored: TypeAlias = "Evaluation | MatchEvaluation"
AnyEvaluator: TypeAlias = "Evaluator | MatchEvaluator"


@dataclass(frozen=True)
class Job:
    version: int
    """Env steps the policy has learned from."""
    specs: dict[str, Any]
    """Of the policy of each role."""
    arrays: dict[str, np.ndarray]
    """Of all of them, `ROLE/name`: a copy, since training goes on with the original."""
    which: SeedList
    traces: Path | None
    """Where to store the episodes."""
    run: Path | None = None
    """Its directory."""
    episodes: int | None = None
    """How many, instead of the config's number."""
    seconds: float | None = None
    """Start no further episodes after this long."""
    began: float = field(default_factory=time.monotonic)
    given_up: str = ""
    """Why nothing more is to be played, where too many processes were lost over it: score the rest."""


AT_LEAST = 10
"""Episodes that are started however long they take."""


class Evaluating(Protocol):
    """At most one job at a time: submit, then take its result."""

    def get_ready(self) -> None:
        """A job is going to come: whatever takes a while may be begun."""
        ...

    def submit(self, job: Job) -> None: ...
    def result(self, give_up: Callable[[], bool]) -> Scored | None:
        """Wait for the job's result; None if give_up() says so first."""
        ...

    def close(self) -> None: ...


class Inline:
    """In this process; its environments are opened for the first job."""

    def __init__(self, cfg: Config[Any], report: Report = lambda *_: None) -> None:
        self.cfg, self.report = cfg, report
        self.evaluator: AnyEvaluator | None = None
        self._done: Scored | GymnastError | None = None

    def get_ready(self) -> None: ...

    def submit(self, job: Job) -> None:
        try:
            self.evaluator = self.evaluator or open_evaluator(self.cfg)
            self._done = perform(self.evaluator, job, Shown(self.report))
        except GymnastError as problem:  # raised where a result is expected, as with a process
            self._done = problem

    def result(self, give_up: Callable[[], bool]) -> Scored | None:
        done, self._done = self._done, None
        if isinstance(done, GymnastError):
            raise done
        return done

    def close(self) -> None:
        if self.evaluator is not None:
            self.evaluator.close()


CLOSING_SECONDS = 0.5
"""How long the child may take to close its environments."""
ALIVE = "alive"
"""What the child says now and then while it plays, with episodes that have ended, of how many."""
ALIVE_SECONDS = 2.0


class Process:
    """A child that holds its own environments; started before the first job if there is time, ends
    with the pipe. One that dies or hangs is replaced by another that finishes the job: the same seeds,
    the same result, but for episodes that end every process they are played in."""

    def __init__(
        self, cfg: Config[Any], tell: Callable[[str], None], report: Report = lambda *_: None
    ) -> None:
        """`tell` gets whatever the child prints: warnings, tracebacks."""
        self.cfg, self.tell, self.report = cfg, tell, report
        self._journal = tempfile.TemporaryFile()  # noqa: SIM115 (closed with this object)
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._job: Job | None = None
        self._lost = 0
        """Children lost over the job since one finished an episode."""
        self._finished = 0
        """Episodes of the job that were finished when a child was last lost."""
        self._progress = (0, 0)
        """Episodes that have ended, of how many, as the child last said."""

    def get_ready(self) -> None:
        if self._connection is None:
            with suppress(OSError):  # told when a job cannot be sent
                self._open()

    def submit(self, job: Job) -> None:
        self._job, self._lost, self._finished, self._progress = job, 0, 0, (0, 0)
        self._journal.truncate(0)
        try:
            self._send()
        except OSError:
            self._replace(self._died())

    def result(self, give_up: Callable[[], bool]) -> Scored | None:
        shown = Shown(self.report)
        while True:
            try:
                answer = self._answer(give_up, shown)
            except (EOFError, OSError):
                if give_up():
                    return None
                self._replace(self._died())
                continue
            except _Silence as silence:
                self._replace(str(silence))
                continue
            if isinstance(answer, GymnastError):
                raise answer
            return answer

    def close(self) -> None:
        if self._child is not None and self._connection is not None:
            self._connection.close()
            try:
                self._child.wait(CLOSING_SECONDS)
            except subprocess.TimeoutExpired:  # it plays, or hangs, for nobody any more
                self._child.kill()
                self._child.wait()

    def _answer(self, give_up: Callable[[], bool], shown: Shown) -> Any:
        """What the child makes of the job; None if give_up() comes first."""
        assert self._connection is not None
        heard = time.monotonic()
        while True:
            shown(*self._progress)
            if self._connection.poll(0.05):
                answer = self._connection.recv()
                if not (isinstance(answer, tuple) and answer[0] == ALIVE):
                    return answer
                self._progress = answer[1:]
                heard = time.monotonic()
            elif give_up():
                return None
            elif time.monotonic() - heard > self.cfg.env.timeout + ALIVE_SECONDS:
                raise _Silence(f"said nothing for {time.monotonic() - heard:.0f} s")

    def _send(self) -> None:
        connection = self._connection or self._open()
        connection.send(self._job)

    def _open(self) -> Connection:
        self._connection = self._start()
        assert self._child is not None
        self._connection.send(self.cfg)
        send_handle(self._connection, self._journal.fileno(), self._child.pid)
        return self._connection

    def _replace(self, why: str) -> None:
        """Another child for the rest of the job. Once several in a row have finished nothing of it, the
        next one only scores what there is."""
        assert self._job is not None
        self.close()
        self.tell(f"evaluation: the process {why}")
        what, journal = f"the evaluation process {why}", Journal(self._journal)
        journal.blame(what)
        progress = len(journal.finished) > self._finished
        self._connection, self._finished = None, len(journal.finished)
        self._lost = 1 if progress else self._lost + 1
        most = self.cfg.env.max_faults
        if self._lost > most or self.cfg.env.on_fault == "stop":
            raise EnvError(what, fix="see the run's log.txt")
        self._job = replace(self._job, given_up=what if self._lost == most else "")
        self._send()

    def _died(self) -> str:
        code = self._child.wait() if self._child else 0
        name = f" ({signal.Signals(-code).name})" if code < 0 else ""
        return f"died with exit code {code}{name}"

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        self._child = child.start("gymnast.training.evaluation_worker", theirs)
        threading.Thread(target=self._listen, args=[self._child.stdout], daemon=True).start()
        theirs.close()
        return Connection(ours.detach())

    def _listen(self, printed: IO[bytes]) -> None:
        for line in printed:
            self.tell(f"evaluation: {line.decode(errors='replace').rstrip()}")


class _Silence(Exception):
    """The child may be hanging in an environment."""


def open_evaluator(cfg: Config[Any]) -> AnyEvaluator:
    if not has_roles(cfg.env.id):
        return Evaluator(cfg)
    from gymnast.training.match_evaluation import MatchEvaluator

    return MatchEvaluator(cfg)


def perform(
    evaluator: AnyEvaluator,
    job: Job,
    beat: Callable[[int, int], None] = lambda *_: None,
    journal: Journal | None = None,
) -> Scored:
    """`beat` is called at every step that is played, with episodes that have ended, of how many."""
    began = time.perf_counter()
    policies: dict[str, Policy] = {}
    for role, spec in job.specs.items():
        policies[role] = Policy.from_spec(spec)
        policies[role].load(of_role(role, job.arrays))
    plan, told = (
        evaluator.plan(job.which, job.episodes),
        {"kind": job.which, "version": job.version},
    )
    if evaluator.cfg.eval.starts == "seeds":  # some of all starts would be a biased choice
        plan = replace(plan, seconds=job.seconds, at_least=AT_LEAST)
    watch = Watch(began=job.began, beat=beat)
    if job.given_up and not isinstance(evaluator, Evaluator):
        raise EnvError(job.given_up, fix="see the run's log.txt")
    if job.given_up and journal is not None:
        journal.abandon(range(len(plan.seeds)), job.given_up)
    if isinstance(evaluator, Evaluator):
        evaluation, traces = evaluator.evaluate(policies[ROLE], job.version, plan, watch, journal)
        if job.traces is not None:
            write_traces(job.traces, traces, told)
    else:
        evaluation, matches = evaluator.evaluate(policies, job.version, plan, watch, job.run)
        if job.traces is not None:
            write_matches(job.traces, matches, told)
    return replace(evaluation, seconds=time.perf_counter() - began)


def open_evaluation(
    cfg: Config[Any], tell: Callable[[str], None], report: Report = lambda *_: None
) -> Evaluating:
    """`tell` gets what environments print in another process; `report`: how far an evaluation is."""
    return Inline(cfg, report) if cfg.eval.mode == "inline" else Process(cfg, tell, report)
