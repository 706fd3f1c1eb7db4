"""Evaluation on the Ray cluster that collects for the run: on another machine, if one has a free core."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gymnast.config.config import Config
from gymnast.errors import EnvError, GymnastError
from gymnast.evaluation.jobs import (
    AnyEvaluator,
    EvaluationJob,
    EvaluationResult,
    Traces,
    open_evaluator,
    play_job,
    store_traces,
)
from gymnast.processes.local_ray import load_ray

POLL_SECONDS = 0.1
"""Interval in which a waiting training looks for signals."""
Played = tuple[EvaluationResult, Traces] | GymnastError


class EvaluationHost:
    """The side of the cluster: plays jobs one after the other, with environments of its own."""

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        self._evaluator: AnyEvaluator | None = None

    def play(self, job: EvaluationJob) -> Played:
        """Returns the result and the traces, or the error."""
        try:
            self._evaluator = self._evaluator or open_evaluator(self._cfg)
            # Clocks of different machines cannot be compared.
            return play_job(self._evaluator, replace(job, started_at=time.monotonic()))
        except GymnastError as problem:
            return type(problem)(f"evaluation: {problem.message}", fix=problem.fix)
        except Exception as problem:
            what = f"evaluation failed with {type(problem).__name__}: {problem}"
            return EnvError(what, traceback=traceback.format_exc())


class RayEvaluation:
    """Implements `EvaluationRunner` with an actor. An actor that is lost is replaced by another, which plays
    the job from its beginning, with the same seeds and the same result."""

    def __init__(self, cfg: Config, log_line: Callable[[str], None]) -> None:
        """`log_line` gets a line about every lost actor."""
        self.cfg, self.log_line, self._ray = cfg, log_line, load_ray()
        self._actor: Any = None
        self._job: EvaluationJob | None = None
        self._pending: Any = None
        self._lost = 0
        """Number of actors that were lost with the present job."""

    def start(self) -> None:
        if self._actor is None:
            # No CPU is reserved: hosts have taken the cores, and an evaluation is short.
            options = {"num_cpus": 0, "max_restarts": 0, "scheduling_strategy": "SPREAD"}
            self._actor = self._ray.remote(EvaluationHost).options(**options).remote(self.cfg)

    def submit(self, job: EvaluationJob) -> None:
        self._job, self._lost = job, 0
        self._send()

    def result(self, should_stop: Callable[[], bool]) -> EvaluationResult | None:
        """Waits for the result, and stores the traces. Raises the error of the job, or EnvError if too many
        actors were lost."""
        assert self._job is not None
        while not self._ray.wait([self._pending], timeout=POLL_SECONDS)[0]:
            if should_stop():
                return None
        try:
            played: Played = self._ray.get(self._pending)
        except self._ray.exceptions.RayError as problem:
            self._replace(problem)
            return self.result(should_stop)
        if isinstance(played, GymnastError):
            raise played
        store_traces(self._job, *played)
        return played[0]

    def close(self) -> None:
        if self._actor is not None and self._ray.is_initialized():
            self._ray.kill(self._actor)
            self._actor = None

    def _send(self) -> None:
        self.start()
        # The cluster's machines need not have the run's directory: traces come back with the result.
        self._pending = self._actor.play.remote(replace(self._job, trace_file=None))  # type: ignore[arg-type]

    def _replace(self, problem: Exception) -> None:
        """Sends the job to a new actor. Raises EnvError if `env.max_faults` of them were lost with it."""
        reason = str(problem).strip().split("\n")[0][:300]
        self.log_line(f"evaluation: the actor was lost: {reason}")
        self._lost, self._actor = self._lost + 1, None
        if self._lost > self.cfg.env.max_faults or self.cfg.env.on_fault == "stop":
            raise EnvError(f"the evaluation actor was lost: {reason}", fix="see the run's log.txt")
        self._send()
