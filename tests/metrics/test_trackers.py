"""Trackers: opened by the first row, harmless if they fail, and the data that W&B gets."""

from __future__ import annotations

import importlib.util
import json
import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from gymnast.cli import cli
from gymnast.config.resolve import resolve
from gymnast.config.sections.track import TRACKERS, default_project
from gymnast.errors import ConfigError, UsageError
from gymnast.metrics.alert import Alert
from gymnast.metrics.sinks import tracker as tracker_module
from gymnast.metrics.sinks.tracker import Tracker
from gymnast.metrics.sinks.wandb import Wandb
from gymnast.metrics.specs import SECTIONS, Limits, run_metrics, section, sort_keys
from gymnast.metrics.tracking import TrackedRun, require_packages
from gymnast.metrics.workspace import workspace
from gymnast.training.lifecycle.summary import Preflight
from gymnast.training.plan import check_request
from gymnast.training.request import TrainRequest
from tests.waiting import PATIENCE

MakeRow = Callable[..., dict[str, float]]
ALERT = Alert("policy/kl:high", "warning", "kl is high", "Lower algo.lr.", 10, 20, 1, True)


class Fake:
    """A tracker that records what it gets, and fails in the method named `fails_at`."""

    location = "somewhere"

    def __init__(self, fails_at: str = "") -> None:
        self.fails_at = fails_at
        self.rows: list[Any] = []
        self.closed: list[Any] = []
        self._at("open")

    def write(self, row: Any, alerts: Any) -> None:
        self._at("write")
        self.rows.append(row)

    def event(self, event: Any) -> None: ...

    def close(self, summary: Any) -> None:
        self.closed.append(summary)
        self._at("close")

    def _at(self, what: str) -> None:
        if self.fails_at == what:
            raise ValueError(f"no {what} today")


class Events(list[dict[str, Any]]):
    def __call__(self, kind: str, counters: Any, **detail: Any) -> None:
        self.append({"kind": kind, **counters, **detail})


def test_a_tracker_is_opened_by_the_first_row_and_gets_every_row_in_order(row: MakeRow):
    opened: list[Fake] = []
    events = Events()

    def open_fake() -> Fake:
        opened.append(Fake())
        return opened[0]

    tracker = Tracker("fake", open_fake, events)
    tracker.event({"kind": "seeding warning"})
    assert not opened
    rows = [row(k) for k in range(1, 200)]
    for one in rows:
        tracker.write(one, [])
    tracker.close({"reason": "done"})
    assert opened[0].rows == rows
    assert opened[0].closed == [{"reason": "done"}]
    assert [(e["kind"], e["tracker"], e["where"]) for e in events] == [
        ("tracking", "fake", "somewhere")
    ]


def test_a_run_without_rows_opens_no_tracker():
    events = Events()
    Tracker("fake", lambda: pytest.fail("opened"), events).close(None)
    assert not events


@pytest.mark.parametrize("when", ["open", "write", "close"])
def test_a_failing_tracker_is_reported_once_and_does_not_stop_training(when: str, row: MakeRow):
    events, opened = Events(), []

    def open_fake() -> Fake:
        opened.append(Fake(when))
        return opened[0]

    tracker = Tracker("fake", open_fake, events)
    for k in range(1, 50):
        tracker.write(row(k), [])
    tracker.close(None)
    (failed,) = [e for e in events if e["kind"] == "tracking failed"]
    assert failed["why"] == f"ValueError: no {when} today"
    assert failed["env_steps"] <= 49 * 1024
    assert when == "open" or opened[0].closed  # it is closed all the same


def test_a_tracker_that_falls_too_far_behind_is_given_up(
    row: MakeRow, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tracker_module, "MAX_QUEUED_ROWS", 10)
    monkeypatch.setattr(tracker_module, "GIVEN_UP_SECONDS", 0.01)
    events, hang = Events(), threading.Event()

    def open_fake() -> Fake:
        hang.wait(PATIENCE)
        return Fake()

    tracker = Tracker("fake", open_fake, events)
    for k in range(1, 50):
        tracker.write(row(k), [])
    tracker.close(None)
    hang.set()
    assert [(e["kind"], e["rollouts"]) for e in events] == [("tracking failed", 12)]


# ---- packages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TRACKERS)
@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--seeds", "2"], ["--detach"]])
def test_a_missing_package_is_an_error_before_anything_is_written(
    name: str, more: list[str], runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == name else found(n))

    def check_here(request: TrainRequest, directory: Path, pinned: Sequence[str]) -> Preflight:
        """Checks in this process, in which the package is missing, instead of in a child."""
        return check_request(request=asdict(request), runs_dir=str(directory), pinned=pinned)

    monkeypatch.setattr("gymnast.api.training._check", check_here)
    words = ["train", "CartPole-v1", "--track", name, "--runs", str(runs_dir), *more]
    with pytest.raises(UsageError, match=rf"{name} is not installed") as refused:
        CliRunner().invoke(cli, words, catch_exceptions=False, standalone_mode=False)
    assert refused.value.fix == f"pip install 'gymnast[{name}]'"
    assert not runs_dir.exists()


def test_seeds_of_a_group_and_of_a_stored_result_are_tracked_too(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    started: list[TrainRequest] = []

    def train_group(request: TrainRequest, **_: Any) -> None:
        started.append(request)
        raise UsageError("enough")

    for place in ("gymnast.jobs.groups.train_group", "gymnast.insight.reproduction.train_group"):
        monkeypatch.setattr(place, train_group)
    for words in (["train", "CartPole-v1", "--seeds", "2"], ["reproduce", "CartPole-v1"]):
        started.clear()
        words += ["--track", "wandb", "--track", "tensorboard", "--runs", str(runs_dir)]
        with pytest.raises(UsageError, match="enough"):
            CliRunner().invoke(cli, words, catch_exceptions=False, standalone_mode=False)
        assert started[0].overrides == {"track.to": ["wandb", "tensorboard"]}


def test_a_folder_with_the_name_of_a_package_does_not_count_as_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "pyarrow_of_mine").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(
        importlib.import_module("gymnast.metrics.tracking")._EXTRAS, "pyarrow_of_mine", "parquet"
    )
    with pytest.raises(UsageError, match=r"pyarrow_of_mine is not installed"):
        require_packages(["pyarrow_of_mine"])
    require_packages(TRACKERS)


def test_invalid_tracker_settings_are_errors():
    with pytest.raises(ConfigError) as refused:
        resolve("CartPole-v1", {"track.to": ["wand"], "track.project": "a/b", "track.mode": "on"})
    assert len(refused.value.problems) == 3
    assert "did you mean wandb?" in str(refused.value)
    assert resolve("CartPole-v1", {"track.to": "wandb"}).config.track.to == ("wandb",)
    assert resolve("CartPole-v1", {"track.to": "off"}).config.track.to == ()


@pytest.mark.parametrize("env_id", ["CartPole-v1", "ALE/Pong-v5", "py:my.module:Env", "a b?%#c"])
def test_the_default_project_of_every_environment_is_a_valid_setting(env_id: str):
    project = default_project(env_id)
    config = resolve("CartPole-v1", {"track.project": project}).config
    assert config.track.project == project


# ---- W&B, with a fake run ------------------------------------------------------------------------


class FakeRun:
    """A W&B run that records the calls of the sink."""

    def __init__(self) -> None:
        self.offline, self.settings = True, SimpleNamespace(sync_dir="folder")
        self.logged: list[dict[str, Any]] = []
        self.defined: dict[str, dict[str, Any]] = {}
        self.alerts: list[str] = []
        self.summary: dict[str, Any] = {}
        self.exit_code: int | None = None

    def log(self, values: dict[str, Any]) -> None:
        self.logged.append(values)

    def define_metric(self, name: str, **more: Any) -> None:
        self.defined[name] = more

    def alert(self, title: str, text: str, level: str) -> None:
        self.alerts.append(f"{level} {title}: {text}")

    def finish(self, exit_code: int) -> None:
        self.exit_code = exit_code


AXIS = "clock/vec_steps"


def fake_wandb(folder: Path, films: Any = list) -> tuple[FakeRun, Wandb]:
    folder = folder / "wandb"
    folder.mkdir(exist_ok=True)
    cfg = resolve("CartPole-v1").config
    info = {"id": "abc", "name": "", "group": None, "tags": [], "created": 0.0}
    metrics = dict(run_metrics(cfg, Limits(n_actions=2)))
    metrics |= {f"rollout/action_share.{k}": metrics["rollout/reward_mean"] for k in range(3)}
    package = SimpleNamespace(
        Histogram=lambda np_histogram: np_histogram,
        Table=lambda columns, data: [columns, *data],
        Video=lambda path, caption: (path, caption),
    )
    run = FakeRun()
    return run, Wandb(package, run, TrackedRun.from_run_info(info, cfg, metrics, folder, films))


def test_the_x_axis_is_vector_steps_and_the_summary_is_the_best_value(tmp_path: Path, row: MakeRow):
    run, sink = fake_wandb(tmp_path)
    sink.write(row(1, {"eval:episode/return": 3.0}, value__loss=0.5, policy__kl=0.01), [])
    assert run.defined["eval:episode/return"] == {"step_metric": AXIS, "summary": "max,last"}
    assert run.defined["value/loss"] == {"step_metric": AXIS, "summary": "min,last"}
    assert run.defined["policy/kl"] == {"step_metric": AXIS, "summary": "last"}
    assert run.defined[AXIS]["step_metric"] is None


def test_the_maximum_entropy_is_logged_as_its_own_series(tmp_path: Path, row: MakeRow):
    run, sink = fake_wandb(tmp_path)
    for k in (1, 2):
        sink.write(row(k, policy__entropy=0.5), [])
    assert [values["bounds/policy/entropy"] for values in run.logged] == [math.log(2)] * 2


def test_action_shares_are_logged_as_a_histogram(tmp_path: Path, row: MakeRow):
    run, sink = fake_wandb(tmp_path)
    sink.write(row(1), [])
    sink.write(row(2, {f"rollout/action_share.{k}": s for k, s in enumerate([0.5, 0.2, 0.3])}), [])
    assert "histograms/actions" not in run.logged[0]
    heights, edges = run.logged[1]["histograms/actions"]
    assert (heights, edges) == ([0.5, 0.2, 0.3], [-0.5, 0.5, 1.5, 2.5])


def test_an_alert_is_sent_when_raised_and_listed_as_raised_and_resolved(
    tmp_path: Path, row: MakeRow
):
    run, sink = fake_wandb(tmp_path)
    sink.write(row(1), [ALERT])
    sink.write(row(2), [])
    sink.write(row(3), [Alert(**{**vars(ALERT), "active": False})])
    sink.close(None)
    assert run.alerts == ["WARN policy/kl:high: kl is high. Lower algo.lr."]
    assert [v["alerts/active"] for v in run.logged if "alerts/active" in v] == [1, 1, 0]
    (_, raised, resolved) = run.logged[-1]["alerts/all"]
    assert (raised[3], resolved[3]) == ("raised", "resolved")


@pytest.mark.parametrize(
    ("summary", "code"),
    [(None, 1), ({"interrupted": True}, 130), ({"solved": True, "score": {"mean": 500.0}}, 0)],
)
def test_the_exit_code_depends_on_how_the_run_ended(tmp_path: Path, summary: Any, code: int):
    run, sink = fake_wandb(tmp_path)
    sink.close(summary)
    assert run.exit_code == code
    assert run.summary.get("result/score/mean") == (500.0 if code == 0 else None)


def test_a_video_is_logged_once_at_the_step_of_its_policy_version(tmp_path: Path, row: MakeRow):
    film = {"path": "eval-000000000512-best.mp4", "position": 64.0, "return": 9.0, "version": 512}
    for attempt in (1, 2):
        run, sink = fake_wandb(tmp_path, lambda: [film])
        sink.write(row(attempt), [])
        sink.close(None)
        logged = [values for values in run.logged if "films/eval-best" in values]
        assert len(logged) == (attempt == 1)
        for values in logged:
            assert values == {
                "films/eval-best": (film["path"], "return 9, env steps 512"),
                AXIS: 64,
            }


def test_the_workspace_has_the_order_and_the_bounds_of_the_metric_table(
    tmp_path: Path, row: MakeRow
):
    _, sink = fake_wandb(tmp_path)
    keys = row(
        1, {"eval:episode/return": 3.0}, policy__entropy=0.5, episode__return=2.0, loss__total=1
    )
    sink.write(keys, [])
    stored = json.loads((tmp_path / "wandb" / "workspace.json").read_text())
    sections = {s["name"]: s["panels"] for s in stored["sections"] if s["name"] != "media"}
    drawn = [panel["y"][0] for panels in sections.values() for panel in panels]
    assert drawn == sort_keys(keys)
    assert list(sections) == [name for name in SECTIONS if name in {section(key) for key in keys}]
    panels = {panel["y"][0]: panel for panels in sections.values() for panel in panels}
    assert panels["policy/entropy"]["range_y"] == [0.0, math.log(2)]
    assert panels["policy/entropy"]["y"][1] == "bounds/policy/entropy"
    assert panels["episode/return"]["range_y"] == [None, None]  # no facts were given
    assert {panel["x"] for panel in panels.values()} == {AXIS}
    assert workspace([], {}, x=AXIS, media={})["sections"][-1]["panels"] == []
