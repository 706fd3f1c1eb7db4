"""Charts as data: which charts a run has, their points, and the marks on them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import UsageError
from gymnast.insight.chart import ChartData, ChartLine, ChartSeries
from gymnast.insight.chart_data import charts
from gymnast.insight.chart_source import POINTS
from gymnast.insight.charts import (
    CHARTS,
    FAMILIES,
    METRIC_FAMILIES,
    PAGE,
    chart_family,
    docs_section,
)
from gymnast.metrics.checks import CHECKS, REMEDIES
from gymnast.metrics.explain import catalog
from gymnast.metrics.metric import ANY
from gymnast.metrics.specs import METRICS, SECTIONS
from gymnast.metrics.store import MetricStore
from gymnast.records import from_json, to_json
from gymnast.runs.run import Run

Row = dict[str, float]
INFO = {"threshold": 200.0, "alerts": []}


def rows(n: int = 10, every: dict[str, Callable[[int], float]] | None = None) -> list[Row]:
    """Returns rows of rollouts with 8 copies and 16 steps; `every`: key -> function of the row number."""
    made = []
    for i in range(1, n + 1):
        clocks = {"env_steps": 128 * i, "vec_steps": 16 * i, "frames": 128 * i, "updates": 4 * i}
        clocks |= {"rollouts": i, "episodes": i, "seconds": i**2 / 10}
        row = {f"clock/{name}": float(value) for name, value in clocks.items()}
        made.append(row | {key: of(i) for key, of in (every or {}).items()})
    return made


def chart(name: str, of: list[Row], **more) -> ChartData:
    (found,) = [c for c in charts(of, {**INFO, **more.pop("info", {})}, **more) if c.name == name]
    return found


def test_metrics_that_were_not_recorded_are_not_drawn():
    drawn = charts(rows(every={"policy/kl": lambda _: 0.01}), INFO)
    assert [c.name for c in drawn] == ["kl"]
    assert charts([], INFO) == []


def test_a_missing_value_has_no_point_and_a_value_that_is_not_finite_is_a_gap():
    recorded = rows(every={"policy/kl": float})
    del recorded[3]["policy/kl"]
    recorded[5]["policy/kl"] = math.nan
    (line,) = chart("kl", recorded).series
    assert line.x == [16.0, 32.0, 48.0, 80.0, 96.0, 112.0, 128.0, 144.0, 160.0]
    assert line.y == [1.0, 2.0, 3.0, 5.0, None, 7.0, 8.0, 9.0, 10.0]
    assert from_json(ChartSeries, to_json(line)) == line


def test_any_clock_can_be_the_x_axis_and_an_evaluation_is_at_the_version_it_scored():
    recorded = rows(every={"episode/return": float})
    recorded[4] |= {"eval:clock/env_steps": 256.0, "eval:episode/return": 7.0}
    recorded[4] |= {"eval:episode/low": 6.0, "eval:episode/high": 9.0}
    for clock, expected in {"vec_steps": 32.0, "seconds": 0.4, "rollouts": 2.0}.items():
        evaluated, trained = chart("score", recorded, x=clock).series
        assert evaluated.x == [expected], clock
        assert (evaluated.low, evaluated.y, evaluated.high) == ([6.0], [7.0], [9.0])
        assert trained.x == [row[f"clock/{clock}"] for row in recorded]
    with pytest.raises(UsageError, match="fortnights"):
        charts(recorded, INFO, x="fortnights")


def test_a_long_series_is_averaged_and_keeps_its_extremes_as_a_band():
    n = 10 * POINTS
    (line,) = chart("kl", rows(n, {"policy/kl": lambda i: 9.0 if i == 777 else 0.01})).series
    assert len(line.y) == POINTS
    assert max(line.high) == 9.0
    assert max(line.y) == pytest.approx((9.0 + 9 * 0.01) / 10)
    assert line.low == [0.01] * POINTS


def test_stacked_series_are_shares_of_their_sum():
    spent = {
        "time/env": lambda i: 3.0 * i,
        "time/update": lambda i: 1.0 * i,
        "time/rest": lambda _: 0.0,
    }
    timing = chart("timing", rows(every=spent))
    assert {line.label: set(line.y) for line in timing.series} == {
        "env": {0.75},
        "update": {0.25},
    }, "activities that took no time are omitted"
    shares = {f"rollout/action_share.{k}": lambda _: 1 / 18 for k in range(18)}
    many = chart("actions", rows(every=shares), actions=[f"a{k}" for k in range(18)])
    assert many.kind == "heat"
    assert [line.label for line in many.series] == [f"a{k}" for k in range(18)]


def test_the_loss_chart_has_the_weighted_terms_or_else_the_unweighted_ones():
    bare: dict[str, Callable[[int], float]] = {"policy/loss": float, "value/loss": float}
    assert [s.key for s in chart("losses", rows(every=bare)).series] == list(bare)
    scaled = {"loss/value": float, "loss/policy": float}
    found = chart("losses", rows(every=bare | scaled)).series
    assert [s.key for s in found] == ["loss/policy", "loss/value"]


def test_the_entropy_chart_has_the_maximum_and_the_healthy_range():
    every = {"policy/entropy": lambda _: 0.5 * math.log(4), "policy/entropy_share": lambda _: 0.5}
    entropy = chart("entropy", rows(every=every))
    assert [line.y for line in entropy.lines] == pytest.approx([math.log(4)])
    assert entropy.range == pytest.approx((0.0, math.log(4)))
    share = METRICS["policy/entropy_share"]
    assert chart("certainty", rows(every=every)).healthy == share.healthy
    assert chart("entropy", rows(every={"policy/entropy": float})).range is None


def test_only_hyperparameters_that_change_are_drawn():
    every = {"hyper/lr": lambda i: 1e-3 / i, "hyper/clip": lambda _: 0.2}
    assert [s.label for s in chart("schedules", rows(every=every)).series] == ["lr"]


def test_ticks_alerts_and_events_are_marked_where_they_happened():
    every = {"policy/kl": float, "optim/kl_stop": lambda i: float(i in (3, 4))}
    alert = {"id": "policy/kl:high", "level": "warning", "message": "high", "count": 2}
    alert |= {"advice": "", "active": False}
    elsewhere = alert | {"id": "policy/ratio_max:high", "first": 128, "last": 1280}
    events = [
        {"kind": "live change", "env_steps": 640, "changes": [{"key": "a", "from": 1, "to": 2}]},
        {"kind": "checkpoint asked", "env_steps": 640},
    ]
    info = {"alerts": [alert | {"first": 256, "last": 512}, elsewhere]}
    found = chart("kl", rows(every=every), info=info, events=events, x="updates")
    assert found.ticks.x == [12.0, 16.0]
    assert [(a.id, a.x, a.until) for a in found.alerts] == [
        ("policy/kl:high", 8.0, 16.0),
        ("policy/ratio_max:high", 4.0, 40.0),
    ], "an alert of a metric without a chart is marked on the first chart of its family"
    assert [(e.text, e.x) for e in found.events] == [("live change: a 2 (was 1)", 20.0)]


def test_the_score_of_a_game_with_winners_is_not_called_a_return():
    evaluated = {
        "eval:clock/env_steps": lambda i: 128.0 * i,
        "eval:episode/return": lambda _: 0.4,
        "eval/seeker:episode/return": lambda _: -0.2,
    }

    def labels(more: dict[str, Callable[[int], float]]) -> list[str]:
        return [line.label for line in chart("score", rows(every=evaluated | more)).series]

    assert labels({}) == ["evaluation", "evaluation seeker"]
    won: dict[str, Callable[[int], float]] = {"eval/seeker:match/win_rate": lambda _: 0.4}
    assert labels(won) == ["score (win rate of the weaker role)", "evaluation seeker"]


def test_each_task_has_its_own_line():
    every = {"episode/return": float, "light:episode/return": float, "dark:episode/return": float}
    labels = [line.label for line in chart("score", rows(every=every)).series]
    assert labels == ["training", "training dark", "training light"]


def test_api_charts_returns_the_charts_of_a_run(record: Callable[..., Run], runs_dir: Path):
    run = record([10.0, 20.0, 480.0])
    drawn = api.charts(run.id, "env_steps", runs_dir=runs_dir)
    assert [c.name for c in drawn] == ["score", "entropy"]
    assert drawn[0].lines == [ChartLine(475.0, "threshold 475.0")]
    assert drawn[0].series[0].x == [0.0, 512.0, 1024.0]
    with MetricStore(run.path / "metrics.db") as store:
        assert drawn[1].series[0].y == [row["policy/entropy"] for row in store.rows()]


def test_the_charts_of_a_long_run_are_read_in_buckets_and_show_the_same(
    record: Callable[..., Run], runs_dir: Path
):
    """The charts from all rows are the oracle: same charts, marks and extremes, and nearly the same means."""
    every: dict[str, Callable[[int], float]] = {
        "policy/kl": lambda i: 9.0 if i == 7777 else 0.01 + 0.001 * math.sin(i / 300),
        "episode/return": lambda i: math.nan if 2000 < i < 2200 else i / 20,
        "optim/kl_stop": lambda i: float(i in (3000, 9000)),
        "time/env": lambda i: 3.0 + i / 9000,
        "time/update": lambda _: 1.0,
        "time/rest": lambda _: 0.0,
        "hyper/lr": lambda i: 1e-3 / i,
        "hyper/clip": lambda _: 0.2,
        "policy/entropy": lambda _: 0.5 * math.log(4),
        "policy/entropy_share": lambda _: 0.5,
    }
    recorded = rows(9999, every)
    for i in range(500, 9999, 500):
        recorded[i] |= {"eval:clock/env_steps": 128.0 * (i - 7), "eval:episode/return": float(i)}
    run = record([])
    with MetricStore(run.path / "metrics.db", "w") as store:
        for row in recorded:
            store.append(row)
    alert = {"id": "policy/kl:high", "level": "warning", "message": "high", "count": 2}
    alert |= {"advice": "", "active": False, "first": 128 * 777, "last": 128 * 7778}
    run.update(alerts=[alert])
    for clock in ("vec_steps", "seconds"):
        found = api.charts(run.id, clock, runs_dir=runs_dir)
        expected = charts(recorded, run.info, x=clock)
        assert [c.name for c in found] == [c.name for c in expected]
        for mine, oracle in zip(found, expected, strict=True):
            assert [line.key for line in mine.series] == [line.key for line in oracle.series]
            assert (mine.lines, mine.range) == (oracle.lines, oracle.range)
            width = oracle.series[-1].x[-1]
            for a, b in zip(mine.alerts, oracle.alerts, strict=True):
                assert (a.x, a.until) == pytest.approx((b.x, b.until), abs=width / 2000)
            for line, exact in zip(mine.series, oracle.series, strict=True):
                compare_lines(line, exact, width)
        (ticks,) = [c.ticks for c in found if c.ticks]
        (exact_ticks,) = [c.ticks for c in expected if c.ticks]
        assert ticks.x == pytest.approx(exact_ticks.x, abs=recorded[-1][f"clock/{clock}"] / POINTS)


def compare_lines(line: ChartSeries, exact: ChartSeries, width: float) -> None:
    if len(exact.x) < POINTS:  # evaluations: nothing is averaged
        assert line == exact
        return
    assert len(line.x) == pytest.approx(POINTS, abs=2)
    at = [min(range(len(exact.x)), key=lambda i: abs(exact.x[i] - x)) for x in line.x]
    assert [exact.x[i] for i in at] == pytest.approx(line.x, abs=width / POINTS)
    pairs = [(exact.y[i], y) for i, y in zip(at, line.y, strict=True)]
    largest = max(abs(y) for y in exact.y if y is not None)
    inside = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    assert len(inside) >= 0.97 * len([y for y in exact.y if y is not None])
    assert sorted(inside)[int(0.98 * len(inside))] <= 0.01 * largest
    if exact.low is not None:
        assert min(y for y in line.low if y is not None) == min(
            y for y in exact.low if y is not None
        )
        assert max(y for y in line.high if y is not None) == max(
            y for y in exact.high if y is not None
        )


def headings() -> set[str]:
    """Returns the anchors of the page, as GitHub makes them."""
    text = (Path(__file__).parents[2] / PAGE).read_text()
    return {
        re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-")
        for h in re.findall("^#+ (.*)", text, re.M)
    }


def test_every_metric_that_can_raise_an_alert_has_a_section_on_the_page():
    known = headings()
    assert known >= set(FAMILIES)
    keys = [id.rpartition(":")[0] for id in (*CHECKS, *REMEDIES)]
    keys += [name for name, metric in catalog().items() if metric.healthy != ANY]
    assert {docs_section(key).partition("#")[2] for key in keys} <= known
    assert set(SECTIONS) <= set(METRIC_FAMILIES), "any metric may become NaN"


def test_the_page_lists_every_check_and_no_alert_that_does_not_exist():
    text = (Path(__file__).parents[2] / PAGE).read_text()
    named = set(re.findall(r"`((?:eval:)?[a-z]+/\w+:[a-z]+)`", text))
    ranges = {n for n, metric in catalog().items() if metric.healthy != ANY}
    assert named >= set(CHECKS)
    assert {id for id in named - set(CHECKS) if id.rpartition(":")[0] not in ranges} == set()


def test_every_picture_of_the_page_exists_and_is_small():
    page = Path(__file__).parents[2] / PAGE
    pictures = [page.parent / name for name in re.findall(r"\]\((images/\S+)\)", page.read_text())]
    assert len(pictures) >= len(FAMILIES)
    assert max(file.stat().st_size for file in pictures) <= 40_000


def test_every_chart_has_the_family_of_its_metrics():
    for each in CHARTS:
        for key in (*each.keys, *each.fallback_keys):
            assert chart_family(key.removesuffix("*")) == each.family, (each.name, key)
    plain = [key for c in CHARTS for key in (*c.keys, *c.fallback_keys) if not key.endswith("*")]
    assert {key.rpartition(":")[2] for key in plain} <= set(METRICS), "all metrics are declared"
    assert {c.family for c in CHARTS} == set(FAMILIES)
