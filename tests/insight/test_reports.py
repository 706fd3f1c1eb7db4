"""`gymnast report`: content, formats, files and imports."""

from __future__ import annotations

import base64
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from gymnast import api
from gymnast.errors import GymnastError, RunError, UsageError
from gymnast.insight.chart import ChartData, ChartSeries
from gymnast.insight.report import pictures
from gymnast.insight.report.texts import chart_text
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run
from tests.cli_output import cli_output

ALERT = {
    "id": "policy/kl:high",
    "level": "warning",
    "message": "policy/kl is high <b>",
    "advice": "Updates are too large. Lower algo.lr (now 0.001 -> 0).",
    "first": 256,
    "last": 1024,
    "count": 4,
    "active": False,
}


@pytest.fixture
def run(record: Callable[..., Run]) -> Run:
    parent = record([5.0, 6.0, 7.0], name="before", overrides={"algo.gamma": 0.5})
    made = record([10.0, 20.0, 480.0], name="try-1", parent=parent.id)
    score = {"mean": 481.0, "low": 476.0, "high": 490.0, "episodes": 100}
    live = {"algo.lr": 0.0001}
    made.update(alerts=[ALERT], solved=True, score=score, reason="solved", live=live)
    changes = [{"key": "algo.lr", "from": "0.001 -> 0", "to": 0.0001}]
    made.record_event("live change", {"env_steps": 512, "rollouts": 2}, changes=changes, id="x")
    return made


@pytest.fixture
def without_drawing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces drawing, which takes a tenth of a second per picture."""
    monkeypatch.setattr(pictures, "chart_png", lambda chart: chart.name.encode())


EXPECTED = (
    "Run {id} try-1: CartPole-v1:ppo, seed 0",
    "481.0 [476.0, 490.0] over 100 episodes, threshold 475.0, solved",
    "lower bound reached the threshold after 1,024 env steps, 0.4 s",
    "Updates are too large. Lower algo.lr (now 0.001 -> 0).",
    "256 to 1,024",
    "gymnast/guide/reading-charts.md#kl",
    "algo.batch_size",
    "CartPole-v1.yaml:",
    "Comparison with the parent run",
    "algo.gamma",
    "Changed during training:",
    "algo.lr 0.0001 (was 0.001 -> 0)",
    "gymnast doctor {id}",
    "● evaluation",
)


@pytest.mark.usefixtures("without_drawing")
def test_both_formats_have_status_alerts_settings_and_next_commands(run: Run, runs_dir: Path):
    found = api.report(run.id, runs_dir=runs_dir)
    folder = run.path / "report"
    assert set(found.files) == {str(file) for file in folder.iterdir()}
    text, page = (folder / "report.md").read_text(), Page(folder / "report.html").text
    for expected in EXPECTED:
        assert expected.format(id=run.id) in text, expected
        assert expected.format(id=run.id) in page, expected
    named = re.findall(r"\]\((\S+\.png)\)", text)
    assert {"score.png", "entropy.png", "parent.png"} == set(named)
    assert all((folder / name).is_file() for name in named)


class Page(HTMLParser):
    """Collects the text, the pictures and the tags of an HTML page."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.text, self.pictures, self.tags = "", [], set[str]()
        self.feed(file.read_text())

    def handle_starttag(self, tag: str, attrs) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                self.pictures.append(value)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_html_page_is_one_file_without_scripts_and_with_small_pictures(
    run: Run, tmp_path: Path
):
    file = tmp_path / "out" / "cart.html"
    found = api.report(str(run.path), out=file)
    assert found.files == [str(file)]
    assert list(file.parent.iterdir()) == [file]
    page = Page(file)
    assert not page.tags & {"script", "link", "iframe"}
    assert "http" not in file.read_text()
    assert "<b>" in page.text, "texts of a run are escaped"
    assert len(page.pictures) == 3
    for source in page.pictures:
        kind, data = source.split(",", 1)
        assert kind == "data:image/png;base64"
        png = base64.b64decode(data)
        assert len(png) < 60_000
        image = Image.open(io.BytesIO(png))
        assert image.width > 400
        assert len(image.getcolors() or ()) > 8, "something is drawn"


def test_without_matplotlib_markdown_has_text_charts_and_html_names_the_extra(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pictures, "has_matplotlib", lambda: False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    (file,) = api.report(str(run.path), ["md"], tmp_path).files
    text = Path(file).read_text()
    assert "● evaluation" in text
    assert ".png" not in text
    with pytest.raises(GymnastError, match=r"matplotlib.*\n.*gymnast\[report\]"):
        api.report(str(run.path), out=tmp_path / "both")
    assert not (tmp_path / "both").exists()


@pytest.mark.usefixtures("without_drawing")
def test_a_missing_parent_is_reported(run: Run, tmp_path: Path):
    run.update(parent="gone1234")
    (file,) = api.report(str(run.path), out=tmp_path / "r.html").files
    assert "Its parent gone1234 cannot be read" in Page(Path(file)).text


def test_a_run_without_rows_has_a_report(runs_dir: Path, tmp_path: Path):
    run = Run.create(runs_dir, config_text="", preset="A-v0:ppo", seed=0, provenance={})
    api.report(str(run.path), ["md"], tmp_path)
    assert "A-v0:ppo" in (tmp_path / "report.md").read_text()
    assert [file.name for file in tmp_path.iterdir() if file.suffix] == ["report.md"]


@pytest.mark.usefixtures("without_drawing")
def test_metrics_are_in_table_order(run: Run, tmp_path: Path):
    with MetricStore(run.path / "metrics.db", "w") as store:
        clocks = {f"clock/{c}": 1.0 for c in ("env_steps", "vec_steps", "frames", "updates")}
        clocks |= {f"clock/{c}": 9.0 for c in ("rollouts", "episodes", "seconds")}
        store.append({**clocks, "policy/kl": 0.01, "episode/return": 3.0, "value/loss": 1.0})
    api.report(str(run.path), ["md"], tmp_path)
    text = (tmp_path / "report.md").read_text().split("## Metrics")[1]
    places = [text.index(f"`{k}`") for k in ("episode/return", "policy/kl", "value/loss")]
    assert places == sorted(places)


@pytest.mark.usefixtures("without_drawing")
def test_the_command_prints_the_files_and_rejects_a_wrong_suffix(
    run: Run, runs_dir: Path, tmp_path: Path
):
    def ask(*words: str) -> str:
        return cli_output("report", run.id, "--runs", str(runs_dir), *words)

    printed = ask("--md", "--out", str(tmp_path / "a.md"), "--x", "env_steps")
    assert printed.splitlines() == [str(tmp_path / "a.md"), "and 3 pictures"]
    assert (tmp_path / "a-score.png").is_file()
    assert "env_steps" in (tmp_path / "a.md").read_text()
    files = json.loads(ask("--json", "--html", "--out", str(tmp_path)))["files"]
    assert files == [str(tmp_path / "report.html")]
    with pytest.raises(UsageError, match="--html"):
        ask("--html", "--out", str(tmp_path / "a.md"))
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="--out DIR"):
        ask("--html", "--out", str(tmp_path / "file" / "inside"))


def test_a_report_imports_neither_torch_nor_gymnasium(run: Run, runs_dir: Path, tmp_path: Path):
    code = f"""
import sys
from gymnast import api
api.charts({run.id!r}, runs_dir={str(runs_dir)!r})
assert "matplotlib" not in sys.modules, "chart data does not need matplotlib"
api.report({run.id!r}, ["html"], {str(tmp_path)!r}, runs_dir={str(runs_dir)!r})
assert not {{"torch", "gymnasium", "rich"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pictures_of_others_are_never_overwritten(run: Run, tmp_path: Path):
    pytest.importorskip("matplotlib")
    files = api.report(str(run.path), ["md"], tmp_path / "first").files
    picture = next(Path(file).name for file in files if file.endswith(".png"))
    own = tmp_path / "own" / picture
    own.parent.mkdir()
    own.write_text("mine")
    with pytest.raises(UsageError, match="no report that it could belong to"):
        api.report(str(run.path), ["md"], own.parent)
    assert own.read_text() == "mine"
    api.report(str(run.path), ["md"], tmp_path / "first")


def test_an_unknown_format_is_refused(run: Run, runs_dir: Path):
    with pytest.raises(UsageError, match="pdf is not a format of reports"):
        api.report(run.id, ["md", "pdf"], runs_dir=runs_dir)


def test_a_plot_as_text_names_the_unit_of_its_values_and_the_clock():
    line = ChartSeries("policy/entropy", "entropy", [1.0, 2.0], [0.7, 0.6])
    chart = ChartData("entropy", "policy", "Entropy", "", "vec_steps", [line], unit="nats")
    assert " nats over vec_steps " in chart_text(chart)
    assert "(nats)" not in chart_text(chart)
