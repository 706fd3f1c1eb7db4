"""Questions about decisions in a browser: why, what if, and what another action would have led to."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from gymnast import api
from tests.browser.episode_page import OpenEpisodePage, inspection, step_field
from tests.browser.inspected import CARTPOLE, PONG
from tests.browser.sample import SampleRuns

pytestmark = pytest.mark.slow


def test_parts_of_an_image_that_mattered_are_shown(open_episode: OpenEpisodePage) -> None:
    page = open_episode(PONG)
    page.get_by_role("tab", name="Why").click()
    expect(page.get_by_role("img", name=re.compile("^Parts of the image"))).to_be_visible(
        timeout=60_000
    )


def test_a_changed_observation_changes_the_decision(open_episode: OpenEpisodePage) -> None:
    page = open_episode(CARTPOLE)
    page.get_by_role("tab", name="What if").click()
    decisions = page.get_by_role("table", name="Decisions before and after the change")
    expect(decisions).to_be_visible(timeout=60_000)
    field = page.get_by_label("pole angle", exact=True)
    value = decisions.get_by_role("row", name=re.compile("^value")).get_by_role("cell").last
    for angle in ("-0.2", "0.2"):
        before = value.inner_text()
        field.fill(angle)
        field.press("Tab")
        expect(value).not_to_have_text(before)
    page.get_by_role("tab", name="Why").click()
    expect(page.get_by_role("list", name="Contributions").get_by_role("listitem")).to_have_count(4)


def test_a_blanked_part_of_an_image_changes_the_decision(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(PONG, "?step=30")
    page.get_by_role("tab", name="What if").click()
    decisions = page.get_by_role("table", name="Decisions before and after the change")
    expect(decisions).to_be_visible(timeout=60_000)
    picture = page.get_by_role("application", name=re.compile("^Part of the image to blank"))
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 0.25 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 0.75 * box["height"], steps=4)
    page.mouse.up()
    rows = decisions.locator("tr.changed")
    expect(rows.filter(has=page.get_by_role("rowheader", name="value"))).to_be_visible()
    address = inspection(inspected, page).address
    answer = api.what_if(
        inspected.ids[PONG],
        address.kind,
        address.version,
        address.number,
        step=30,
        blank=[0.25, 0.25, 0.5, 0.5],
        runs_dir=inspected.path,
    )
    assert answer.changed.probabilities is not None
    assert answer.changed.probabilities != answer.original.probabilities
    shown = [
        row.get_by_role("cell").last.inner_text()
        for row in decisions.get_by_role("row").all()
        if "%" in row.inner_text()
    ]
    assert len(shown) == len(answer.changed.probabilities)
    for text, share in zip(shown, answer.changed.probabilities, strict=True):
        # The pointer is at most a pixel of the screen away from the corners.
        assert float(text.removesuffix("%")) == pytest.approx(100 * share, abs=1)
    page.get_by_role("button", name="As it was").click()
    expect(rows).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_another_action_is_continued_with_the_policy(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(CARTPOLE, "?step=3")
    taken = inspection(inspected, page).table["action"][3]
    other = next(name for name in ("push left", "push right") if name != taken)
    page.get_by_role("tab", name="Blunders").click()
    page.get_by_label("At step 3, try").select_option(label=other)
    page.get_by_role("button", name="Show the line").click()
    note = page.get_by_text(f"Variation from step 3: {other}")
    expect(note.first).to_be_visible(timeout=60_000)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("img", name=re.compile("^Picture of step 4"))).to_be_visible()
    late = page.locator(".episode-picture-note")  # says that the picture is of another step
    expect(late).to_be_hidden(timeout=60_000)
    page.get_by_role("button", name="Back to the episode").first.click()
    expect(note).to_have_count(0)
    page.keyboard.press("Home")
    expect(late).to_be_hidden(timeout=60_000)


def test_an_action_is_held_for_some_steps(open_episode: OpenEpisodePage) -> None:
    page = open_episode(CARTPOLE, "?step=3")
    page.get_by_role("tab", name="Blunders").click()
    page.get_by_label("At step 3, try").select_option(label="push left")
    hold = page.get_by_role("spinbutton", name=re.compile(r"^for\s+step"))
    hold.fill("100")
    hold.press("Tab")
    page.get_by_role("button", name="Show the line").click()
    note = page.get_by_text("Variation from step 3: push left, held for 100 steps")
    expect(note.first).to_be_visible(timeout=60_000)
    # The cart only accelerates to the left: the pole falls soon.
    page.keyboard.press("End")
    field = step_field(page)
    expect(field).not_to_have_value("3")
    length = int(field.input_value())
    assert 3 < length < 30
    rows = page.get_by_role("table", name="Steps").get_by_role("row")
    for step in range(3, length):
        row = rows.filter(has=page.get_by_role("cell", name=str(step), exact=True))
        expect(row.first).to_contain_text("push left")
    expect(
        page.get_by_role("img", name=re.compile(f"^Picture of step {length} of"))
    ).to_be_visible()
