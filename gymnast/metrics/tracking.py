"""Trackers: whoever else gets every row of a run. What they are told of it, and finding them by name."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from gymnast.config.config import Config
from gymnast.config.saved import plain
from gymnast.config.sections.track import TrackConfig
from gymnast.errors import UsageError
from gymnast.metrics.metric import Metric
from gymnast.metrics.recorder import Sink
from gymnast.metrics.sinks.tracker import Report, Tracker

AXIS = "clock/vec_steps"
"""What charts are drawn over: steps of the whole vector, so that any number of copies compares fairly."""
_EXTRAS = {"wandb": "wandb", "tensorboard": "tensorboard", "pyarrow": "parquet"}
"""Package -> our extra that installs it."""

Film = Mapping[str, Any]
"""What is known of a film: `path`, `vec_steps` of the version it shows, `return` and more."""


@dataclass(frozen=True)
class Tracked:
    """All that a tracker is told about the run that it follows."""

    id: str
    env: str
    algo: str
    folder: Path
    """Where it puts its files; nobody else writes there."""
    settings: TrackConfig
    created: float
    """When the run was, as time.time() counts."""
    config: Mapping[str, Any]
    """The resolved config, as plain values."""
    metrics: Mapping[str, Metric]
    name: str = ""
    group: str | None = None
    tags: Sequence[str] = ()
    films: Callable[[], Sequence[Film]] = field(default=list)
    """The films that there are when it is asked."""

    @classmethod
    def of(
        cls,
        info: Mapping[str, Any],
        cfg: Config[Any],
        metrics: Mapping[str, Metric],
        folder: Path,
        films: Callable[[], Sequence[Film]],
    ) -> Tracked:
        """`info`: what run.json says."""
        return cls(
            id=info["id"],
            env=cfg.env.id,
            algo=cfg.algo.name,
            folder=folder,
            settings=cfg.track,
            created=info["created"],
            config=plain(cfg),
            metrics=metrics,
            name=info["name"],
            group=info["group"],
            tags=info["tags"],
            films=films,
        )


class OpenTracker(Sink, Protocol):
    """A tracker at work."""

    where: str
    """A link, or the folder it writes to."""


def open_tracker(name: str, tracked: Tracked) -> OpenTracker:
    """From here on the run exists for the tracker. Loads its package."""
    return importlib.import_module(f"gymnast.metrics.sinks.{name}").open_tracker(tracked)


def trackers(tracked: Tracked, tell: Report) -> list[Sink]:
    """Those that the config names, each with a folder in the run's, opened by the first row and kept
    from harming the run."""
    return [
        Tracker(
            name, partial(open_tracker, name, replace(tracked, folder=tracked.folder / name)), tell
        )
        for name in tracked.settings.to
    ]


def refuse_missing(packages: Iterable[str]) -> None:
    """Unless all of them are installed: one error that names the extra. Imports none."""
    for package in packages:
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:  # a mere folder of that name is no package
            raise UsageError(
                f"the package {package} is not installed",
                fix=f"pip install 'gymnast[{_EXTRAS[package]}]'",
            )
