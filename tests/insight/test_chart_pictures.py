"""One chart of one or more runs: what is drawn is what was recorded, as a picture and as text."""

from __future__ import annotations

import base64
import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import GymnastError, UsageError
from gymnast.insight.charts import CHARTS
from tests.insight.conftest import Record


def picture(png: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(png)))


def test_a_picture_is_a_png_with_a_panel_per_metric(record: Record):
    first, second = record([10.0, 200.0, 400.0], name="a"), record([9.0, 20.0], name="b")
    one = api.chart([first.id], ["eval:episode/return"])
    two = api.chart([first.id, second.id], ["eval:episode/return", "clock/rollouts"])
    assert (picture(one.png).format, one.text) == ("PNG", "")
    assert picture(two.png).width > picture(one.png).width
    assert [(curve.panel, curve.label) for curve in two.curves] == [
        ("eval:episode/return", "a"),
        ("eval:episode/return", "b"),
        ("clock/rollouts", "a"),
        ("clock/rollouts", "b"),
    ]
    for curve, run in zip(two.curves[:2], (first, second), strict=True):
        (series,) = api.curves([run.id], ["eval:episode/return"], x="env_steps").series
        assert (curve.points, curve.first, curve.last) == (
            len(series.x),
            series.mean[0],
            series.mean[-1],
        )


def test_the_named_chart_of_several_runs_has_the_curves_of_all(record: Record):
    runs = [record([10.0, 200.0], name=name) for name in ("a", "b", "c")]
    drawn = api.chart([run.id for run in runs], format="text")
    assert drawn.png == ""
    for name in ("a", "b", "c"):
        assert any(curve.label.startswith(f"{name} ") for curve in drawn.curves)
        assert f"{name} evaluation" in drawn.text
    assert drawn.text.startswith("Return per episode\n")
    assert "threshold 475" in drawn.text


def test_every_chart_of_a_report_can_be_drawn_by_its_name(record: Record):
    run = record([10.0, 200.0, 400.0])
    available = {data.name: data for data in api.charts(run.id, "env_steps")}
    for spec in CHARTS:
        if spec.name in available:
            drawn = api.chart([run.id], chart=spec.name, format="text")
            assert len(drawn.curves) == len(available[spec.name].series)
        else:
            with pytest.raises(UsageError, match="no run has recorded"):
                api.chart([run.id], chart=spec.name)


def test_wrong_names_are_errors_with_a_suggestion(record: Record):
    run = record([10.0])
    with pytest.raises(UsageError, match="did you mean entropy"):
        api.chart([run.id], chart="entropie")
    with pytest.raises(UsageError, match="has no metric 'policy/nonsense'"):
        api.chart([run.id], ["policy/nonsense"])
    with pytest.raises(UsageError, match="either"):
        api.chart([run.id], ["clock/rollouts"], chart="score")
    with pytest.raises(UsageError, match="at least one run"):
        api.chart([])


def test_too_many_panels_are_left_out_and_counted(record: Record):
    run = record([10.0, 20.0])
    drawn = api.chart([run.id], ["*"], format="text")
    keys = {series.key for series in api.curves([run.id]).series}
    assert len({curve.panel for curve in drawn.curves}) + drawn.left_out == len(keys)
    assert drawn.left_out > 0


def test_a_picture_without_matplotlib_says_what_to_install(
    record: Record, monkeypatch: pytest.MonkeyPatch
):
    run = record([10.0, 20.0])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(GymnastError, match=r"gymnast\[report\]"):
        api.chart([run.id])
    assert api.chart([run.id], format="text").text


def test_the_command_prints_text_or_writes_a_file(record: Record, tmp_path: Path):
    run, file = record([10.0, 20.0]), tmp_path / "a.png"
    printed = CliRunner().invoke(cli, ["chart", run.id])
    assert printed.output.startswith("Return per episode\n")
    written = CliRunner().invoke(cli, ["chart", run.id, "--out", str(file), "--json"])
    assert written.exit_code == 0, written.output
    assert json.loads(written.output)["png"] == ""
    assert Image.open(file).format == "PNG"
    both = CliRunner().invoke(cli, ["chart", run.id, "--out", str(file), "--text"])
    assert isinstance(both.exception, UsageError)
    nowhere = CliRunner().invoke(cli, ["chart", run.id, "--out", str(tmp_path / "no" / "a.png")])
    assert isinstance(nowhere.exception, UsageError)
