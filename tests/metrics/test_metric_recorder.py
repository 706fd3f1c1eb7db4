"""The recorder: nothing undeclared, nothing after the end, every sink served."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from gymnast.errors import GymnastError
from gymnast.metrics.alerts import Alert
from gymnast.metrics.recorder import Recorder, Row, Summary
from gymnast.metrics.sinks.stored import Stored
from gymnast.metrics.specs import METRICS
from gymnast.metrics.store import MetricStore


class Kept:
    """Remembers what it was given."""

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


class Broken(Kept):
    def close(self, summary: Summary | None) -> None:
        super().close(summary)
        raise OSError("no space left")


def test_an_undeclared_name_raises_and_names_the_nearest(row):
    sink = Kept()
    recorder = Recorder(METRICS, [sink])
    with pytest.raises(
        GymnastError, match=r"'policy/entrpy' is not declared; did you mean policy/entropy"
    ):
        recorder.write(row(policy__entrpy=0.5))
    with pytest.raises(GymnastError, match="'eval:made/up' is not declared"):
        recorder.write(row(values={"eval:made/up": 0.5}))
    assert sink.rows == []


def test_a_row_without_all_clocks_is_refused(row):
    incomplete = row()
    del incomplete["clock/vec_steps"]
    with pytest.raises(GymnastError, match="lacks clock/vec_steps"):
        Recorder(METRICS, []).write(incomplete)


def test_one_clock_is_never_another(row):
    """Each counter has its own column, and evaluation's own steps are scoped."""
    sink = Kept()
    Recorder(METRICS, [sink]).write(row(3, {"eval:clock/env_steps": 1024}))
    assert sink.rows[0]["clock/env_steps"] == 3072
    assert sink.rows[0]["eval:clock/env_steps"] == 1024


def test_sinks_get_plain_floats_they_cannot_change(row):
    sink = Kept()
    written = row(policy__entropy=np.float32(0.1), optim__epochs=4)
    Recorder(METRICS, [sink]).write(written)
    written["policy/entropy"] = 9.0
    assert sink.rows[0]["policy/entropy"] == float(np.float32(0.1))
    assert all(type(value) is float for value in sink.rows[0].values())
    with pytest.raises(TypeError):
        sink.rows[0]["policy/entropy"] = 1.0  # type: ignore[index]


def test_alerts_reach_sinks_and_caller(row):
    sink = Kept()
    raised = Recorder(METRICS, [sink]).write(row(policy__loss=math.nan))
    assert [alert.id for alert in raised] == ["policy/loss:nan"] == [a.id for a in sink.alerts]


def test_sinks_of_a_resumed_run_learn_what_already_holds(row):
    before, sink = Recorder(METRICS, []), Kept()
    before.write(row(policy__loss=math.nan))
    after = Recorder(METRICS, [sink])
    after.alerts.load(before.alerts.state())
    after.write(row(2, policy__loss=math.nan))
    after.write(row(3, policy__loss=math.nan))
    assert [alert.id for alert in sink.alerts] == ["policy/loss:nan"]


def test_closing_reaches_every_sink_once_in_order_even_when_one_fails():
    sinks = [Kept(), Broken(), Kept()]
    recorder = Recorder(METRICS, sinks)
    with pytest.raises(OSError, match="no space"):
        recorder.close({"solved": True})
    recorder.close(None)
    assert [sink.summaries for sink in sinks] == [[{"solved": True}]] * 3


def test_nothing_recorded_is_lost_at_the_end_and_nothing_is_taken_afterwards(row, tmp_path):
    store = MetricStore(tmp_path / "metrics.db", "w")
    recorder = Recorder(METRICS, [Stored(store)])
    recorder.write(row(1))
    recorder.write(row(2))
    recorder.close(None)
    with pytest.raises(RuntimeError, match="closed"):
        recorder.write(row(3))
    with MetricStore(tmp_path / "metrics.db") as record:
        assert record.read(["clock/rollouts"])["clock/rollouts"].tolist() == [1, 2]


def test_events_pass_to_sinks():
    sink = Kept()
    Recorder(METRICS, [sink]).event({"kind": "checkpoint"})
    assert sink.events == [{"kind": "checkpoint"}]
