"""Five seeds against five, chosen on the first page: the numbers are those of `gymnast compare --json`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.sample import FAST, SLOW, SampleRuns
from tests.browser.studio import Studio, settle
from tests.cli_output import cli_output

pytestmark = pytest.mark.slow

COLUMNS = {
    "IQM": "iqm",
    "final": "score",
    "area": "area",
    "goal steps": "steps_to_threshold",
    "goal time": "seconds_to_threshold",
    "best": "best",
}
"""Title of a column -> field of a group in the record."""


@pytest.fixture
def record(sample: SampleRuns) -> dict[str, Any]:
    return json.loads(cli_output("compare", FAST, SLOW, "--json", "--runs", str(sample.path)))


def compare_groups(page: Page) -> None:
    """Selects both groups of seeds on the first page and compares them."""
    page.get_by_role("radio", name="seed group").check()
    for group in (FAST, SLOW):
        page.get_by_role("checkbox", name=f"Select the runs of {group}").check()
    expect(page.get_by_text("10 selected")).to_be_visible()
    page.get_by_role("toolbar", name="Selected runs").get_by_role("button", name="Compare").click()
    page.get_by_role("table", name="Results of each side").wait_for()
    settle(page)


def rows_by_side(page: Page) -> dict[str, dict[str, Locator]]:
    """Returns the cells of the table of results: side -> title of the column -> cell."""
    table = page.get_by_role("table", name="Results of each side")
    titles = [text.strip() for text in table.get_by_role("columnheader").all_inner_texts()]
    sides: dict[str, dict[str, Locator]] = {}
    for group in (FAST, SLOW):
        row = table.get_by_role("row").filter(has_text=group)
        sides[group] = {title: row.get_by_role("cell").nth(i) for i, title in enumerate(titles)}
    return sides


def exact_numbers(cell: Locator) -> list[float]:
    """Returns the numbers of a cell with all digits: the value, and the ends of its interval."""
    title = cell.locator("[title]").first.get_attribute("title") or ""
    first = title.splitlines()[0]
    return [float(word.strip("[],")) for word in first.split()]


def numbers_of(interval: dict[str, Any] | None) -> list[float] | None:
    if interval is None:
        return None
    ends = [interval["low"], interval["high"]]
    return [interval["mean"], *(end for end in ends if end is not None)]


def test_the_table_has_the_numbers_of_the_command(page: Page, record: dict[str, Any]) -> None:
    compare_groups(page)
    groups = {group["name"]: group for group in record["groups"]}
    cells = rows_by_side(page)
    for side, columns in cells.items():
        for title, field in COLUMNS.items():
            wanted = numbers_of(groups[side][field])
            if wanted is None:
                expect(columns[title]).to_have_text("–")
            else:
                assert exact_numbers(columns[title]) == wanted, f"{side}: {title}"
        assert exact_numbers(columns["n"]) == [groups[side]["scored"]]


def test_the_verdict_says_whether_it_is_more_than_noise(page: Page, record: dict[str, Any]) -> None:
    (improvement,) = record["improvements"]
    assert improvement["better"] == FAST
    assert improvement["exceeds_noise"]
    compare_groups(page)
    verdicts = page.get_by_role("list", name="Differences from the baseline").get_by_role(
        "listitem"
    )
    expect(verdicts).to_have_count(1)
    expect(verdicts).to_contain_text("more than noise")
    expect(verdicts).to_contain_text("5 against 5 seeds")
    # Whichever side is the baseline, the sentence names the better one.
    sentence = verdicts.inner_text()
    assert f"{FAST} is better than {SLOW}" in sentence or f"{SLOW} is worse than {FAST}" in sentence
    size = abs(improvement["difference"]["mean"])
    assert f"{size:.1f}" in sentence


def test_worse_and_better_are_marked_in_the_right_direction(page: Page) -> None:
    compare_groups(page)
    table = page.get_by_role("table", name="Results of each side")
    baseline = (
        FAST if "baseline" in table.get_by_role("row").filter(has_text=FAST).inner_text() else SLOW
    )
    row = table.get_by_role("row").filter(has_text=SLOW if baseline == FAST else FAST)
    word = "worse" if baseline == FAST else "better"
    expect(row.get_by_role("img").first).to_be_visible()
    for sign in row.get_by_role("img").all():
        assert word in (sign.get_attribute("aria-label") or "")


def test_the_settings_that_differ_are_those_of_the_record(
    page: Page, record: dict[str, Any]
) -> None:
    compare_groups(page)
    table = page.get_by_role("region", name="Settings that differ")
    expect(table.get_by_role("row").filter(has_text="algo.lr")).to_contain_text("0.001 -> 0")
    shown = [text.split("\t")[0].strip() for text in table.get_by_role("row").all_inner_texts()[1:]]
    assert shown == [setting["key"] for setting in record["config"] if setting["key"] in shown]
    values = (
        table.get_by_role("row").filter(has_text="algo.lr").get_by_role("cell").all_inner_texts()
    )
    assert {float(value) for value in values if "->" not in value} == {1e-5}


def test_the_address_restores_the_view_in_a_fresh_browser(
    page: Page, sample_studio: Studio, new_page: OpenPage
) -> None:
    compare_groups(page)
    page.get_by_label("x axis").select_option("env_steps")
    page.get_by_role("checkbox", name=f"Show {SLOW}").uncheck()
    page.wait_for_url("**/compare?*x=env_steps*")
    settle(page)
    other = new_page(sample_studio, page.url.removeprefix(sample_studio.address))
    other.get_by_role("table", name="Results of each side").wait_for()
    expect(other.get_by_label("x axis")).to_have_value("env_steps")
    expect(other.get_by_role("checkbox", name=f"Show {SLOW}")).not_to_be_checked()
    expect(other.get_by_role("checkbox", name=f"Show {FAST}")).to_be_checked()
    here, there = (one.get_by_role("table", name="Results of each side") for one in (page, other))
    expect(there).to_have_text(here.inner_text(), use_inner_text=True)
