"""Trains the units of a study as ordinary runs, in background jobs that outlive this process.

At a rung a run pauses by itself, also if this process has died, and is resumed for the next one. Its config
is that of a whole run, and resuming is exact, so that a trial is the same run as one that is trained alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gymnast.config.plain_value import PlainValue
from gymnast.errors import RunError
from gymnast.jobs import commands, status
from gymnast.jobs.detach import StartedRun, start_job
from gymnast.jobs.remote.provider import find_provider
from gymnast.jobs.remote.refresh import refresh_all
from gymnast.jobs.remote.submit import facts_for, submit_job
from gymnast.runs import checkpoint, layout, store
from gymnast.runs.curve import curve_of, read_evaluation_rows
from gymnast.runs.run import Run, read_info
from gymnast.sweep.executor import Work
from gymnast.sweep.history import Measurement
from gymnast.training.request import ResumeRequest, TrainRequest

TRIAL_DEFAULTS: Mapping[str, PlainValue] = {
    "eval.mode": "inline",  # another process per trial would take longer than most evaluations
    "eval.wait": "on",  # a run that pauses at a rung has the score of its last evaluation point
    "eval.confirm_episodes": 1,  # the objective is the curve; winners are confirmed on fresh seeds
    "eval.start_at": "off",  # the curve of a weak trial must be known too
    "eval.warmup": "off",
    "checkpoint.keep": 1,
    "traces.film": "off",
}
"""Settings of all trials, unless the space sets them."""
HELD_OUT_EPISODES = 20
"""Episodes that score a run of the confirmation: seeds differ by more than the episodes of one do, and more
of them may take as long as the run itself."""
MAX_RESTARTS = 10
"""How often a run whose process was killed is resumed before it counts as failed."""


@dataclass
class JobsExecutor:
    """Trains units in background jobs, `jobs` at a time."""

    target: str
    runs_dir: Path
    study: str
    jobs: int = 1
    jobs_on: str = ""
    """The place where the jobs train, as in `gymnast train --jobs-on`; empty: this machine."""
    run_minutes: float | None = None
    """Wall time of one run, unless its trial sets `stop.minutes`."""
    _paths: dict[str, Path] = field(default_factory=dict[str, Path])
    """Name of a run -> its directory."""
    _restarts: dict[str, int] = field(default_factory=dict[str, int])
    """Name of a run -> how often its process was found dead by this process."""
    _stopping: set[str] = field(default_factory=set[str])
    """Names of the runs that were asked to stop."""

    def start(self, work: Work) -> None:
        path = self._path(work.name)
        if path is None:
            self._train(work)
        elif status.read_status(path).is_live or self._is_over(path, work):
            return
        elif not layout.RUN.path(path).exists():  # killed before training began
            shutil.rmtree(path, ignore_errors=True)
            self._train(work)
        else:
            self._resume(path, work)

    def poll(self, work: Work) -> Measurement | None:
        path = self._path(work.name)
        if path is not None and self.jobs_on:
            refresh_all([path])  # asks the provider, at most every few seconds
        if path is not None and status.read_status(path).is_live:
            return None
        if path is not None and self._is_over(path, work):
            return self._measurement(path, work)
        if path is None and (job := self._newest_job(work.name)) is not None:
            if job.is_live:
                return None
            if job.status == "failed":  # before it had a run: a restart would fail in the same way
                return Measurement("failed", problem=job.reason)
        restarts = self._restarts[work.name] = self._restarts.get(work.name, 0) + 1
        if restarts > MAX_RESTARTS:
            problem = f"its process ended {restarts} times without a result"
            return Measurement("failed", problem=problem, run=path.name if path else "")
        self.start(work)
        return None

    def points(self, work: Work) -> list[tuple[float, float]]:
        path = self._path(work.name)
        if path is None or not layout.RUN.path(path).exists():
            return []
        run = Run(path)
        # What is decided on the curve of a live run must not depend on whether its start is stored already.
        return read_points(run) if run.info.get("start_score") else []

    def prune(self, work: Work) -> Measurement | None:
        path = self._path(work.name)
        if path is not None and status.read_status(path).is_live:
            if work.name not in self._stopping and self._stop(path, seconds=1.0):
                self._stopping.add(work.name)
            return None
        self._stopping.discard(work.name)
        if path is None or not layout.RUN.path(path).exists():
            return Measurement("failed", problem="it has no run")
        return self._measurement(path, work)

    def interrupt(self, work: Work) -> None:
        path = self._path(work.name)
        if path is not None and status.read_status(path).is_live:
            self._stop(path)

    def discard(self, name: str) -> None:
        path = self._path(name)
        if path is None or not layout.RUN.path(path).exists() or status.read_status(path).is_live:
            return
        run = Run(path)
        for saved in checkpoint.list_checkpoints(path).values():
            shutil.rmtree(saved, ignore_errors=True)
        run.update(checkpoints={"best": None, "latest": None})

    def _path(self, name: str) -> Path | None:
        """Returns the directory of the run or job with this name; None if there is none."""
        known = self._paths.get(name)
        if known is not None and known.exists():
            return known
        found = [run.path for run in store.list_runs(self.runs_dir, f"name={name}")]
        if not found:
            # A job that waits, or that was killed before it became a run.
            named = [job for job in status.jobs(self.runs_dir) if job.name == name]
            found = [job.path for job in named if Path(job.path).exists()]
        if not found:
            return None
        self._paths[name] = Path(found[0])
        return self._paths[name]

    def _newest_job(self, name: str) -> status.JobStatus | None:
        return next((job for job in status.jobs(self.runs_dir) if job.name == name), None)

    def _train(self, work: Work) -> None:
        group = work.name.rpartition("-")[0]
        request = TrainRequest(
            self.target,
            {**self._defaults(work), **work.settings, "stop.env_steps": work.budget},
            seed=work.seed,
            source=work.source or None,
            name=work.name,
            tags=("sweep", self.study),
            group=f"{group}-confirm" if work.is_final else group,
            pause_at=_pause_at(work),
        )
        self._paths[work.name] = Path(self._launch(request).path)

    def _resume(self, path: Path, work: Work) -> None:
        info = read_info(path)
        request = ResumeRequest(str(path.resolve()), pause_at=_pause_at(work))
        with suppress(RunError):  # it has become live meanwhile
            self._launch(request, target=info["preset"], seed=info["seed"])

    def _launch(
        self, request: TrainRequest | ResumeRequest, target: str = "", seed: int | None = None
    ) -> StartedRun:
        """Starts a job here or elsewhere. `target` and `seed` of a run to be resumed, for listings."""
        if not self.jobs_on:
            return start_job(
                request, runs_dir=self.runs_dir, limit=self.jobs, target=target, seed=seed
            )
        provider = find_provider(self.jobs_on)
        return submit_job(
            request,
            provider,
            facts_for(provider, request, self.runs_dir),
            runs_dir=self.runs_dir,
            requeue=True,
            max_jobs=self.jobs,
            target=target,
            seed=seed,
        )

    def _defaults(self, work: Work) -> dict[str, PlainValue]:
        defaults = dict(TRIAL_DEFAULTS)
        if self.run_minutes is not None:
            defaults["stop.minutes"] = self.run_minutes
        if work.is_final:
            defaults["eval.confirm_episodes"] = HELD_OUT_EPISODES
        return defaults

    def _is_over(self, path: Path, work: Work) -> bool:
        """True if a run that is not live has done the work, or cannot do it."""
        if status.read_status(path).status == "failed":
            return True
        if not layout.RUN.path(path).exists():
            return False
        info = read_info(path)
        is_paused = info["status"] == "stopped" and info.get("reason_kind") == "paused"
        reached = info["clocks"].get("env_steps", 0) >= work.unit.env_steps
        return info["status"] == "finished" or (is_paused and reached)

    def _measurement(self, path: Path, work: Work) -> Measurement:
        """Returns the result of a run that has ended."""
        state = status.read_status(path)
        if not layout.RUN.path(path).exists():
            return Measurement("failed", problem=state.reason, run=path.name)
        info, points = read_info(path), tuple(read_points(Run(path)))
        steps, seconds = (info["clocks"].get(key, 0) for key in ("env_steps", "seconds"))
        if state.status == "failed":
            return Measurement("failed", points, int(steps), seconds, state.reason, path.name)
        ended = "finished" if info["status"] == "finished" else "reached"
        return Measurement(ended, points, int(steps), seconds, run=path.name)

    def _stop(self, path: Path, seconds: float = 10.0) -> bool:
        """Asks a run to stop, and waits up to `seconds` for its answer. False if it has just ended, or has
        not begun."""
        sender = f"sweep {self.study}"
        try:
            commands.send_command(
                path.name, "stop", by=sender, runs_dir=self.runs_dir, seconds=seconds
            )
        except RunError:
            return False
        return True


def _pause_at(work: Work) -> int | None:
    """Returns the env steps at which the run of a unit pauses; None if the unit is the rest of the run."""
    return work.unit.env_steps if work.unit.env_steps < work.budget else None


def read_points(run: Run) -> list[tuple[float, float]]:
    """Returns the evaluation curve of a run: env steps and mean return of evaluation episodes, from the
    policy that it started with."""
    start = run.info.get("start_score")
    first = [] if start is None else [(0.0, start["mean"])]
    return [*first, *zip(*curve_of(read_evaluation_rows(run), "env_steps"), strict=True)]
