"""The recorder: rejects undeclared metrics and late rows, and passes rows to every sink in order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from gymnast.errors import GymnastError
from gymnast.metrics import recorder as recorder_module
from gymnast.metrics.alert import Alert
from gymnast.metrics.recorder import BATCH_SECONDS, Recorder, Row, Summary
from gymnast.metrics.specs import METRICS
from gymnast.metrics.store import MetricStore


class RecordingSink:
    """A sink that records what it gets."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.alerts: list[Alert] = []
        self.events: list[Mapping[str, Any]] = []
        self.summaries: list[Summary | None] = []

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        self.rows.append(row)
        self.alerts += alerts

    def event(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    def close(self, summary: Summary | None) -> None:
        self.summaries.append(summary)


class FailingSink(RecordingSink):
    def close(self, summary: Summary | None) -> None:
        super().close(summary)
        raise OSError("no space left")


def test_an_undeclared_metric_is_an_error_that_names_the_closest(row):
    sink = RecordingSink()
    recorder = Recorder(METRICS, [sink])
    with pytest.raises(
        GymnastError, match=r"'policy/entrpy' is not declared; did you mean policy/entropy"
    ):
        recorder.write(row(policy__entrpy=0.5))
    with pytest.raises(GymnastError, match="'eval:made/up' is not declared"):
        recorder.write(row(values={"eval:made/up": 0.5}))
    assert sink.rows == []


def test_a_row_without_all_clocks_is_an_error(row):
    incomplete = row()
    del incomplete["clock/vec_steps"]
    with pytest.raises(GymnastError, match="lacks clock/vec_steps"):
        Recorder(METRICS, []).write(incomplete)


def test_the_clocks_of_training_and_evaluation_have_separate_keys(row):
    """Each clock has its own key, and that of an evaluation is scoped."""
    sink = RecordingSink()
    Recorder(METRICS, [sink]).write(row(3, {"eval:clock/env_steps": 1024}))
    assert sink.rows[0]["clock/env_steps"] == 3072
    assert sink.rows[0]["eval:clock/env_steps"] == 1024


def test_sinks_get_plain_floats_in_read_only_rows(row):
    sink = RecordingSink()
    written = row(policy__entropy=np.float32(0.1), optim__epochs=4)
    Recorder(METRICS, [sink]).write(written)
    written["policy/entropy"] = 9.0
    assert sink.rows[0]["policy/entropy"] == float(np.float32(0.1))
    assert all(type(value) is float for value in sink.rows[0].values())
    with pytest.raises(TypeError):
        sink.rows[0]["policy/entropy"] = 1.0  # type: ignore[index]


def test_alerts_reach_the_sinks_and_the_caller(row):
    sink = RecordingSink()
    recorder = Recorder(METRICS, [sink])
    recorder.write(row(1))
    recorder.write(row(2, policy__loss=math.nan))
    raised = recorder.process_pending()
    assert [alert.id for alert in raised] == ["policy/loss:nan"] == [a.id for a in sink.alerts]


@pytest.fixture
def clock(monkeypatch):
    """A monotonic clock that only the test advances."""
    now = [1000.0]
    monkeypatch.setattr(recorder_module.time, "monotonic", lambda: now[0])
    return now


def test_fast_rows_are_stored_at_once_and_passed_to_sinks_in_batches(row, tmp_path, clock):
    sink, store = RecordingSink(), MetricStore(tmp_path / "metrics.db", "w")
    recorder = Recorder(METRICS, [sink], store=store)
    n_passed_on: list[int] = []
    for n in range(1, 6):
        recorder.write(row(n))
        n_passed_on.append(len(sink.rows))
        assert len(list(store.rows())) == n
        clock[0] += BATCH_SECONDS * 0.4
    assert n_passed_on == [1, 1, 1, 4, 4], "the first row at once, then the rows of each batch"
    clock[0] += BATCH_SECONDS
    recorder.write(row(6))
    assert [r["clock/rollouts"] for r in sink.rows] == [1, 2, 3, 4, 5, 6]
    store.close()


@pytest.mark.parametrize("after", ["an event", "a look at the alerts", "the end"])
@pytest.mark.usefixtures("clock")
def test_pending_rows_are_passed_on_before_events_alerts_and_the_end(row, after):
    sink = RecordingSink()
    recorder = Recorder(METRICS, [sink])
    for n in range(1, 4):
        recorder.write(row(n, policy__loss=math.nan if n == 3 else 0.0))
    assert len(sink.rows) == 1
    match after:
        case "an event":
            recorder.event({"kind": "checkpoint"})
        case "a look at the alerts":
            assert [alert.id for alert in recorder.alerts.active()] == ["policy/loss:nan"]
        case _:
            recorder.close()
    assert [r["clock/rollouts"] for r in sink.rows] == [1, 2, 3]
    assert [alert.id for alert in sink.alerts] == ["policy/loss:nan"]


class ReportingSink(RecordingSink):
    """Reports an event when it gets the second row, as trackers do."""

    def write(self, row: Row, alerts: Sequence[Alert]) -> None:
        super().write(row, alerts)
        if row["clock/rollouts"] == 2:
            self.recorder.event({"kind": "tracking"})

    recorder: Recorder


@pytest.mark.usefixtures("clock")
def test_an_event_reported_by_a_sink_does_not_reorder_rows(row):
    sinks = [ReportingSink(), RecordingSink()]
    sinks[0].recorder = recorder = Recorder(METRICS, sinks)
    for n in range(1, 5):
        recorder.write(row(n))
    recorder.close()
    for sink in sinks:
        assert [r["clock/rollouts"] for r in sink.rows] == [1, 2, 3, 4]
        assert sink.events == [{"kind": "tracking"}]


def test_sinks_of_a_resumed_run_get_the_alerts_that_are_already_active(row):
    before, sink = Recorder(METRICS, []), RecordingSink()
    before.write(row(policy__loss=math.nan))
    after = Recorder(METRICS, [sink])
    after.alerts.load(before.alerts.state())
    after.write(row(2, policy__loss=math.nan))
    after.write(row(3, policy__loss=math.nan))
    assert [alert.id for alert in sink.alerts] == ["policy/loss:nan"]


def test_close_reaches_every_sink_once_even_if_one_fails():
    sinks = [RecordingSink(), FailingSink(), RecordingSink()]
    recorder = Recorder(METRICS, sinks)
    with pytest.raises(OSError, match="no space"):
        recorder.close({"solved": True})
    recorder.close(None)
    assert [sink.summaries for sink in sinks] == [[{"solved": True}]] * 3


def test_close_loses_no_rows_and_later_rows_are_an_error(row, tmp_path):
    store = MetricStore(tmp_path / "metrics.db", "w")
    recorder = Recorder(METRICS, [], store=store)
    recorder.write(row(1))
    recorder.write(row(2))
    recorder.close(None)
    with pytest.raises(RuntimeError, match="closed"):
        recorder.write(row(3))
    with MetricStore(tmp_path / "metrics.db") as record:
        assert record.read(["clock/rollouts"])["clock/rollouts"].tolist() == [1, 2]


def test_events_are_passed_to_sinks():
    sink = RecordingSink()
    Recorder(METRICS, [sink]).event({"kind": "checkpoint"})
    assert sink.events == [{"kind": "checkpoint"}]
