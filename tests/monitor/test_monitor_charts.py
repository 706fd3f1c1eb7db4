"""The charts of the monitor, compared with the columns and matches that they are drawn from."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from gymnast.errors import UsageError
from gymnast.monitor.approach_charts import approach_charts
from gymnast.monitor.chart_data import monitor_charts
from gymnast.monitor.chart_specs import curve_specs
from gymnast.monitor.curves import POINTS, read_curve, smooth_curve
from gymnast.monitor.draw import APPROACH_COLORS, ROLE_COLORS, Colors, monitor_chart_png
from gymnast.monitor.manifest import manifest_text, picture_file
from gymnast.monitor.monitored_run import UNKNOWN, MatchEntry, MatchTable, MonitoredRun
from gymnast.monitor.records import MonitorChart, MonitorReport
from gymnast.monitor.run_charts import run_charts
from tests.monitor.runs import made_run

ROLES = ("seeker", "hider")
PPO = ("policy/loss", "value/loss", "policy/kl", "policy/entropy", "policy/clip_fraction")
NAN = math.nan


def match(version: int, kind: str, length: int, outcome: str, **players: str) -> MatchEntry:
    return MatchEntry(version, kind, length, outcome, dict.fromkeys(ROLES, 0.0), players)


def role_run(
    run: str, approach: str = "selfplay", rows: int = 40, width: int = 10, seed: int = 0
) -> MonitoredRun:
    """A self-play run with a row every `width` env steps, in some of which the seeker does not learn."""
    rng = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {}
    for role in ROLES:
        for name in ("episode/return", *PPO):
            columns[f"{role}:{name}"] = rng.normal(size=rows)
        rate = rng.uniform(0.2, 0.8, rows)
        columns[f"{role}:league/win_rate"] = rate
        columns[f"{role}:league/win_low"] = rate - 0.1
        columns[f"{role}:league/win_high"] = rate + 0.1
        evaluated = np.where(np.arange(rows) % 5 == 4, rng.uniform(0, 1, rows), NAN)
        columns[f"eval/{role}:match/win_rate"] = evaluated
        columns[f"eval/{role}:match/win_low"] = evaluated / 2
        columns[f"eval/{role}:match/win_high"] = evaluated / 2 + 0.5
    for name in PPO:
        columns[f"seeker:{name}"][10:15] = NAN
    steps = np.arange(1, rows + 1) * float(width)
    columns["eval:clock/env_steps"] = np.where(np.arange(rows) % 5 == 4, steps - 2 * width, NAN)
    tag = rng.uniform(0, 0.7, rows)
    columns |= {"match/unknown_share": np.full(rows, 0.25), "match/tag_share": tag}
    columns |= {"match/timeout_share": 0.75 - tag, "env/distance": rng.uniform(1, 9, rows)}
    half = int(steps[-1]) // 2
    entries = [
        match(half, "eval", 12, "tag", seeker="learner", hider="scripted:weak"),
        match(half, "eval", 30, "timeout", seeker="scripted:weak", hider="learner"),
        match(half + 1, "eval", 20, "tag", seeker="learner", hider="scripted:weak"),
        match(half + 1, "confirm", 48, UNKNOWN, seeker="learner", hider="scripted:weak"),
        match(half + 1, "eval", 33, "timeout", seeker="scripted:weak", hider="learner"),
        match(half + 1, "train", 99, "timeout", seeker="learner", hider="learner"),
        match(half + 1, "eval", 77, "timeout", seeker="learner", hider="learner"),
    ]
    made = MatchTable.from_entries(entries)
    return made_run(steps, columns, run=run, approach=approach, matches=made)


def find(charts: list[MonitorChart], name: str) -> MonitorChart:
    (found,) = [chart for chart in charts if chart.name == name]
    return found


@pytest.fixture(scope="module")
def runs() -> list[MonitoredRun]:
    return [
        role_run("a1", seed=1),
        role_run("a2", seed=2, width=7, rows=60),
        role_run("a3", seed=3, width=11),
        role_run("b1", "curriculum", seed=4),
    ]


@pytest.fixture(scope="module")
def charts(runs: list[MonitoredRun]) -> list[MonitorChart]:
    return monitor_charts(runs, smooth=10)


def test_a_self_play_run_has_a_chart_of_everything_that_it_recorded(charts: list[MonitorChart]):
    names = [chart.name.removeprefix("a1-") for chart in charts if chart.run == "a1"]
    assert names == [
        "role-rewards",
        "win-rate",
        "evaluation-win-rate",
        "env-distance",
        "policy-loss",
        "value-loss",
        "kl",
        "entropy",
        "clip-fraction",
        "outcomes",
        "match-lengths",
    ]


def test_every_line_of_a_run_is_its_column(runs: list[MonitoredRun]):
    for run in runs:
        for spec in curve_specs([run]):
            for role in spec.roles(run):
                chart = find(list(run_charts(run, smooth=1)), f"{run.run}-{spec.name}")
                (line,) = [line for line in chart.series if line.role == role]
                curve = read_curve(run, spec.column(role))
                assert line.x == curve.x.tolist()
                np.testing.assert_array_equal(line.y, curve.y)
                assert {s.column for s in chart.sources} >= {spec.column(role)}
                assert {s.file for s in chart.sources} == {f"{run.run}/metrics.db"}


def test_win_rates_have_their_recorded_interval_and_are_not_smoothed(
    runs: list[MonitoredRun], charts: list[MonitorChart]
):
    chart = find(charts, "a1-win-rate")
    assert chart.smooth == 1
    for line in chart.series:
        assert line.band == "95 % interval"
        assert line.y == runs[0].columns[f"{line.role}:league/win_rate"].tolist()
        assert line.low == runs[0].columns[f"{line.role}:league/win_low"].tolist()
        assert line.high == runs[0].columns[f"{line.role}:league/win_high"].tolist()
    columns = [source.column for source in chart.sources]
    assert columns[:3] == [
        "seeker:league/win_rate",
        "seeker:league/win_low",
        "seeker:league/win_high",
    ]


def test_rows_in_which_a_role_did_not_learn_are_gaps(charts: list[MonitorChart]):
    chart = find(charts, "a1-kl")
    seeker, hider = chart.series
    assert np.flatnonzero(np.isnan(seeker.y)).tolist() == [10, 11, 12, 13, 14]
    assert not np.isnan(hider.y).any()
    assert "Gaps" in chart.note
    assert "Moving average over 10 rows." in chart.note


def test_outcomes_add_up_to_one_with_the_unknown_ones_last(charts: list[MonitorChart]):
    for name in ("a1-outcomes", "tag-outcomes"):
        chart = find(charts, name)
        assert chart.kind == "stacked shares"
        for approach in {line.approach for line in chart.series}:
            lines = [line for line in chart.series if line.approach == approach]
            assert [line.label for line in lines] == ["tag", "timeout", UNKNOWN]
            assert len({tuple(line.x) for line in lines}) == 1
            np.testing.assert_allclose(np.sum([line.y for line in lines], axis=0), 1.0)


def test_a_comparison_is_the_mean_of_the_smoothed_runs_on_a_common_axis(
    runs: list[MonitoredRun], charts: list[MonitorChart]
):
    chart = find(charts, "tag-role-rewards")
    assert [(line.role, line.approach) for line in chart.series] == [
        ("seeker", "selfplay"),
        ("seeker", "curriculum"),
        ("hider", "selfplay"),
        ("hider", "curriculum"),
    ]
    line = chart.series[2]
    column = "hider:episode/return"
    smoothed = [smooth_curve(read_curve(run, column), 10) for run in runs[:3]]
    x = np.array(line.x)
    assert x[0] == 11
    assert x[-1] == 400
    assert set(x) == {v for c in smoothed for v in c.x.tolist() if 11 <= v <= 400}
    expected = np.mean([np.interp(x, curve.x, curve.y) for curve in smoothed], axis=0)
    np.testing.assert_allclose(line.y, expected)
    assert line.band == "95 % interval of the mean over runs"
    assert line.n == [3] * len(x)
    assert "opponents" in chart.note


def test_the_comparison_of_one_run_is_that_run(runs: list[MonitoredRun]):
    own = {chart.name: chart for chart in run_charts(runs[0], smooth=5)}
    compared = list(approach_charts({"selfplay": runs[:1]}, 5, "a1"))
    assert len(compared) == len(own)
    for chart in compared:
        lines, expected = chart.series, own[chart.name].series
        if chart.kind == "histogram":  # a comparison has only the second half of training
            expected = [line for line in expected if line.label == "second half"]
        for line, of_run in zip(lines, expected, strict=True):
            assert (line.role, line.x) == (of_run.role, of_run.x)
            for found, values in (
                (line.y, of_run.y),
                (line.low, of_run.low),
                (line.high, of_run.high),
            ):
                np.testing.assert_array_equal(found, values)


def test_a_comparison_names_the_approaches_whose_runs_do_not_overlap():
    def short_run(run: str, approach: str, steps: list[float]) -> MonitoredRun:
        return made_run(steps, {"episode/return": steps}, run=run, approach=approach, roles=())

    apart = [short_run("a", "apart", [1, 2]), short_run("b", "apart", [3, 4])]
    (chart,) = approach_charts({"apart": apart, "one": [short_run("c", "one", [1, 4])]}, 1, "tag")
    assert [line.approach for line in chart.series] == ["one"]
    assert "no env steps in common: apart." in chart.note


def test_match_lengths_are_those_of_evaluations_in_which_the_role_learned(
    charts: list[MonitorChart],
):
    def lengths(name: str, role: str, label: str) -> dict[tuple[float, float], float]:
        (line,) = [s for s in find(charts, name).series if (s.role, s.label) == (role, label)]
        bins = zip(line.x[:-1], line.x[1:], line.y, strict=True)
        return {(low, high): y for low, high, y in bins if y}

    # 48 steps are the longest of these matches, so that bins have a width of 2
    assert lengths("a1-match-lengths", "seeker", "first half of training") == {(10, 12): 1.0}
    assert lengths("a1-match-lengths", "seeker", "second half") == {(18, 20): 0.5, (46, 48): 0.5}
    assert lengths("a1-match-lengths", "hider", "second half") == {(32, 34): 1.0}
    assert lengths("tag-match-lengths", "hider", "selfplay") == {(32, 34): 1.0}
    chart = find(charts, "a1-match-lengths")
    assert [(s.file, s.column) for s in chart.sources] == [
        ("a1/matches/eval-*.safetensors", "length")
    ]


def test_environments_are_not_compared_with_each_other():
    def single(run: str, env: str) -> MonitoredRun:
        columns = {"episode/return": [1.0, 2.0]}
        return made_run([1, 2], columns, run=run, env=env, approach="ppo", roles=())

    found = monitor_charts([single("x", "A-v0"), single("y", "ALE/B-v5"), single("z", "ALE/B-v5")])
    compared = [chart for chart in found if chart.about == "approach"]
    assert [(chart.name, chart.runs) for chart in compared] == [("ALE-B-v5-reward", ["y", "z"])]


def test_names_are_unique_file_names():
    made = [
        made_run([1, 2], {"episode/return": [1.0, 2.0]}, run=run, env="", roles=())
        for run in ("my runs/a.csv", "my runs?a.csv", "MY-runs-a.csv")
    ]
    names = [chart.name for chart in monitor_charts(made)]
    assert len({name.lower() for name in names}) == len(names) == 4
    assert all(not set(name) & set('/\\ ?:*"<>|') for name in names)


def test_long_runs_are_drawn_with_fewer_points_and_all_their_extremes():
    values = np.sin(np.arange(5000.0))
    values[1234] = 99.0
    run = made_run(range(5000), {"policy/loss": values}, roles=())
    (chart,) = run_charts(run, smooth=1)
    (line,) = chart.series
    assert len(line.x) <= POINTS
    assert (1234.0, 99.0) in zip(line.x, line.y, strict=True)


def test_a_moving_average_over_no_rows_is_refused(runs: list[MonitoredRun]):
    with pytest.raises(UsageError, match="--smooth"):
        monitor_charts(runs, smooth=0)


def test_every_kind_of_chart_can_be_drawn(charts: list[MonitorChart]):
    colors = Colors.of_charts(charts)
    for name in (
        "a1-kl",
        "a1-outcomes",
        "a1-match-lengths",
        "tag-kl",
        "tag-outcomes",
        "tag-match-lengths",
    ):
        chart = find(charts, name)
        png = monitor_chart_png(chart, colors)
        assert monitor_chart_png(chart, colors) == png, "the same picture every time"
        image = Image.open(io.BytesIO(png)).convert("RGB")
        drawn = {f"#{r:02x}{g:02x}{b:02x}" for _, (r, g, b) in image.getcolors(1 << 20) or ()}
        if chart.kind == "lines":
            palette = ROLE_COLORS if chart.about == "run" else APPROACH_COLORS
            assert set(palette[:2]) <= drawn


def test_roles_and_approaches_keep_their_colors(charts: list[MonitorChart]):
    colors = Colors.of_charts(charts)
    of_role: dict[str, set[tuple[str, str]]] = {}
    of_approach: dict[str, set[tuple[str, str]]] = {}
    for chart in charts:
        for line in chart.series:
            by_role = chart.about == "run" and line.role
            table, key = (of_role, line.role) if by_role else (of_approach, line.approach)
            table.setdefault(key, set()).add(colors.of_line(line, chart))
    assert all(len(found) == 1 for found in (*of_role.values(), *of_approach.values()))
    assert len(set.union(*of_role.values())) == len(of_role) == 2
    assert len(set.union(*of_approach.values())) == len(of_approach) == 2


def test_the_manifest_lists_every_chart_with_its_picture_and_sources(
    runs: list[MonitoredRun], charts: list[MonitorChart]
):
    report = MonitorReport([], charts, [], ["selfplay", "curriculum"], 10)
    text = manifest_text(report)
    assert manifest_text(report) == text
    stored = json.loads(text)
    assert [entry["file"] for entry in stored["charts"]] == [picture_file(c) for c in charts]
    by_run = {run.run: run for run in runs}
    for entry, chart in zip(stored["charts"], charts, strict=True):
        assert entry["title"] == chart.title
        assert entry["runs"]
        assert {by_run[run].approach for run in entry["runs"]} == set(entry["approaches"])
        files = {source["file"].split("/")[0] for source in entry["sources"]}
        assert files == set(entry["runs"])
        for source in entry["sources"]:
            if source["file"].endswith("metrics.db"):
                assert set(source["columns"]) <= set(by_run[entry["runs"][0]].columns)
        assert [s["band"] for s in entry["series"]] == [line.band for line in chart.series]
    smooth = {entry["name"]: entry["smooth"] for entry in stored["charts"]}
    assert (smooth["tag-kl"], smooth["tag-win-rate"]) == (10, 1)


def test_long_titles_and_notes_are_wrapped_into_the_picture(charts: list[MonitorChart]):
    chart = replace(find(charts, "a1-kl"), title="A word " * 20, note="Some words. " * 25)
    short = Image.open(io.BytesIO(monitor_chart_png(find(charts, "a1-kl"))))
    image = Image.open(io.BytesIO(monitor_chart_png(chart))).convert("L")
    assert image.width == short.width
    right = np.asarray(image)[:, -4:]
    assert (right == 255).all(), "nothing is cut off at the right edge"


def test_runs_of_an_approach_that_do_not_overlap_are_not_drawn():
    early = role_run("early", rows=10)
    late = role_run("late", seed=5)
    steps = late.env_steps + 10_000
    late = replace(late, env_steps=steps, columns={**late.columns, "clock/env_steps": steps})
    compared = [c for c in monitor_charts([early, late]) if c.about == "approach"]
    names = {chart.name for chart in compared}
    assert "tag-outcomes" not in names
    assert "tag-role-rewards" not in names
