"""Everything that may be asked of gymnast or done with it: the functions behind the command line.

Importing this package imports neither torch nor gymnasium, and each function imports its module when it
is first used. Functions return records (frozen dataclasses, see `gymnast.records`) and raise GymnastError;
`call` does the same by name, with JSON arguments, and returns errors as values. What needs an environment
or a network is a task in a child process (`gymnast.tasks`). `ref` is a reference to a run as in
`gymnast.runs.store.resolve`, in some functions that only read also a bundle (`resolve_readable`); `runs_dir`
is the runs directory, None for GYMNAST_RUNS or ./runs.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING

from gymnast.api.operation import CHANGES, READS, TASK, Operation

if TYPE_CHECKING:
    from gymnast.api.bundle import bundle as bundle
    from gymnast.api.bundle import bundle_contents as bundle_contents
    from gymnast.api.calling import call as call
    from gymnast.api.chart import chart as chart
    from gymnast.api.config import config_check as config_check
    from gymnast.api.config import config_diff as config_diff
    from gymnast.api.config import config_fmt as config_fmt
    from gymnast.api.config import config_show as config_show
    from gymnast.api.config import settings_form as settings_form
    from gymnast.api.control import checkpoint as checkpoint
    from gymnast.api.control import evaluate_live as evaluate_live
    from gymnast.api.control import pause as pause
    from gymnast.api.control import set_live as set_live
    from gymnast.api.control import stop as stop
    from gymnast.api.control import unpause as unpause
    from gymnast.api.curves import curves as curves
    from gymnast.api.decisions import attribution as attribution
    from gymnast.api.decisions import blunders as blunders
    from gymnast.api.decisions import branch as branch
    from gymnast.api.decisions import obs_images as obs_images
    from gymnast.api.decisions import stored_blunders as stored_blunders
    from gymnast.api.decisions import what_if as what_if
    from gymnast.api.episodes import episodes as episodes
    from gymnast.api.episodes import steps as steps
    from gymnast.api.episodes import steps_csv as steps_csv
    from gymnast.api.film_queue import clear_film_queue as clear_film_queue
    from gymnast.api.film_queue import film_queue as film_queue
    from gymnast.api.find import docs as docs
    from gymnast.api.find import find as find
    from gymnast.api.frames import frames as frames
    from gymnast.api.hosts import host_check as host_check
    from gymnast.api.housekeeping import init as init
    from gymnast.api.housekeeping import note as note
    from gymnast.api.housekeeping import prune as prune
    from gymnast.api.housekeeping import remove as remove
    from gymnast.api.housekeeping import tag as tag
    from gymnast.api.insight import charts as charts
    from gymnast.api.insight import compare as compare
    from gymnast.api.insight import doctor as doctor
    from gymnast.api.insight import export as export
    from gymnast.api.insight import report as report
    from gymnast.api.insight import seed_curves as seed_curves
    from gymnast.api.inspector import find_episode as find_episode
    from gymnast.api.inspector import inspect as inspect
    from gymnast.api.league import cross_play as cross_play
    from gymnast.api.league import league as league
    from gymnast.api.league import self_play as self_play
    from gymnast.api.logs import logs as logs
    from gymnast.api.metrics import metrics as metrics
    from gymnast.api.monitor import monitor as monitor
    from gymnast.api.monitor import monitor_csv as monitor_csv
    from gymnast.api.monitor import write_monitor as write_monitor
    from gymnast.api.nightly import nightly as nightly
    from gymnast.api.playing import play_start as play_start
    from gymnast.api.playing import play_step as play_step
    from gymnast.api.playing import play_stop as play_stop
    from gymnast.api.playing import roll_out as roll_out
    from gymnast.api.preparation import spaces as spaces
    from gymnast.api.presets import presets as presets
    from gymnast.api.prompts import prompt as prompt
    from gymnast.api.prompts import prompts as prompts
    from gymnast.api.review import review as review
    from gymnast.api.review import review_contents as review_contents
    from gymnast.api.review import review_runs as review_runs
    from gymnast.api.review import reviews as reviews
    from gymnast.api.rows import rows as rows
    from gymnast.api.rows import rows_csv as rows_csv
    from gymnast.api.run_files import run_file as run_file
    from gymnast.api.runs import events as events
    from gymnast.api.runs import runs as runs
    from gymnast.api.runs import show as show
    from gymnast.api.sweep import sweep_best as sweep_best
    from gymnast.api.sweep import sweep_importance as sweep_importance
    from gymnast.api.sweep import sweep_list as sweep_list
    from gymnast.api.sweep import sweep_remove as sweep_remove
    from gymnast.api.sweep import sweep_status as sweep_status
    from gymnast.api.sweep import sweep_stop as sweep_stop
    from gymnast.api.sweep_plots import sweep_plots as sweep_plots
    from gymnast.api.sweep_space import sweep_init as sweep_init
    from gymnast.api.sweep_start import sweep_plan as sweep_plan
    from gymnast.api.sweep_start import sweep_resume as sweep_resume
    from gymnast.api.sweep_start import sweep_start as sweep_start
    from gymnast.api.sweep_start import tune_preset as tune_preset
    from gymnast.api.tasks import audit as audit
    from gymnast.api.tasks import cancel_task as cancel_task
    from gymnast.api.tasks import check as check
    from gymnast.api.tasks import check_all as check_all
    from gymnast.api.tasks import eval as eval
    from gymnast.api.tasks import net as net
    from gymnast.api.tasks import task as task
    from gymnast.api.tasks import task_log as task_log
    from gymnast.api.tasks import task_result as task_result
    from gymnast.api.tasks import tasks as tasks
    from gymnast.api.tasks import tune_envs as tune_envs
    from gymnast.api.tasks import tune_scale as tune_scale
    from gymnast.api.tasks import video as video
    from gymnast.api.training import cancel as cancel
    from gymnast.api.training import dry_run as dry_run
    from gymnast.api.training import group as group
    from gymnast.api.training import jobs as jobs
    from gymnast.api.training import resume as resume
    from gymnast.api.training import start as start
    from gymnast.api.training import train_command as train_command
    from gymnast.api.training import wait as wait
    from gymnast.api.trajectories import trajectories as trajectories
    from gymnast.api.trajectories import trajectory_metrics as trajectory_metrics
    from gymnast.api.trajectories import trajectory_paths as trajectory_paths
    from gymnast.api.trajectories import trajectory_replay as trajectory_replay
    from gymnast.api.trends import trends as trends

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("runs", READS, "runs"),
        Operation("show", READS, "runs"),
        Operation("events", READS, "runs"),
        Operation("run_file", READS, "run_files"),
        Operation("rows", READS, "rows"),
        Operation("curves", READS, "curves"),
        Operation("trends", READS, "trends"),
        Operation("rows_csv", READS, "rows"),
        Operation("logs", READS, "logs"),
        Operation("episodes", READS, "episodes"),
        Operation("steps", READS, "episodes"),
        Operation("steps_csv", READS, "episodes"),
        Operation("find_episode", READS, "inspector"),
        Operation("inspect", READS, "inspector"),
        Operation("branch", READS, "decisions"),
        Operation("what_if", READS, "decisions"),
        Operation("attribution", READS, "decisions"),
        Operation("obs_images", READS, "decisions"),
        Operation("blunders", TASK, "decisions"),
        Operation("stored_blunders", READS, "decisions"),
        Operation("roll_out", TASK, "playing"),
        Operation("play_start", CHANGES, "playing"),
        Operation("play_step", CHANGES, "playing"),
        Operation("play_stop", CHANGES, "playing"),
        Operation("charts", READS, "insight"),
        Operation("chart", READS, "chart"),
        Operation("compare", READS, "insight"),
        Operation("seed_curves", READS, "insight"),
        Operation("doctor", READS, "insight"),
        Operation("monitor", READS, "monitor"),
        Operation("monitor_csv", READS, "monitor"),
        Operation("write_monitor", CHANGES, "monitor"),
        Operation("find", READS, "find"),
        Operation("docs", READS, "find"),
        Operation("presets", READS, "presets"),
        Operation("metrics", READS, "metrics"),
        Operation("config_show", READS, "config"),
        Operation("config_check", READS, "config"),
        Operation("config_diff", READS, "config"),
        Operation("settings_form", READS, "config"),
        Operation("report", CHANGES, "insight"),
        Operation("export", CHANGES, "insight"),
        Operation("config_fmt", CHANGES, "config"),
        Operation("tasks", READS, "tasks"),
        Operation("task", READS, "tasks"),
        Operation("task_log", READS, "tasks"),
        Operation("task_result", READS, "tasks"),
        Operation("cancel_task", CHANGES, "tasks"),
        Operation("eval", TASK, "tasks"),
        Operation("check", TASK, "tasks"),
        Operation("check_all", TASK, "tasks"),
        Operation("net", TASK, "tasks"),
        Operation("audit", TASK, "tasks"),
        Operation("video", TASK, "tasks"),
        Operation("tune_envs", TASK, "tasks"),
        Operation("tune_scale", TASK, "tasks"),
        Operation("frames", TASK, "frames"),
        Operation("trajectories", TASK, "trajectories"),
        Operation("trajectory_metrics", TASK, "trajectories"),
        Operation("trajectory_paths", TASK, "trajectories"),
        Operation("trajectory_replay", TASK, "trajectories"),
        Operation("review_contents", READS, "review"),
        Operation("review_runs", READS, "review"),
        Operation("reviews", READS, "review"),
        Operation("review", TASK, "review"),
        Operation("prompts", READS, "prompts"),
        Operation("prompt", READS, "prompts"),
        Operation("nightly", TASK, "nightly"),
        Operation("bundle_contents", READS, "bundle"),
        Operation("bundle", CHANGES, "bundle"),
        Operation("league", READS, "league"),
        Operation("self_play", READS, "league"),
        Operation("cross_play", TASK, "league"),
        Operation("spaces", TASK, "preparation"),
        Operation("dry_run", READS, "training"),
        Operation("train_command", READS, "training"),
        Operation("start", CHANGES, "training"),
        Operation("resume", CHANGES, "training"),
        Operation("jobs", READS, "training"),
        Operation("wait", READS, "training"),
        Operation("cancel", CHANGES, "training"),
        Operation("group", READS, "training"),
        Operation("host_check", READS, "hosts"),
        Operation("stop", CHANGES, "control"),
        Operation("pause", CHANGES, "control"),
        Operation("unpause", CHANGES, "control"),
        Operation("checkpoint", CHANGES, "control"),
        Operation("set_live", CHANGES, "control"),
        Operation("evaluate_live", CHANGES, "control"),
        Operation("sweep_init", READS, "sweep_space"),
        Operation("sweep_plan", READS, "sweep_start"),
        Operation("sweep_start", CHANGES, "sweep_start"),
        Operation("sweep_list", READS, "sweep"),
        Operation("sweep_status", READS, "sweep"),
        Operation("sweep_resume", CHANGES, "sweep_start"),
        Operation("sweep_stop", CHANGES, "sweep"),
        Operation("sweep_best", READS, "sweep"),
        Operation("sweep_importance", READS, "sweep"),
        Operation("sweep_plots", READS, "sweep_plots"),
        Operation("sweep_remove", CHANGES, "sweep"),
        Operation("tune_preset", CHANGES, "sweep_start"),
        Operation("remove", CHANGES, "housekeeping"),
        Operation("prune", CHANGES, "housekeeping"),
        Operation("film_queue", READS, "film_queue"),
        Operation("clear_film_queue", CHANGES, "film_queue"),
        Operation("tag", CHANGES, "housekeeping"),
        Operation("note", CHANGES, "housekeeping"),
        Operation("init", CHANGES, "housekeeping"),
    )
}
"""Name -> operation, for `call` and for the pages and servers that offer them."""

__all__ = ["CHANGES", "OPERATIONS", "READS", "TASK", "Operation", "call", *OPERATIONS]  # pyright: ignore[reportUnsupportedDunderAll]


class _Api(ModuleType):
    """This package, whose operations take precedence over its modules with the same name: importing
    `gymnast.api.runs` must not replace the function `gymnast.api.runs`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in OPERATIONS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Api


def __getattr__(name: str) -> object:
    if name == "call":
        return importlib.import_module("gymnast.api.calling").call
    if name not in OPERATIONS:
        raise AttributeError(f"module 'gymnast.api' has no attribute {name!r}")
    return OPERATIONS[name].function
