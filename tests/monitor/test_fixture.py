"""The committed fixture of small runs is monitored, and the result is compared with the golden files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import RunError, UsageError
from gymnast.records import to_json
from gymnast.runs.run import Run
from tests.monitor.fixture import FIXTURE, FOREIGN
from tests.monitor.golden import COMMAND, difference, golden_texts, read_golden


def overview(text: str) -> dict[str, dict[str, str]]:
    return {row["run"]: row for row in csv.DictReader(io.StringIO(text))}


def test_overview_and_manifest_of_the_fixture_are_the_golden_ones(copy: Path):
    changed = difference(read_golden(), golden_texts(copy))
    if changed:
        pytest.fail(changed, pytrace=False)


def test_the_difference_names_the_file_the_column_and_the_command():
    stored = read_golden()
    text = stored["runs/run_overview.csv"]
    row = overview(text)["selfplay1"]
    planted = text.replace(f",{row['mean_length']},", ",12.5,")
    assert planted != text
    changed = difference(stored, stored | {"runs/run_overview.csv": planted})
    assert "golden/runs/run_overview.csv" in changed
    assert "+selfplay1 mean_length: 12.5" in changed
    assert COMMAND in changed
    assert difference(stored, stored) == ""


def test_the_fixture_is_small_and_has_every_kind_of_run():
    size = sum(file.stat().st_size for file in FIXTURE.rglob("*") if file.is_file())
    assert size < 1024**2
    rows = overview(read_golden()["runs/run_overview.csv"]).values()
    assert len({row["approach"] for row in rows}) >= 3
    assert {row["seeker_final_return"] == "" for row in rows} == {True, False}, "a single agent"
    assert {file.suffix for file in FOREIGN.iterdir()} == {".csv", ".jsonl"}


def test_the_overview_has_the_last_values_of_the_stored_rows(copy: Path):
    """An independent reading: pandas, of the columns that the docs name."""
    row = overview(golden_texts(copy)["runs/run_overview.csv"])["selfplay1"]
    rows = Run(copy / "runs" / "selfplay1").rows()
    for cell, column in {
        "seeker_final_return": "seeker:episode/return",
        "hider_rolling_win_rate": "hider:league/win_rate",
        "hider_eval_win_rate": "eval/hider:match/win_rate",
        "timeout_share": "match/timeout_share",
        "unknown_share": "match/unknown_share",
        "mean_length": "match/duration",
        "episodes": "clock/episodes",
    }.items():
        assert float(row[cell]) == rows[column].dropna().iloc[-1], cell
    full = rows[rows["seeker:episode/count"] == rows["seeker:episode/count"].max()]
    assert float(row["seeker_best_return"]) == full["seeker:episode/return"].max()


@pytest.mark.usefixtures("copy")
def test_without_skip_broken_the_broken_run_is_an_error_that_names_its_column():
    with pytest.raises(RunError) as refusal:
        api.monitor(all_runs=True)
    assert refusal.value.at == "broken01/metrics.db"
    assert "'seeker:policy/kl' is missing" in refusal.value.message
    assert "did you mean seeker:policy/kl_div" in refusal.value.message
    assert "--skip-broken" in refusal.value.fix


@pytest.mark.usefixtures("copy")
def test_an_empty_directory_and_an_unknown_approach_are_explained(tmp_path: Path):
    for arguments, words in (
        (["--runs", str(tmp_path / "none")], "no runs"),
        (["--approach", "selfplai"], "did you mean selfplay"),
        (["foreign/arena-updates.csv"], "needs a column map"),
        (["--map", "maps/arena-updates.yaml"], "needs the files"),
    ):
        done = CliRunner().invoke(cli, ["monitor", *arguments])
        assert words in str(done.exception), arguments


@pytest.mark.usefixtures("copy")
@pytest.mark.parametrize(
    ("approaches", "refs", "expected"),
    [
        (["baseline"], [], ["cartpole1"]),
        (["ppo"], [], ["cartpole1"]),
        (["selfplay"], [], ["selfplay1", "selfplay2"]),
        ([], ["scripted1", "cartpole1"], ["cartpole1", "scripted1"]),
        (["baseline"], ["scripted1"], ["cartpole1", "scripted1"]),
    ],
)
def test_runs_are_selected_by_tag_by_variant_and_by_reference(
    approaches: list[str], refs: list[str], expected: list[str]
):
    report = api.monitor(approaches, refs, skip_broken=True)
    assert sorted(row.run for row in report.overview) == expected


@pytest.mark.usefixtures("copy")
def test_runs_are_selected_by_environment():
    assert [row.run for row in api.monitor(env="CartPole-v1").overview] == ["cartpole1"]
    both = api.monitor(["selfplay", "seeker-vs-scripted"], env="tag", skip_broken=True)
    assert {row.env for row in both.overview} == {"tag"}
    with pytest.raises(UsageError, match="did you mean CartPole-v1"):
        api.monitor(env="cartpole-v0")


def test_a_run_counts_for_the_approach_that_was_asked_for(copy: Path):
    def approach(*asked: str) -> str:
        (row,) = api.monitor(asked, refs=["cartpole1"]).overview
        return row.approach

    Run(copy / "runs" / "cartpole1").tag(["second"])
    assert approach("second") == "second"
    assert approach("ppo") == "ppo"
    assert approach() == "ppo", "two tags: the variant counts"


def test_without_a_selection_the_runs_of_the_newest_environment_are_monitored(copy: Path):
    Run(copy / "runs" / "cartpole1").update(created=1e9)
    assert [row.run for row in api.monitor().overview] == ["cartpole1"]


def test_the_files_are_written_to_the_data_directory_and_stale_pictures_deleted(
    copy: Path, monkeypatch: pytest.MonkeyPatch
):
    first = api.write_monitor(refs=["cartpole1"])
    place = Path(first.out)
    assert place == copy / "data" / "monitor"
    assert sorted(first.files) == sorted(
        file.relative_to(place).as_posix() for file in place.rglob("*") if file.is_file()
    )
    (place / "charts" / "mine.png").write_text("of the user")
    second = api.write_monitor(
        files=["foreign/arena-matches.jsonl"], column_map="maps/arena-matches.yaml"
    )
    left = {file.relative_to(place).as_posix() for file in place.rglob("*") if file.is_file()}
    assert left == {*second.files, "charts/mine.png"}
    monkeypatch.setattr("gymnast.monitor.files.monitor_chart_png", lambda *_: b"a picture")
    monkeypatch.setenv("GYMNAST_DATA", str(copy / "elsewhere"))
    assert Path(api.write_monitor(refs=["cartpole1"]).out) == copy / "elsewhere" / "monitor"
    assert Path(api.write_monitor(refs=["cartpole1"], data="d").out) == copy / "d" / "monitor"
    assert Path(api.write_monitor(refs=["cartpole1"], data="d", out="o").out) == Path("o")


def test_a_foreign_manifest_is_not_overwritten(copy: Path):
    (copy / "out").mkdir()
    (copy / "out" / "manifest.json").write_text('{"name": "a web app"}')
    done = CliRunner().invoke(cli, ["monitor", "--run", "cartpole1", "--out", "out"])
    assert "not a manifest of the monitor" in str(done.exception)
    assert (copy / "out" / "manifest.json").read_text() == '{"name": "a web app"}'


@pytest.mark.usefixtures("copy")
def test_reading_does_not_depend_on_the_order_of_runs():
    refs = ["selfplay1", "scripted1", "selfplay2"]
    a, b = (api.monitor(refs=order) for order in (refs, refs[::-1]))
    assert a.overview == b.overview
    assert [chart.name for chart in a.charts] == [chart.name for chart in b.charts]
    for one, other in zip(a.charts, b.charts, strict=True):
        for left, right in zip(one.series, other.series, strict=True):
            assert np.array_equal(left.y, right.y, equal_nan=True)


def test_the_command_prints_the_overview_and_what_was_left_out(
    copy: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gymnast.monitor.files.monitor_chart_png", lambda *_: b"a picture")
    command = ["monitor", "--all-runs", "--skip-broken", "--out", "out"]
    page = CliRunner().invoke(cli, command, catch_exceptions=False).output
    rows = overview((copy / "out" / "run_overview.csv").read_text())
    lines = page.splitlines()
    for run, row in rows.items():
        (line,) = (line for line in lines if f" {run} " in line)
        assert f"{int(row['env_steps']):,}" in line
        assert row["verdict"] in line
    assert f"{float(rows['selfplay1']['hider_rolling_win_rate']):.0%}" in page
    (left_out,) = (line for line in lines if line.startswith("left out"))
    assert "broken01" in left_out
    assert "seeker:policy/kl" in left_out
    printed = json.loads(CliRunner().invoke(cli, [*command, "--json"]).output)
    assert printed == to_json(api.write_monitor(all_runs=True, skip_broken=True, out="out"))
    assert [row["run"] for row in printed["overview"]] == list(rows)


@pytest.mark.usefixtures("copy")
def test_a_single_agent_has_no_columns_of_roles(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gymnast.monitor.files.monitor_chart_png", lambda *_: b"a picture")
    done = CliRunner().invoke(cli, ["monitor", "--run", "cartpole1", "--out", "out"])
    head = done.output.splitlines()[0].split()
    assert "final" in head
    assert not {"role", "wins", "unknown"} & set(head)
