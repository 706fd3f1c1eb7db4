"""The runs of a W&B sweep: from the settings that the server chose to an ordinary run in the background."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from gymnast.config.named_code import untrusted_settings
from gymnast.config.plain_value import PlainValue
from gymnast.config.problems import InvalidConfig
from gymnast.config.resolve import resolve
from gymnast.errors import ConfigError, RunError, UsageError
from gymnast.jobs import queue, status
from gymnast.jobs.commands import send_command
from gymnast.jobs.detach import start_job
from gymnast.runs import store
from gymnast.sweep.wandb_agent import AgentRun, AgentStatus
from gymnast.sweep.wandb_server import Command, SweepPath
from gymnast.training.request import ResumeRequest, TrainRequest

TAG = "wandb-sweep"
"""Tag of all runs of W&B sweeps."""
SENDER = "W&B sweep"
"""The sender of stop commands, in the events of a run."""
_STATUSES: dict[str, AgentStatus] = {"finished": "finished", "stopped": "stopped"}


@dataclass(frozen=True)
class SweepRuns:
    """Starts and stops the runs of one sweep."""

    path: SweepPath
    target: str
    """`ENV[:variant]` that all runs train."""
    runs_dir: Path
    overrides: Mapping[str, object] = field(default_factory=dict[str, object])
    """Settings of all runs, in addition to those of the sweep: dotted key -> value."""
    limit: int | None = None
    """Number of jobs that may train at once on this machine; None: the default."""

    def start(self, command: Command) -> AgentRun:
        """Starts the run of a command, or continues the run if it exists. Its config has exactly the values
        of the command: an unknown key raises ConfigError, and so does a value that names code. Settings that
        contradict each other are an invalid run."""
        settings = command.settings
        refuse_untrusted(settings, self.path)
        tracking = self._tracking(command)
        if overlap := sorted({*_keys(settings)} & {*_keys(self.overrides), *tracking}):
            problem = f"the sweep sets {', '.join(overlap)}, and so does the agent"
            raise UsageError(problem, fix="leave it out of the sweep, or of --set")
        name = f"{self.path.sweep}-{command.run_id}"
        if store.find_run(name, self.runs_dir) is not None:
            return self._continue(command, name)
        request = TrainRequest(
            self.target,
            {**settings, **tracking, **self.overrides},
            name=name,
            tags=(TAG,),
        )
        try:
            resolve(self.target, request.settings(), origin=f"sweep {self.path}")
        except InvalidConfig as error:
            if any(problem.is_unknown_key for problem in error.details):
                raise
            return AgentRun(command.run_id, "", "invalid", settings, str(error))
        job = start_job(request, runs_dir=self.runs_dir, limit=queue.max_jobs(self.limit))
        return AgentRun(command.run_id, job.id, "started", settings)

    def ended(self, run: AgentRun) -> AgentRun | None:
        """Returns how a run has ended; None while it waits or trains."""
        path = self.runs_dir / run.run
        if not status.has_ended(path):
            return None
        now = status.read_status(path)
        ended = _STATUSES.get(now.status, "failed")
        return AgentRun(run.wandb_id, run.run, ended, run.settings, now.reason)

    def stop(self, run: AgentRun) -> None:
        """Asks a run to save a checkpoint and to end; a job that waits never starts."""
        with suppress(RunError):  # it has ended meanwhile
            send_command(run.run, "stop", by=SENDER, runs_dir=self.runs_dir)

    def _continue(self, command: Command, name: str) -> AgentRun:
        """Resumes the run that an earlier command of the server has started."""
        run, _ = store.resolve(name, self.runs_dir)
        job = start_job(
            ResumeRequest(str(run.path.resolve())),
            runs_dir=self.runs_dir,
            limit=queue.max_jobs(self.limit),
            target=run.info["preset"],
            seed=run.info["seed"],
        )
        return AgentRun(command.run_id, job.id, "started", command.settings)

    def _tracking(self, command: Command) -> dict[str, object]:
        """Returns the settings with which a run reports to W&B as a part of the sweep."""
        return {
            "track.to": ["wandb"],
            "track.mode": "online",
            "track.entity": self.path.entity,
            "track.project": self.path.project,
            "track.run_id": command.run_id,
            "track.sweep": self.path.sweep,
            "track.sweep_config": dict(command.settings),
        }


def refuse_untrusted(settings: Mapping[str, PlainValue], path: SweepPath) -> None:
    """Raises ConfigError for settings that name code or a directory: everybody who may change the sweep could
    run code on this machine."""
    for found in untrusted_settings(settings):
        problem = f"the sweep {path} names code or a path: {found}"
        raise ConfigError(problem, fix="name it with --env or --set on this machine instead")


def _keys(settings: Mapping[str, object], above: str = "") -> Iterator[str]:
    """Yields the dotted keys of nested or dotted settings; the key frames of a schedule count as keys too."""
    for key, value in settings.items():
        yield above + key
        if isinstance(value, Mapping):
            yield from _keys(value, f"{above}{key}.")  # pyright: ignore[reportUnknownArgumentType]
