"""The Weights & Biases tracker. Offline by default: it writes a folder in the run that `wandb sync` uploads.

A process of wandb itself writes and uploads. `wandb` is imported when a tracker is opened.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gymnast.config.sections.track import default_project
from gymnast.metrics.alert import Alert
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.specs import metric_for_key
from gymnast.metrics.tracking import Film, TrackedRun
from gymnast.metrics.workspace import upper_bound_series, workspace
from gymnast.processes import guard

if TYPE_CHECKING:
    from wandb import Run

ACTIONS = re.compile(r"(?:.+:)?rollout/action_share\.(\d+)")
"""Keys of a row with the share of each discrete action."""
HISTOGRAM, ALERTS, FILMS = "histograms/actions", "alerts/all", "films"
_COLUMNS = ["env_steps", "level", "id", "state", "message", "advice"]
_SETTINGS: dict[str, Any] = {
    "silent": True,
    "console": "off",
    "disable_git": True,
    "disable_job_creation": True,
    "save_code": False,
    "symlink": False,
    "x_disable_stats": True,  # rows already have system metrics
    "x_disable_meta": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
}


def open_tracker(tracked: TrackedRun) -> Wandb:
    """Creates the run in W&B, or continues it: the id of the run is its id in W&B too, unless
    `track.run_id` names another one. With `track.mode=auto`, the environment variable WANDB_MODE decides, by
    default offline."""
    mode = tracked.settings.mode
    mode = os.environ.get("WANDB_MODE", "offline") if mode == "auto" else mode
    with silent_wandb(offline=mode == "offline"):
        import wandb

        run = wandb.init(
            project=tracked.settings.project or default_project(tracked.env),
            entity=tracked.settings.entity,
            id=tracked.settings.run_id or tracked.id,
            name=f"{tracked.algo}-{tracked.id}",
            group=tracked.group,
            tags=[*tracked.tags],
            notes=tracked.name or None,
            config=_reported_config(tracked),
            dir=_folder(tracked).parent,
            mode=mode,  # pyright: ignore[reportArgumentType] (wandb validates it)
            resume="allow",
            reinit="create_new",  # leaves another wandb run of the user in this process alone
            settings=wandb.Settings(
                **_SETTINGS, stop_fn=_ignore_stop, sweep_id=tracked.settings.sweep
            ),
        )
    return Wandb(wandb, run, tracked)


class Media(Protocol):
    """The constructors of the `wandb` package that the tracker uses."""

    @property
    def Histogram(self) -> Callable[..., object]: ...

    @property
    def Table(self) -> Callable[..., object]: ...

    @property
    def Video(self) -> Callable[..., object]: ...


class Wandb:
    def __init__(self, wandb: Media, run: Run, tracked: TrackedRun) -> None:
        """`wandb`: the imported package; `run`: what `wandb.init` returned."""
        self.location = str((run.settings.sync_dir if run.offline else run.url) or "nowhere")
        self._wandb, self._run, self._tracked = wandb, run, tracked
        self._axis = tracked.axis
        self._folder = _folder(tracked)
        self._folder.mkdir(exist_ok=True)  # wandb does not create it if WANDB_MODE=disabled
        self._keys: dict[str, None] = {}
        """Keys of all rows so far, in the order of their first row."""
        self._media: dict[str, str] = {}
        """Key of a video, table or histogram -> type of its panel."""
        self._bounds: dict[str, float] = {}
        """Series with the constant upper bound of a metric, logged with every row."""
        self._active: set[str] = set()
        """Ids of the active alerts."""
        self._alerts: list[list[int | str]] = []
        """Lines of the table of alerts."""
        self._last_step = 0.0

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        """Logs a row, with constant series for upper bounds, the number of active alerts and the histogram of
        actions, and records its alerts."""
        if new_keys := [key for key in row if key not in self._keys]:
            self._declare(new_keys)
        for alert in alerts:
            self._record_alert(alert)
        extra = {"alerts/active": len(self._active), **self._histogram(row)}
        self._last_step = row[self._axis]
        self._run.log({**row, **self._bounds, **extra})

    def event(self, event: Mapping[str, object]) -> None: ...

    def close(self, summary: Summary | None) -> None:
        """Uploads alerts, videos and the summary. The exit code is 1 if the run failed, 130 after a
        signal."""
        if self._alerts:
            table = self._wandb.Table(columns=_COLUMNS, data=self._alerts)
            self._show(ALERTS, "Table", table, self._last_step)
        for film in self._new_videos():
            key = f"{FILMS}/{re.sub(r'-[0-9]{12}', '', Path(str(film['path'])).stem)}"
            video = self._wandb.Video(film["path"], caption=_caption(film))
            self._show(key, "MediaBrowser", video, film["position"])
        self._run.summary.update(_result(summary))
        self._write_workspace()
        interrupted = summary is not None and summary.get("interrupted")
        self._run.finish(exit_code=1 if summary is None else 130 if interrupted else 0)

    def _declare(self, keys: Sequence[str]) -> None:
        """Defines the x axis of new `keys` and their value in W&B's summary (also the best one, if one
        direction is better), and writes the workspace with them."""
        for key in keys:
            metric = metric_for_key(key, self._tracked.metrics)
            best = {"higher": "max,last", "lower": "min,last"}.get(metric.better, "last")
            if metric.section == "clock":
                best = "max"  # videos and tables are logged with earlier steps
            self._run.define_metric(
                key, step_metric=None if key == self._axis else self._axis, summary=best
            )
            if bound := upper_bound_series(key, self._tracked.metrics):
                self._bounds |= [bound]
                self._run.define_metric(bound[0], step_metric=self._axis, summary="last")
        if not self._keys:
            for key in (HISTOGRAM, ALERTS, "alerts/active", f"{FILMS}/*"):
                self._run.define_metric(key, step_metric=self._axis)
        self._keys |= dict.fromkeys(keys)
        self._write_workspace()

    def _record_alert(self, alert: Alert) -> None:
        """Adds a line to the table of alerts for an alert that was raised or resolved. W&B sends a
        notification for each that becomes active."""
        state = "raised" if alert.active else "resolved"
        line = [alert.last, alert.level, alert.id, state, alert.message, alert.advice]
        self._alerts.append(line)
        if not alert.active:
            self._active.discard(alert.id)
        elif alert.id not in self._active:
            self._active.add(alert.id)
            text = f"{alert.message}. {alert.advice}".rstrip()
            self._run.alert(alert.id, text, level="ERROR" if alert.level == "error" else "WARN")

    def _histogram(self, row: Row) -> dict[str, object]:
        """Returns the histogram of the discrete actions of this rollout; empty if the row has none."""
        shares = {int(match[1]): row[key] for key in row if (match := ACTIONS.fullmatch(key))}
        if not shares:
            return {}
        self._media.setdefault(HISTOGRAM, "MediaBrowser")
        # one bin per action, centered on its index
        edges = [action - 0.5 for action in range(max(shares) + 2)]
        heights = [shares.get(action, 0.0) for action in range(max(shares) + 1)]
        return {HISTOGRAM: self._wandb.Histogram(np_histogram=(heights, edges))}

    def _show(self, key: str, panel: str, value: object, step: object) -> None:
        """Logs a video, table or histogram at `step` of the x axis, which may be an earlier one. `panel`: the
        type of panel that displays it in the workspace."""
        self._media[key] = panel
        self._run.log({key: value, self._axis: step})

    def _new_videos(self) -> Iterator[Film]:
        """Yields each video of the run that has not been logged yet by this or an earlier attempt.
        `films.json` in the folder lists the logged ones."""
        file = self._folder / "films.json"
        logged = set(json.loads(file.read_text())) if file.exists() else set[str]()
        for film in self._tracked.films():
            name = f"{Path(str(film['path'])).name} {film.get('created')}"
            if name not in logged:
                yield film
                # Only after the caller has logged it: a video that failed is tried again on resume.
                logged.add(name)
                file.write_text(json.dumps(sorted(logged)))

    def _write_workspace(self) -> None:
        spec = workspace(self._keys, self._tracked.metrics, x=self._axis, media=self._media)
        (self._folder / "workspace.json").write_text(json.dumps(spec, indent=1))


def _folder(tracked: TrackedRun) -> Path:
    """Returns the folder that W&B writes to: `wandb` inside the folder it is given."""
    return tracked.folder if tracked.folder.name == "wandb" else tracked.folder / "wandb"


def _reported_config(tracked: TrackedRun) -> dict[str, Any]:
    """Returns the config, with the values of a sweep under the names that the sweep has for them: a name
    such as `algo.lr` is added, a section such as `algo` has the value in it."""
    return _merged(tracked.config, tracked.settings.sweep_config)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Returns two nested mappings as one; where both have a value, that of `above`."""
    merged = dict(below)
    for key, value in above.items():
        old: Any = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(old, value) if both else value
    return merged


def _result(summary: Summary | None) -> dict[str, object]:
    """Returns the result of the run, to be added to W&B's summary of the metrics."""
    if summary is None:
        return {}
    result = {
        key: summary.get(key) for key in ("solved", "reason", "threshold", "env_steps", "best")
    }
    score = {f"score/{key}": value for key, value in (summary.get("score") or {}).items()}
    return {f"result/{key}": value for key, value in (result | score).items() if value is not None}


def _caption(film: Film) -> str:
    facts = {"return": film.get("return"), "env steps": film.get("version")}
    return ", ".join(f"{name} {value:,g}" for name, value in facts.items() if value is not None)


def _ignore_stop() -> None:
    """Ignores a stop that is requested on the W&B page: only `gymnast stop` stops training."""


@contextmanager
def silent_wandb(*, offline: bool) -> Iterator[None]:
    """Context manager in which `wandb` neither prints nor asks for an API key and, offline, sends no error
    reports. Afterwards its hooks on `sys.exit` and `sys.excepthook` are removed: `finish` gets the exit code
    explicitly."""
    variables = {"WANDB_SILENT": "true"} | ({"WANDB_ERROR_REPORTING": "false"} if offline else {})
    # wandb's process may finish writing after ours was killed
    variables |= guard.detached_variables()
    before, hooks = {name: os.environ.get(name) for name in variables}, (sys.exit, sys.excepthook)
    os.environ.update(variables)
    try:
        yield
    finally:
        sys.exit, sys.excepthook = hooks
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
