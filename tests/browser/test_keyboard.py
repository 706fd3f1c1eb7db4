"""Everything that a mouse can do on the main paths works with the keyboard alone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.sample import FAST, SLOW, SampleRuns
from tests.browser.studio import settle, wait_until

pytestmark = pytest.mark.slow


def focused_row(page: Page) -> str:
    """Returns what the row of a table that has the focus is about: the texts of its links and the labels of
    its checkboxes. Other cells, such as the age of a run, change by themselves."""
    return page.evaluate(
        """() => [...(document.activeElement.closest("tr")?.querySelectorAll("a, input") ?? [])]
          .map((part) => part.innerText || part.ariaLabel).join(" ")"""
    )


def press_to_another_row(page: Page, key: str) -> str:
    """Presses a key and waits until it has moved the focus to another row, which is returned."""
    before = focused_row(page)
    page.keyboard.press(key)
    wait_until(lambda: focused_row(page) not in ("", before), seconds=30)
    return focused_row(page)


def test_search_move_select_and_compare(page: Page) -> None:
    settle(page)
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search runs")).to_be_focused()
    page.keyboard.type(f"group={FAST}")
    expect(page.get_by_text("5 of 15 runs")).to_be_visible()
    page.keyboard.press("Enter")
    page.get_by_role("searchbox", name="Search runs").press("Tab")
    page.evaluate("document.activeElement.blur()")
    first = press_to_another_row(page, "j")
    assert f"{FAST}-s" in first
    page.keyboard.press("x")
    second = press_to_another_row(page, "j")
    assert press_to_another_row(page, "k") == first
    assert press_to_another_row(page, "j") == second
    page.keyboard.press("x")
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.keyboard.press("c")
    page.get_by_role("table", name="Results of each side").wait_for()
    expect(page).to_have_url(re.compile(r"/compare\?runs=\w+,\w+"))
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page.get_by_role("searchbox", name="Search runs")).to_be_visible()


def test_escape_clears_the_filter_and_the_selection(page: Page) -> None:
    settle(page)
    page.keyboard.press("/")
    page.keyboard.type("tag=slow")
    expect(page.get_by_text("5 of 15 runs")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("15 runs", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    press_to_another_row(page, "j")
    page.keyboard.press("x")
    expect(page.get_by_text("1 selected")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("1 selected")).to_have_count(0)


def test_the_palette_goes_to_a_run_and_its_tabs_move_with_arrows(
    page: Page, sample: SampleRuns
) -> None:
    settle(page)
    page.keyboard.press("Control+k")
    page.keyboard.type("fast-s3")
    page.get_by_role("option", name="fast-s3").first.wait_for()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="fast-s3")).to_be_visible()
    expect(page).to_have_url(re.compile(sample.ids["fast-s3"]))
    settle(page)
    page.get_by_role("tab", name="Charts").focus()
    for name in ("Episodes", "Diagnosis", "Config"):
        page.keyboard.press("ArrowRight")
        tab = page.get_by_role("tab", name=name)
        expect(tab).to_be_focused()
        expect(tab).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.get_by_role("tab", name="Films")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Charts")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("4")
    expect(page.get_by_role("tab", name="Config")).to_have_attribute("aria-selected", "true")


def test_dialogs_open_and_close_and_return_the_focus(page: Page) -> None:
    settle(page)
    row = press_to_another_row(page, "j")
    page.keyboard.press("?")
    shortcuts = page.get_by_role("dialog", name="Shortcuts")
    expect(shortcuts).to_contain_text("Compare the selected runs")
    page.keyboard.press("Escape")
    expect(shortcuts).to_have_count(0)
    wait_until(lambda: focused_row(page) == row, seconds=30)  # after the dialog has gone
    columns = page.get_by_role("button", name="Columns")
    columns.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Columns")).to_be_visible()
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    expect(columns).to_be_focused()


def test_the_menu_of_a_chart_opens_its_table(page: Page, sample: SampleRuns) -> None:
    page.goto(f"{page.url.rstrip('/')}/run/{sample.ids['fast-s0']}")
    settle(page)
    menu = page.get_by_role("button", name=re.compile("^Actions for ")).first
    menu.focus()
    page.keyboard.press("ArrowDown")
    items = page.get_by_role("menu").locator("[role^=menuitem]")  # some are menuitemradio
    expect(items.first).to_be_focused()
    for i in range(items.all_inner_texts().index("Show as table")):
        page.keyboard.press("ArrowDown")
        expect(items.nth(i + 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("table")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(menu).to_be_focused()


def test_the_theme_changes_with_a_key(page: Page) -> None:
    settle(page)
    button, seen = page.get_by_role("button", name=re.compile("^Theme: ")), set[str]()
    for _ in range(3):
        before = button.get_attribute("aria-label") or ""
        page.keyboard.press("t")
        expect(button).not_to_have_attribute("aria-label", before)
        seen.add(button.get_attribute("aria-label") or "")
    assert seen == {"Theme: auto", "Theme: light", "Theme: dark"}


def test_groups_open_and_close_with_enter(page: Page) -> None:
    page.goto(f"{page.url.rstrip('/')}/?group=seeds&filter=group={SLOW}")
    settle(page)
    runs = page.get_by_role("link", name=re.compile(f"^{SLOW}-s"))
    expect(runs).to_have_count(5)
    press_to_another_row(page, "j")
    page.keyboard.press("Enter")
    expect(runs).to_have_count(0)
    page.keyboard.press("x")
    expect(page.get_by_text("5 selected")).to_be_visible()
