"""Evaluation jobs, run in a process of their own or inline, with the same numbers either way.

A job contains an immutable snapshot of the policy and its version; the result names that version.
"""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from gymnast.collect.collector import ROLE
from gymnast.config.config import Config
from gymnast.config.families import is_multi_agent
from gymnast.config.plain_value import PlainValue
from gymnast.envs.backends.child import Child
from gymnast.errors import EnvError, GymnastError
from gymnast.evaluation.episodes import EvaluationProgress
from gymnast.evaluation.evaluate import Evaluation, Evaluator, SeedList
from gymnast.evaluation.journal import Journal
from gymnast.evaluation.progress import ProgressCallback, ThrottledReport
from gymnast.metrics.score import MIN_EPISODES
from gymnast.policy.policy import Policy
from gymnast.runs.match_trace import MatchTrace, write_matches
from gymnast.runs.role_arrays import arrays_of_role
from gymnast.runs.trace import Trace, write_traces

if TYPE_CHECKING:
    from gymnast.selfplay.evaluation import MatchEvaluation, MatchEvaluator

EvaluationResult: TypeAlias = "Evaluation | MatchEvaluation"
AnyEvaluator: TypeAlias = "Evaluator | MatchEvaluator"
Traces = Sequence[Trace] | Sequence[MatchTrace]
PolicySpecs = Mapping[str, dict[str, PlainValue]]
"""Role -> specification of its policy, as `Policy.spec` returns it."""


@dataclass(frozen=True)
class EvaluationJob:
    version: int
    """Number of env steps that the policy has learned from."""
    specs: PolicySpecs
    arrays: dict[str, np.ndarray]
    """Parameters of all policies, named `ROLE/name`: copies, since training changes the originals."""
    seed_list: SeedList
    trace_file: Path | None
    """File for the traces of the episodes."""
    run_dir: Path | None = None
    """Directory of the run."""
    episodes: int | None = None
    """Number of episodes, instead of the config's."""
    max_seconds: float | None = None
    """Seconds after which no further episode is started."""
    started_at: float = field(default_factory=time.monotonic)
    give_up_reason: str = ""
    """The reason for playing no more episodes after too many processes were lost: the finished ones are
    scored. Empty as long as episodes are played."""


class EvaluationRunner(Protocol):
    """Runs at most one job at a time: submit it, then wait for its result."""

    def start(self) -> None:
        """Prepares for the first job, such as by starting a process."""
        ...

    def submit(self, job: EvaluationJob) -> None: ...
    def result(self, should_stop: Callable[[], bool]) -> EvaluationResult | None:
        """Waits for the job's result; returns None if should_stop() becomes true first."""
        ...

    def close(self) -> None: ...


class InlineEvaluation:
    """Evaluates in this process; its environments are opened for the first job."""

    def __init__(self, cfg: Config, report: ProgressCallback = lambda *_: None) -> None:
        self.cfg, self.report = cfg, report
        self.evaluator: AnyEvaluator | None = None
        self._done: EvaluationResult | GymnastError | None = None

    def start(self) -> None: ...

    def submit(self, job: EvaluationJob) -> None:
        """Evaluates the job before returning; the result or error is kept for `result`."""
        try:
            self.evaluator = self.evaluator or open_evaluator(self.cfg)
            self._done = run_job(self.evaluator, job, ThrottledReport(self.report))
        except GymnastError as problem:  # raised by `result`, as with a process
            self._done = problem

    def result(self, should_stop: Callable[[], bool]) -> EvaluationResult | None:
        """Returns the result of the submitted job, or raises its error. It is already there, so `should_stop`
        is not called."""
        done, self._done = self._done, None
        if isinstance(done, GymnastError):
            raise done
        return done

    def close(self) -> None:
        if self.evaluator is not None:
            self.evaluator.close()


CLOSING_SECONDS = 0.5
"""Time that the child may take to close its environments."""
ALIVE = "alive"
"""Tag of the child's heartbeat messages: (ALIVE, episodes done, episodes planned)."""
ALIVE_SECONDS = 2.0
"""Interval of the heartbeat."""


class ProcessEvaluation:
    """Evaluates in a child process with its own environments, which ends when the pipe closes. A child
    that dies or hangs is replaced by another, which finishes the job with the same seeds and the same
    result, except for episodes that end every process they are played in."""

    def __init__(
        self,
        cfg: Config,
        log_line: Callable[[str], None],
        report: ProgressCallback = lambda *_: None,
    ) -> None:
        """`log_line` gets every line that the child prints, such as warnings and tracebacks; `report`
        gets the progress."""
        self.cfg, self.log_line, self.report = cfg, log_line, report
        # An unnamed file that every child inherits: it outlives the children and needs no cleanup.
        self._journal = tempfile.TemporaryFile()  # noqa: SIM115 (closed with this object)
        self._child: Child | None = None
        self._connection: Connection | None = None
        self._job: EvaluationJob | None = None
        self._lost = 0
        """Number of children lost in a row without one finished episode."""
        self._finished = 0
        """Number of finished episodes when a child was last lost."""
        self._progress = (0, 0)
        """(episodes done, episodes planned) of the last heartbeat."""

    def start(self) -> None:
        if self._connection is None:
            with suppress(OSError):  # reported when a job cannot be sent
                self._open()

    def submit(self, job: EvaluationJob) -> None:
        """Sends the job to the child process, which evaluates it while this process continues. A dead child
        is replaced."""
        self._job, self._lost, self._finished, self._progress = job, 0, 0, (0, 0)
        self._journal.truncate(0)
        try:
            self._send()
        except OSError:
            self._replace(self._died())

    def result(self, should_stop: Callable[[], bool]) -> EvaluationResult | None:
        """Waits for the job's result, and replaces children that die or hang; returns None if should_stop()
        becomes true first. Raises the error that the child answered, or EnvError if too many children were
        lost."""
        report = ThrottledReport(self.report)
        while True:
            try:
                answer = self._answer(should_stop, report)
            except (EOFError, OSError):
                # Ctrl-C reaches the whole process group, so the child may have died of the same signal.
                if should_stop():
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
            # After that it still plays or hangs, and nobody waits for it.
            self._child.end(CLOSING_SECONDS)

    def _answer(
        self, should_stop: Callable[[], bool], report: ThrottledReport
    ) -> EvaluationResult | GymnastError | None:
        """Returns the child's answer, a result or an error; None if should_stop() becomes true first.
        `report` gets the progress. Raises _Silence if the child sends nothing for too long, EOFError or
        OSError if it has died."""
        assert self._connection is not None
        last_message = time.monotonic()
        while True:
            report(*self._progress)
            if self._connection.poll(0.05):
                answer = self._connection.recv()
                if not isinstance(answer, tuple):  # not a heartbeat
                    return answer
                self._progress = answer[1:]
                last_message = time.monotonic()
            elif should_stop():
                return None
            elif (silent := time.monotonic() - last_message) > self.cfg.env.timeout + ALIVE_SECONDS:
                raise _Silence(f"did not respond for {silent:.0f} s")

    def _send(self) -> None:
        """Sends the job to the child, which is started first if there is none."""
        connection = self._connection or self._open()
        connection.send(self._job)

    def _open(self) -> Connection:
        """Starts a child, and sends it the config and the file of the journal."""
        self._child = Child(
            "gymnast.evaluation.worker", lambda line: self.log_line(f"evaluation: {line}")
        )
        self._connection = Connection(self._child.socket.detach())
        self._connection.send(self.cfg)
        send_handle(self._connection, self._journal.fileno(), self._child.pid)
        return self._connection

    def _replace(self, why: str) -> None:
        """Sends the rest of the job to a new child, because the old one is lost: `why` completes "the process
        ...". After `env.max_faults` children in a row without a finished episode, the next one only scores
        the finished episodes; if that is lost too, or `env.on_fault` is `stop`, EnvError is raised."""
        assert self._job is not None
        self.close()
        self.log_line(f"evaluation: the process {why}")
        what, journal = f"the evaluation process {why}", Journal(self._journal)
        journal.exclude_suspect(what)
        # Children that each finish an episode before they die do get through the job, so only losses
        # in a row without any count.
        made_progress = len(journal.finished) > self._finished
        self._connection, self._finished = None, len(journal.finished)
        self._lost = 1 if made_progress else self._lost + 1
        limit = self.cfg.env.max_faults
        if self._lost > limit or self.cfg.env.on_fault == "stop":
            raise EnvError(what, fix="see the run's log.txt")
        self._job = replace(self._job, give_up_reason=what if self._lost == limit else "")
        self._send()

    def _died(self) -> str:
        """Returns how the child ended, as a predicate: "died with exit code -9 (SIGKILL)"."""
        code = (self._child.wait() if self._child else 0) or 0
        name = f" ({signal.Signals(-code).name})" if code < 0 else ""
        return f"died with exit code {code}{name}"


class _Silence(Exception):
    """The child sent no heartbeat in time: it may hang in an environment."""


def open_evaluator(cfg: Config) -> AnyEvaluator:
    """Returns an evaluator with its environments opened."""
    if not is_multi_agent(cfg.env.id):
        return Evaluator(cfg)
    # imported here: evaluating a single agent must not pay for loading the self-play modules
    from gymnast.selfplay.evaluation import MatchEvaluator

    return MatchEvaluator(cfg)


def run_job(
    evaluator: AnyEvaluator,
    job: EvaluationJob,
    on_step: Callable[[int, int], None] = lambda *_: None,
    journal: Journal | None = None,
) -> EvaluationResult:
    """Evaluates a job, stores its traces and returns the result. The arguments and errors are those of
    `play_job`."""
    result, traces = play_job(evaluator, job, on_step, journal)
    store_traces(job, result, traces)
    return result


def play_job(
    evaluator: AnyEvaluator,
    job: EvaluationJob,
    on_step: Callable[[int, int], None] = lambda *_: None,
    journal: Journal | None = None,
) -> tuple[EvaluationResult, Traces]:
    """Evaluates a job and returns the result and the traces. `on_step` is called at every step with (episodes
    done, episodes planned); `journal`: the episodes that earlier processes finished. Raises EnvError if the
    environment fails, and for matches if the job was given up."""
    began = time.perf_counter()
    policies: dict[str, Policy] = {}
    for role, spec in job.specs.items():
        policies[role] = Policy.from_spec(spec)
        policies[role].load(arrays_of_role(role, job.arrays))
    plan = evaluator.plan(job.seed_list, job.episodes)
    # Only for seeds: with eval.starts=all, a part of the starts would be a biased sample.
    if evaluator.cfg.eval.starts == "seeds":
        plan = replace(plan, max_seconds=job.max_seconds, min_episodes=MIN_EPISODES)
    progress = EvaluationProgress(started_at=job.started_at, on_step=on_step)
    # Matches have no journal, so there are no finished ones to score.
    if job.give_up_reason and not isinstance(evaluator, Evaluator):
        raise EnvError(job.give_up_reason, fix="see the run's log.txt")
    if job.give_up_reason and journal is not None:
        journal.exclude_unfinished(range(len(plan.seeds)), job.give_up_reason)
    if isinstance(evaluator, Evaluator):
        evaluation, traces = evaluator.evaluate(
            policies[ROLE], job.version, plan, progress, journal
        )
    else:
        evaluation, traces = evaluator.evaluate(policies, job.version, plan, progress, job.run_dir)
    return replace(evaluation, seconds=time.perf_counter() - began), traces


def store_traces(job: EvaluationJob, result: EvaluationResult, traces: Traces) -> None:
    """Stores the traces of a job with this result, if it names a file for them."""
    if job.trace_file is None:
        return
    meta = {"kind": job.seed_list, "version": job.version}
    if isinstance(result, Evaluation):
        write_traces(job.trace_file, [t for t in traces if isinstance(t, Trace)], meta)
    else:
        write_matches(job.trace_file, [t for t in traces if isinstance(t, MatchTrace)], meta)


def open_evaluation_runner(
    cfg: Config, log_line: Callable[[str], None], report: ProgressCallback = lambda *_: None
) -> EvaluationRunner:
    """Returns the runner that `eval.mode` asks for. `log_line` gets what environments print in another
    process; `report` gets the progress of an evaluation."""
    if cfg.eval.mode == "ray":
        from gymnast.evaluation.ray_runner import RayEvaluation

        return RayEvaluation(cfg, log_line)
    return (
        InlineEvaluation(cfg, report)
        if cfg.eval.mode == "inline"
        else ProcessEvaluation(cfg, log_line, report)
    )
