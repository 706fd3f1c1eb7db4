"""Weights & Biases. Offline unless asked otherwise: a folder in the run that `wandb sync` uploads.

Its own process writes and uploads; `wandb` is imported here and nowhere else.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gymnast.config.sections.track import project_of
from gymnast.metrics.alerts import Alert
from gymnast.metrics.recorder import Row, Summary
from gymnast.metrics.specs import spec
from gymnast.metrics.tracking import AXIS, Film, Tracked
from gymnast.metrics.workspace import bound_of, workspace
from gymnast.processes import guard

ACTIONS = re.compile(r"(?:.+:)?rollout/action_share\.(\d+)")
"""Keys of a row that say how often each action was taken."""
HISTOGRAM, ALERTS, FILMS = "histograms/actions", "alerts/all", "films"
_COLUMNS = ["env_steps", "level", "id", "state", "message", "advice"]
_SETTINGS: dict[str, Any] = {
    "silent": True,
    "console": "off",
    "disable_git": True,
    "disable_job_creation": True,
    "save_code": False,
    "symlink": False,
    "x_disable_stats": True,  # a run records its own
    "x_disable_meta": True,
    "x_disable_machine_info": True,
    "x_save_requirements": False,
}


def open_tracker(tracked: Tracked) -> Wandb:
    mode = tracked.settings.mode
    mode = os.environ.get("WANDB_MODE", "offline") if mode == "auto" else mode
    with _discreetly(offline=mode == "offline"):
        import wandb

        run = wandb.init(
            project=tracked.settings.project or project_of(tracked.env),
            entity=tracked.settings.entity,
            id=tracked.id,
            name=f"{tracked.algo}-{tracked.id}",
            group=tracked.group,
            tags=[*tracked.tags],
            notes=tracked.name or None,
            config=dict(tracked.config),
            dir=_folder(tracked).parent,
            mode=mode,  # pyright: ignore[reportArgumentType] (it knows what it does not know)
            resume="allow",
            reinit="create_new",  # a run of the user's own in this process is left alone
            settings=wandb.Settings(**_SETTINGS, stop_fn=_carry_on),
        )
    return Wandb(wandb, run, tracked)


class Wandb:
    def __init__(self, wandb: Any, run: Any, tracked: Tracked) -> None:
        self.where = str((run.settings.sync_dir if run.offline else run.url) or "nowhere")
        self._wandb, self._run, self._tracked = wandb, run, tracked
        self._folder = _folder(tracked)
        self._folder.mkdir(exist_ok=True)  # WANDB_MODE=disabled makes none
        self._keys: dict[str, None] = {}
        self._media: dict[str, str] = {}
        self._bounds: dict[str, float] = {}
        self._active: set[str] = set()
        self._alerts: list[list[Any]] = []
        self._last_step = 0.0

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        if fresh := [key for key in row if key not in self._keys]:
            self._declare(fresh)
        for alert in alerts:
            self._note(alert)
        more = {"alerts/active": len(self._active), **self._histogram(row)}
        self._last_step = row[AXIS]
        self._run.log({**row, **self._bounds, **more})

    def event(self, event: Mapping[str, Any]) -> None: ...

    def close(self, summary: Summary | None) -> None:
        """The exit code is that of the process: 1 where the run broke off, 130 after a signal."""
        if self._alerts:
            table = self._wandb.Table(columns=_COLUMNS, data=self._alerts)
            self._show(ALERTS, "Table", table, self._last_step)
        for film in self._films_not_shown():
            key = f"{FILMS}/{re.sub(r'-[0-9]{12}', '', Path(film['path']).stem)}"
            video = self._wandb.Video(film["path"], caption=_caption(film))
            self._show(key, "MediaBrowser", video, film["vec_steps"])
        self._run.summary.update(_result(summary))
        self._write_workspace()
        interrupted = summary is not None and summary.get("interrupted")
        self._run.finish(exit_code=1 if summary is None else 130 if interrupted else 0)

    def _declare(self, keys: Sequence[str]) -> None:
        """The axis of each, and what its summary shows: its best value where one direction is better."""
        for key in keys:
            metric = spec(key, self._tracked.metrics)
            best = {"higher": "max,last", "lower": "min,last"}.get(metric.better, "last")
            if metric.section == "clock":
                best = "max"  # films and tables come with steps of their own
            self._run.define_metric(key, step_metric=None if key == AXIS else AXIS, summary=best)
            if bound := bound_of(key, self._tracked.metrics):
                self._bounds |= [bound]
                self._run.define_metric(bound[0], step_metric=AXIS, summary="last")
        if not self._keys:
            for key in (HISTOGRAM, ALERTS, "alerts/active", f"{FILMS}/*"):
                self._run.define_metric(key, step_metric=AXIS)
        self._keys |= dict.fromkeys(keys)
        self._write_workspace()

    def _note(self, alert: Alert) -> None:
        state = "raised" if alert.active else "resolved"
        told = [alert.last, alert.level, alert.id, state, alert.message, alert.advice]
        self._alerts.append(told)
        if not alert.active:
            self._active.discard(alert.id)
        elif alert.id not in self._active:
            self._active.add(alert.id)
            text = f"{alert.message}. {alert.advice}".rstrip()
            self._run.alert(alert.id, text, level="ERROR" if alert.level == "error" else "WARN")

    def _histogram(self, row: Row) -> dict[str, Any]:
        """Of the actions of this rollout, where the row says how often each was taken."""
        shares = {int(m[1]): row[key] for key in row if (m := ACTIONS.fullmatch(key))}
        if not shares:
            return {}
        self._media.setdefault(HISTOGRAM, "MediaBrowser")
        edges = [place - 0.5 for place in range(max(shares) + 2)]
        heights = [shares.get(place, 0.0) for place in range(max(shares) + 1)]
        return {HISTOGRAM: self._wandb.Histogram(np_histogram=(heights, edges))}

    def _show(self, key: str, panel: str, what: Any, step: float) -> None:
        self._media[key] = panel
        self._run.log({key: what, AXIS: step})

    def _films_not_shown(self) -> Iterator[Film]:
        """Each film once, over all attempts at the run."""
        file = self._folder / "films.json"
        shown = set(json.loads(file.read_text())) if file.exists() else set[str]()
        for film in self._tracked.films():
            name = f"{Path(film['path']).name} {film.get('created')}"
            if name not in shown:
                yield film
                shown.add(name)
                file.write_text(json.dumps(sorted(shown)))

    def _write_workspace(self) -> None:
        spec = workspace(self._keys, self._tracked.metrics, x=AXIS, media=self._media)
        (self._folder / "workspace.json").write_text(json.dumps(spec, indent=1))


def _folder(tracked: Tracked) -> Path:
    """W&B writes to a folder `wandb` in the one it is given."""
    return tracked.folder if tracked.folder.name == "wandb" else tracked.folder / "wandb"


def _result(summary: Summary | None) -> dict[str, Any]:
    """What the run came to, beside the last and best of every metric."""
    if summary is None:
        return {}
    told = {key: summary.get(key) for key in ("solved", "reason", "threshold", "env_steps", "best")}
    score = {f"score/{key}": value for key, value in (summary.get("score") or {}).items()}
    return {f"result/{key}": value for key, value in (told | score).items() if value is not None}


def _caption(film: Film) -> str:
    told = {"return": film.get("return"), "env steps": film.get("version")}
    return ", ".join(f"{name} {value:,g}" for name, value in told.items() if value is not None)


def _carry_on() -> None:
    """A stop asked for on the web page: training is stopped by `gymnast stop` alone."""


@contextmanager
def _discreetly(*, offline: bool) -> Iterator[None]:
    """`wandb` neither prints nor asks for a key, and offline reports to nobody; it does not stay
    between the process and its end either, since `finish` is told the exit code."""
    wanted = {"WANDB_SILENT": "true"} | ({"WANDB_ERROR_REPORTING": "false"} if offline else {})
    wanted |= guard.spared()  # its process finishes what it has, also after we are killed
    before, hooks = {name: os.environ.get(name) for name in wanted}, (sys.exit, sys.excepthook)
    os.environ.update(wanted)
    try:
        yield
    finally:
        sys.exit, sys.excepthook = hooks
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
