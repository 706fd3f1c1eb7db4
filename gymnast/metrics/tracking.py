"""Experiment trackers (W&B, TensorBoard): the information they get about a run, and opening them by name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from gymnast.clock import DEFAULT_CLOCK, ClockName
from gymnast.config.config import Config
from gymnast.config.plain_value import PlainValue
from gymnast.config.sections.track import TrackConfig
from gymnast.config.serialize import to_plain
from gymnast.errors import UsageError
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Sink
from gymnast.metrics.sinks.tracker import ReportEvent, Tracker

_EXTRAS = {"wandb": "wandb", "tensorboard": "tensorboard", "pyarrow": "parquet"}
"""Package -> the extra of gymnast that installs it."""

Film = Mapping[str, object]
"""Metadata of a video: `path`, `position` of the policy version it shows on the clock, `return` and more."""


@dataclass(frozen=True)
class TrackedRun:
    """The information about a run that its trackers get."""

    id: str
    env: str
    algo: str
    folder: Path
    """Folder for the files of the tracker; nobody else writes there."""
    settings: TrackConfig
    created: float
    """When the run was created, in seconds since the epoch (time.time())."""
    config: Mapping[str, PlainValue]
    """The resolved config, as plain values."""
    metrics: Mapping[str, Metric]
    clock: ClockName = DEFAULT_CLOCK
    """The clock of the x axis of charts."""
    name: str = ""
    group: str | None = None
    tags: Sequence[str] = ()
    films: Callable[[], Sequence[Film]] = field(default=list)
    """Returns the videos that exist at the time of the call."""

    @property
    def axis(self) -> str:
        """The metric of the x axis."""
        return f"clock/{self.clock}"

    @classmethod
    def from_run_info(
        cls,
        info: Mapping[str, Any],
        cfg: Config,
        metrics: Mapping[str, Metric],
        folder: Path,
        films: Callable[[], Sequence[Film]],
        clock: ClockName = DEFAULT_CLOCK,
    ) -> TrackedRun:
        """Creates it from `info`, the content of run.json, the run's config `cfg` and its `metrics`.
        `folder`: where trackers write; `films` returns the videos that exist at the time of the call;
        `clock`: that of the x axis."""
        return cls(
            id=info["id"],
            env=cfg.env.id,
            algo=cfg.algo.name,
            folder=folder,
            settings=cfg.track,
            created=info["created"],
            config=to_plain(cfg),
            metrics=metrics,
            clock=clock,
            name=info["name"],
            group=info["group"],
            tags=info["tags"],
            films=films,
        )


class OpenTracker(Sink, Protocol):
    """A tracker that has been opened for a run."""

    location: str
    """A URL, or the folder it writes to."""


def open_tracker(name: str, tracked: TrackedRun) -> OpenTracker:
    """Imports the package of the tracker `name` (wandb, tensorboard), creates the run in it, and returns
    it."""
    return importlib.import_module(f"gymnast.metrics.sinks.{name}").open_tracker(tracked)


def tracker_sinks(tracked: TrackedRun, report: ReportEvent) -> list[Sink]:
    """Returns a sink for each tracker in the config, with its own folder inside the run's folder.

    A tracker is opened by the first row, and its failures do not affect the run. `report` records its events.
    """
    return [
        Tracker(
            name,
            partial(open_tracker, name, replace(tracked, folder=tracked.folder / name)),
            report,
        )
        for name in tracked.settings.to
    ]


def require_packages(packages: Iterable[str]) -> None:
    """Raises UsageError, with the extra to install, if a package is missing. Imports none of them."""
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:  # a namespace package: just a folder of that name
            raise UsageError(
                f"the package {package} is not installed",
                fix=f"pip install 'gymnast[{_EXTRAS[package]}]'",
            )
