"""Every page and tab opens on runs of every kind: light and dark, wide and narrow, accessible."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.sample import (
    DAMAGED,
    FAILED,
    FAST,
    HIGH_LR,
    HTML_TAG,
    LOG_LINE,
    NAME,
    NOTE,
    SLOW,
    TAG,
    SampleRuns,
)
from tests.browser.studio import PHONE, Studio, expect_to_fit, serious_findings, settle

pytestmark = pytest.mark.slow

TABS = ("charts", "episodes", "diagnosis", "config", "events", "checkpoints", "films")
PAGES = {
    "runs": "/",
    "runs by seed group": "/?group=seeds",
    "runs without a match": "/?filter=status=paused",
    "new run": "/new",
    "new run of a preset": "/new?target=CartPole-v1",
    "again": "/new?from={fast-s0}",
    "compare nothing": "/compare",
    "compare groups": f"/compare?runs={FAST},{SLOW}",
    "compare runs": "/compare?runs={fast-s0},{slow-s0},{high-lr}",
    "league": "/selfplay",
    "monitor of single agents": "/monitor?env=CartPole-v1",
    "monitor of roles": "/monitor?env=tag&by=run",
    "playground": "/playground",
    "bandit": "/playground?mode=bandit",
    "self-play": "/selfplay/{tag-1}",
    "no roles": "/selfplay/{fast-s0}",
    **{f"run, {tab}": f"/run/{{fast-s0}}/{tab}" for tab in TABS},
    **{
        f"high learning rate, {tab}": f"/run/{{{HIGH_LR}}}/{tab}" for tab in ("charts", "diagnosis")
    },
    **{f"self-play run, {tab}": f"/run/{{{TAG}}}/{tab}" for tab in TABS},
    **{f"failed run, {tab}": f"/run/{{{FAILED}}}/{tab}" for tab in TABS},
    **{f"HTML, {tab}": f"/run/htmltext/{tab}" for tab in ("charts", "events")},
    "config difference": "/run/{slow-s0}/config?diff=CartPole-v1:ppo",
    "damaged run": f"/run/{DAMAGED}",
    "missing run": "/run/nothere",
    "missing page": "/nowhere",
    "guide": "/guide",
    "guide of the metrics": "/guide/metrics",
}
REFUSED = "Failed to load resource: the server responded with a status of 4"
"""The message of Chromium if a page asks for something that does not exist."""


@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES.keys())
def test_a_page_opens_wide_and_narrow_light_and_dark(
    path: str, sample: SampleRuns, sample_studio: Studio, new_page: OpenPage
) -> None:
    is_refused = any(
        part in path for part in (DAMAGED, "nothere", "/selfplay/{fast-s0}", "nowhere")
    )
    expected = (REFUSED,) if is_refused else ()
    address = path.format(**sample.ids) if "{" in path else path
    page = new_page(sample_studio, address, color_scheme="light", expected=expected)
    settle(page)
    assert serious_findings(page) == []
    expect_to_fit(page)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(PHONE)
    settle(page)
    assert serious_findings(page) == []
    expect_to_fit(page)
    expect(page.get_by_text("This page has a defect")).to_have_count(0)


def test_a_damaged_directory_is_one_marked_row(page: Page) -> None:
    row = page.get_by_role("row").filter(has_text=DAMAGED)
    expect(row).to_have_count(1)
    expect(row).to_contain_text("unreadable")
    expect(row).to_contain_text("cannot be read")
    # The others are listed as if it was not there: its row, the head of the table, and 14 runs.
    expect(page.get_by_role("table", name="Runs").get_by_role("row")).to_have_count(16)


def test_names_notes_tags_and_logs_are_text(
    sample_studio: Studio, sample: SampleRuns, new_page: OpenPage
) -> None:
    page = new_page(sample_studio)
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=NAME, exact=True))
    expect(row).to_contain_text(HTML_TAG)
    expect(row.get_by_role("img", name=f"Note: {NOTE}")).to_be_visible()
    row.get_by_role("link", name=NAME, exact=True).click()
    expect(page.get_by_role("heading", name=NAME, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name=NOTE, exact=True)).to_be_visible()
    expect(
        page.get_by_role("button", name=f"Remove the tag {HTML_TAG}", exact=True)
    ).to_be_visible()
    page.get_by_role("tab", name="Events & log").click()
    expect(page.get_by_text(LOG_LINE)).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("quoted")
    expect(page.get_by_role("option", name=NAME).first).to_be_visible()
    page.goto(f"{sample_studio.address}/compare?runs=htmltext,{sample.ids['fast-s0']}")
    settle(page)
    expect(page.get_by_role("checkbox", name=f"Show {NAME}", exact=True)).to_be_visible()
    assert page.evaluate("window.injected") is None
    assert page.evaluate("document.querySelectorAll('main b, main i, main img[src=x]').length") == 0


def test_the_theme_follows_the_system_until_one_is_chosen(
    sample_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(sample_studio, color_scheme="dark")
    settle(page)
    background = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(background)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => {background} !== '{dark}'")
    page.get_by_role("button", name="Theme: auto").click()
    page.get_by_role("button", name="Theme: light").click()
    page.get_by_role("button", name="Theme: dark").wait_for()
    page.wait_for_function(f"() => {background} === '{dark}'")
    page.reload()
    page.get_by_role("button", name="Theme: dark").wait_for()
    page.wait_for_function(f"() => {background} === '{dark}'")
