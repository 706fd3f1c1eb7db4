"""Evaluation jobs, done by a process of their own or inline: same numbers either way.

A job carries an immutable snapshot of the policy and its version; the answer names that version.
"""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
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

    def __init__(self, cfg: Config[Any]) -> None:
        self.cfg = cfg
        self.evaluator: AnyEvaluator | None = None
        self._done: Scored | None = None

    def get_ready(self) -> None: ...

    def submit(self, job: Job) -> None:
        self.evaluator = self.evaluator or open_evaluator(self.cfg)
        self._done = perform(self.evaluator, job)

    def result(self, give_up: Callable[[], bool]) -> Scored | None:
        done, self._done = self._done, None
        return done

    def close(self) -> None:
        if self.evaluator is not None:
            self.evaluator.close()


CLOSING_SECONDS = 0.5
"""How long the child may take to close its environments."""
ALIVE = "alive"
"""What the child says now and then while it plays."""
ALIVE_SECONDS = 2.0


class Process:
    """A child that holds its own environments; started before the first job if there is time, ends
    with the pipe. One that dies or hangs is replaced and gets its job again: the same seeds, the same
    result."""

    def __init__(self, cfg: Config[Any], tell: Callable[[str], None]) -> None:
        """`tell` gets whatever the child prints: warnings, tracebacks."""
        self.cfg, self.tell = cfg, tell
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._job: Job | None = None
        self._lost = 0
        """Children lost over the job."""

    def get_ready(self) -> None:
        if self._connection is None:
            with suppress(OSError):  # told when a job cannot be sent
                self._open()

    def submit(self, job: Job) -> None:
        self._job, self._lost = job, 0
        try:
            self._send()
        except OSError:
            self._replace(self._died())

    def result(self, give_up: Callable[[], bool]) -> Scored | None:
        while True:
            try:
                answer = self._answer(give_up)
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

    def _answer(self, give_up: Callable[[], bool]) -> Any:
        """What the child makes of the job; None if give_up() comes first."""
        assert self._connection is not None
        heard = time.monotonic()
        while True:
            if self._connection.poll(0.05):
                answer = self._connection.recv()
                if answer != ALIVE:
                    return answer
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
        self._connection.send(self.cfg)
        return self._connection

    def _replace(self, why: str) -> None:
        """Another child for the same job, unless too many were lost over it."""
        self.close()
        self._connection, self._lost = None, self._lost + 1
        self.tell(f"evaluation: the process {why}")
        if self._lost >= self.cfg.env.max_faults or self.cfg.env.on_fault == "stop":
            raise EnvError(f"the evaluation process {why}", fix="see the run's log.txt")
        self._send()

    def _died(self) -> str:
        return f"died with exit code {self._child.wait() if self._child else 'unknown'}"

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


def perform(evaluator: AnyEvaluator, job: Job, beat: Callable[[], None] = lambda: None) -> Scored:
    """`beat` is called at every step that is played."""
    began = time.perf_counter()
    policies: dict[str, Policy] = {}
    for role, spec in job.specs.items():
        policies[role] = Policy.from_spec(spec)
        policies[role].load(of_role(role, job.arrays))
    plan, told = evaluator.plan(job.which), {"kind": job.which, "version": job.version}
    if isinstance(evaluator, Evaluator):
        evaluation, traces = evaluator.evaluate(policies[ROLE], job.version, plan, beat)
        if job.traces is not None:
            write_traces(job.traces, traces, told)
    else:
        evaluation, matches = evaluator.evaluate(policies, job.version, plan, beat, job.run)
        if job.traces is not None:
            write_matches(job.traces, matches, told)
    return replace(evaluation, seconds=time.perf_counter() - began)


def open_evaluation(cfg: Config[Any], tell: Callable[[str], None]) -> Evaluating:
    return Inline(cfg) if cfg.eval.mode == "inline" else Process(cfg, tell)
