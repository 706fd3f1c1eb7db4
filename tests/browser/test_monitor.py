"""The page that monitors runs by approach: the numbers are those of the API, and broken runs are named."""

from __future__ import annotations

import csv
import re
import shutil
import sqlite3
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gymnast import api
from gymnast.monitor.records import MonitorChart, MonitorReport
from tests.browser.charts import RECORD_COPIES
from tests.browser.conftest import OpenPage
from tests.browser.sample import FAST, SLOW, TAG, SampleRuns
from tests.browser.studio import Studio, serious_findings, serving, settle

pytestmark = pytest.mark.slow

CART = "/monitor?env=CartPole-v1"
TAG_ENV = "/monitor?env=tag"
OVERVIEW = "Overview of the runs"
REFUSED = "the server responded with a status of 4"
"""Part of Chromium's message if the monitor stops at a broken run."""


def overview(page: Page) -> Locator:
    return page.get_by_role("table", name=OVERVIEW)


def shown_runs(page: Page) -> list[str]:
    """Returns the names of the runs in the overview, from above."""
    return overview(page).locator("td.monitor-run a").all_inner_texts()


def exact_numbers(row: Locator) -> list[list[float]]:
    """Returns the numbers of each cell with all digits: the value, and the best one or its interval."""
    titles = row.locator(".monitor-cell").evaluate_all("cells => cells.map((cell) => cell.title)")
    return [[float(text) for text in re.findall(r"-?\d[\d.e+-]*", title)] for title in titles]


def report_of(sample: SampleRuns, *names: str, smooth: int = 10) -> MonitorReport:
    refs = [sample.ids[name] for name in names]
    return api.monitor(refs=refs, smooth=smooth, runs_dir=sample.path)


def chart_csv(page: Page, title: str) -> list[list[str]]:
    """Returns the lines of a chart's CSV, its head first. The page has run RECORD_COPIES."""
    before = page.evaluate("window.copied.length")
    page.get_by_role("button", name=f"Actions for {title}", exact=True).click()
    page.get_by_role("menuitem", name="Copy as CSV").click()
    page.wait_for_function("before => window.copied.length > before", arg=before)
    return list(csv.reader(StringIO(page.evaluate("window.copied.at(-1)"))))


def chart_of(report: MonitorReport, column: str, *, about: str) -> MonitorChart:
    """Returns the chart of a column."""
    (chart,) = [
        chart
        for chart in report.charts
        if chart.about == about and any(source.column == column for source in chart.sources)
    ]
    return chart


def numbers(cells: list[str]) -> list[float | None]:
    return [float(cell) if cell else None for cell in cells]


def test_the_page_is_in_the_navigation(page: Page) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Monitor").click()
    expect(page).to_have_url(re.compile(r"/monitor$"))
    expect(page).to_have_title("Monitor · gymnast")


def test_the_overview_has_the_numbers_of_the_report(
    sample: SampleRuns, sample_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(sample_studio, TAG_ENV)
    (row,) = report_of(sample, TAG).overview
    line = overview(page).get_by_role("row").filter(has_text=TAG)
    expect(line).to_have_count(1)
    assert [role.role for role in row.roles] == ["seeker", "hider"]
    for role in row.roles:
        assert [role.final_return, role.best_return] in exact_numbers(line)
        wins = [role.rolling_win_rate, role.rolling_win_low, role.rolling_win_high]
        assert wins in exact_numbers(line)
        wins = [role.eval_win_rate, role.eval_win_low, role.eval_win_high]
        assert wins in exact_numbers(line)
    for outcome, share in row.outcomes.items():
        expect(overview(page).get_by_role("columnheader", name=outcome)).to_be_visible()
        assert [share] in exact_numbers(line)
    line.get_by_role("link", name=TAG, exact=True).click()
    expect(page).to_have_url(re.compile(f"/run/{row.run}$"))


def test_a_click_on_a_title_sorts_and_the_address_keeps_the_order(
    sample: SampleRuns, sample_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(sample_studio, CART)
    settle(page)
    expect(overview(page).locator("td.monitor-run a")).to_have_count(12)
    title = overview(page).get_by_role("button", name="return", exact=True)
    title.click()
    expect(page).to_have_url(re.compile("sort=-final_return"))
    rows = report_of(sample, *shown_runs(page)).overview
    best = max(rows, key=lambda row: row.roles[0].final_return or 0)
    expect(overview(page).locator("td.monitor-run a").first).to_have_text(best.name)
    descending = shown_runs(page)
    title.click()
    expect(page).to_have_url(re.compile("sort=final_return"))
    expect(overview(page).locator("td.monitor-run a").last).to_have_text(best.name)
    other = new_page(sample_studio, f"{CART}&sort=-final_return")
    expect(overview(other).locator("td.monitor-run a").first).to_have_text(best.name)
    assert shown_runs(other) == descending


def test_runs_are_chosen_by_approach_and_run_and_the_address_restores_the_choice(
    sample_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(sample_studio, CART)
    runs = page.get_by_role("complementary", name="Runs")
    # The tag of the slow runs is their approach; the others have the variant of the preset.
    runs.get_by_role("button", name=re.compile("^slow 5$")).click()
    expect(page).to_have_url(re.compile(r"approaches=slow$"))
    expect(overview(page).locator("td.monitor-run a")).to_have_text(
        [f"{SLOW}-s{seed}" for seed in range(5)]
    )
    for seed in (1, 3):
        runs.get_by_role("button", name=re.compile(f"^{SLOW}-s{seed} ")).click()
    expect(overview(page).locator("td.monitor-run a")).to_have_text([f"{SLOW}-s1", f"{SLOW}-s3"])
    field = page.get_by_label("smoothing")
    field.fill("3")
    field.press("Enter")
    expect(page).to_have_url(re.compile("smooth=3"))
    other = new_page(sample_studio, page.url.removeprefix(sample_studio.address))
    expect(overview(other).locator("td.monitor-run a")).to_have_text([f"{SLOW}-s1", f"{SLOW}-s3"])
    expect(other.get_by_label("smoothing")).to_have_value("3")
    other.get_by_role("button", name="Show all runs of CartPole-v1").click()
    expect(overview(other).locator("td.monitor-run a")).to_have_count(12)


def test_charts_have_the_values_of_the_report(
    sample: SampleRuns, sample_studio: Studio, new_page: OpenPage
) -> None:
    names = [f"{FAST}-s{seed}" for seed in range(3)]
    report = report_of(sample, *names, smooth=2)
    ids = ",".join(sample.ids[name] for name in names)
    page = new_page(sample_studio)
    page.add_init_script(RECORD_COPIES)
    page.goto(f"{sample_studio.address}{CART}&runs={ids}&smooth=2")
    settle(page)
    compared = chart_of(report, "policy/kl", about="approach")
    (line,) = compared.series
    assert line.band == "95 % interval of the mean over runs"
    head, *rows = chart_csv(page, compared.title)
    assert head == ["vec steps", "ppo", "ppo low", "ppo high"]
    expected = zip(line.x, line.y, line.low, line.high, strict=True)
    assert [numbers(row) for row in rows] == [list(point) for point in expected]
    expect(page.get_by_text(compared.note).first).to_be_visible()


def test_a_self_play_run_has_a_section_per_measure_and_a_single_agent_what_applies(
    sample_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(sample_studio, TAG_ENV)
    settle(page)
    sections = page.locator(".monitor-section > h2 button")
    measures = ["Reward", "Win rate", "Outcomes", "Environment", "Length", "PPO health"]
    # There is only one run of this environment, so there is nothing to compare.
    expect(sections).to_have_text([re.compile(name) for name in measures])
    outcomes = page.get_by_role("region", name="Outcomes", exact=True)
    outcomes.scroll_into_view_if_needed()
    legend = outcomes.get_by_role("list", name="Legend").last
    for outcome in ("tag", "timeout", "unknown"):
        expect(legend).to_contain_text(outcome)
    page.goto(f"{sample_studio.address}{CART}")
    expect(sections).to_have_text(
        [re.compile(name) for name in ("Approaches", "Reward", "Length", "PPO health")]
    )
    sections.filter(has_text="Approaches").click()
    expect(page).to_have_url(re.compile("closed=approaches"))
    expect(sections.filter(has_text="Approaches")).to_have_attribute("aria-expanded", "false")
    page.get_by_label("charts of runs by").select_option("run")
    expect(sections.filter(has_text=f"{FAST}-s0")).to_have_count(1)


def test_the_download_is_run_overview_csv(
    sample: SampleRuns, sample_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(sample_studio, TAG_ENV)
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download run_overview.csv").click()
    assert download.value.suggested_filename == "run_overview.csv"
    text = Path(download.value.path()).read_text()
    assert text == api.monitor_csv(refs=[sample.ids[TAG]], runs_dir=sample.path)


@pytest.fixture
def broken_studio(sample: SampleRuns, tmp_path: Path) -> Iterator[Studio]:
    """A studio with three runs; in the file of one, a column has another name."""
    for name in (f"{FAST}-s0", f"{FAST}-s1", f"{FAST}-s2"):
        shutil.copytree(sample.path / sample.ids[name], tmp_path / "runs" / sample.ids[name])
    file = tmp_path / "runs" / sample.ids[f"{FAST}-s1"] / "metrics.db"
    with sqlite3.connect(file) as rows:
        rows.execute("UPDATE schemas SET names = replace(names, 'policy/kl\"', 'policy/kldiv\"')")
    with serving(tmp_path / "runs") as studio:
        yield studio


def test_a_broken_run_stops_the_monitor_until_it_is_left_out(
    broken_studio: Studio, sample: SampleRuns, new_page: OpenPage
) -> None:
    page = new_page(broken_studio, "/monitor", expected=(REFUSED,))
    broken = sample.ids[f"{FAST}-s1"]
    problem = page.get_by_role("alert")
    expect(problem).to_contain_text("The runs cannot be monitored")
    for part in (f"{broken}/metrics.db", "'policy/kl' is missing", "expected", "policy/kldiv"):
        expect(problem).to_contain_text(part)
    expect(problem.get_by_text("remedy")).to_be_visible()
    expect(problem.get_by_role("link", name=f"{FAST}-s1")).to_be_visible()
    assert serious_findings(page) == []
    expect(overview(page)).to_have_count(0)
    page.get_by_role("button", name="Leave broken runs out").click()
    expect(page).to_have_url(re.compile("skip_broken=true"))
    expect(overview(page).locator("td.monitor-run a")).to_have_text([f"{FAST}-s0", f"{FAST}-s2"])
    skipped = page.get_by_role("status", name="Runs that were left out")
    for part in (f"{FAST}-s1", f"{broken}/metrics.db", "'policy/kl' is missing"):
        expect(skipped).to_contain_text(part)
    assert serious_findings(page) == []
    page.get_by_role("button", name="Stop at broken runs").click()
    expect(problem).to_contain_text("The runs cannot be monitored")
    expect(overview(page)).to_have_count(0)


def test_unknown_approaches_are_named(sample_studio: Studio, new_page: OpenPage) -> None:
    page = new_page(sample_studio, f"{CART}&approaches=slow,nowhere")
    expect(page.get_by_text("CartPole-v1 has no approach or run nowhere.")).to_be_visible()
    expect(overview(page).locator("td.monitor-run a")).to_have_count(5)
