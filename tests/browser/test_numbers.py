"""One truth: the numbers of pages, of `--json` and of the database are equal to the last digit."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from gymnast import api
from gymnast.runs.run import Run
from tests.browser.charts import RECORD_COPIES, values_of, values_of_csv
from tests.browser.conftest import OpenPage
from tests.browser.sample import FAST, SampleRuns
from tests.browser.studio import Studio, settle
from tests.cli_output import cli_output
from tests.small_runs import rows

pytestmark = pytest.mark.slow

SECTIONS = ("eval", *dict.fromkeys(metric.section for metric in api.metrics()))
"""The sections of the list of all metrics."""
COPY_EVERY_CHART = """async () => {
  const until = async (find, patience = Infinity) => {
    for (const end = Date.now() + patience; Date.now() < end; ) {
      const found = find();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const chart = (name) =>
    [...document.querySelectorAll("section[aria-label]")].find((one) => one.ariaLabel === name);
  const scroll = () => {
    const atEnd = window.scrollY + window.innerHeight >= document.body.scrollHeight - 2;
    if (atEnd) window.scrollTo(0, 0);
    else window.scrollBy(0, 300);
  };
  const copies = {};
  for (const name of window.wanted) {
    // Charts that are not near the visible part of the page are drawn when they come near.
    (await until(() => chart(name) ?? void scroll())).scrollIntoView({ block: "center" });
    // A chart is empty until its curve has arrived; every metric here has values. A menu that a new row has
    // closed is opened again.
    while (!copies[name]?.includes("\\n", copies[name].indexOf("\\n") + 1)) {
      chart(name)?.querySelector("button[aria-haspopup=menu]").click();
      const items = () => [...document.querySelectorAll("[role=menuitem]")];
      const item = await until(() => items().find((one) => one.innerText === "Copy as CSV"), 2000);
      if (!item) continue;
      const before = window.copied.length;
      item.click();
      copies[name] = await until(() => window.copied[before], 2000);
    }
  }
  return copies;
}"""


@pytest.fixture
def page(sample_studio: Studio, sample: SampleRuns, new_page: OpenPage) -> Page:
    """The charts of all metrics of a run."""
    page = new_page(sample_studio)
    page.add_init_script(RECORD_COPIES)
    run = sample.ids[f"{FAST}-s0"]
    page.goto(f"{sample_studio.address}/run/{run}/charts?all=1&open={','.join(SECTIONS)}")
    settle(page)
    return page


def test_every_metric_is_the_same_on_the_page_in_json_and_in_the_database(
    page: Page, sample: SampleRuns
) -> None:
    name = f"{FAST}-s0"
    stored = rows(Run(sample.path / sample.ids[name]))
    printed = json.loads(cli_output("rows", name, "--json", "--runs", str(sample.path)))["rows"]
    assert printed == stored
    keys = sorted({key for row in stored for key in row})
    assert len(keys) > 100
    page.evaluate("keys => { window.wanted = keys; }", keys)
    copies = page.evaluate(COPY_EVERY_CHART)
    for key in keys:
        shown, recorded = values_of_csv(copies[key]), values_of(key, stored)
        assert [y for _, y in shown] == [y for _, y in recorded], key
        if not key.startswith(
            "eval:"
        ):  # an evaluation counts at the steps of its policy, not of its row
            assert shown == recorded, key


def test_a_table_shows_all_digits(page: Page, sample: SampleRuns) -> None:
    stored = rows(Run(sample.path / sample.ids[f"{FAST}-s0"]))
    page.get_by_role("searchbox", name="Filter the metrics").fill("value/explained_variance")
    page.get_by_role("button", name="Actions for value/explained_variance").click()
    page.get_by_role("menuitem", name="Show as table").click()
    recorded = values_of("value/explained_variance", stored)
    table_rows = page.get_by_role("dialog").get_by_role("row")
    expect(table_rows).to_have_count(len(recorded) + 1)
    cells = table_rows.all_inner_texts()[1:]
    assert [tuple(float(cell) for cell in row.split("\t")) for row in cells] == recorded


def test_the_score_is_that_of_show(page: Page, sample: SampleRuns) -> None:
    name = f"{FAST}-s0"
    score = json.loads(cli_output("show", name, "--json", "--runs", str(sample.path)))["score"]
    page.get_by_text(f"{score['mean']:.1f}").first.click()
    help_text = page.get_by_role("tooltip")
    expect(help_text).to_contain_text(str(score["mean"]))
    expect(help_text).to_contain_text(f"{score['low']} to {score['high']}")
    page.get_by_role("link", name="Runs", exact=True).click()
    shown = (
        page.get_by_role("row")
        .filter(has_text=name)
        .get_by_title(f"{score['mean']} [{score['low']}, {score['high']}]")
    )
    expect(shown).to_be_visible()
