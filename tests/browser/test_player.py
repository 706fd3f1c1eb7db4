"""The player of the inspector in a browser: moving through an episode by keys, mouse and touch."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.episode_page import OpenEpisodePage, inspection, step_field
from tests.browser.inspected import CARTPOLE
from tests.browser.sample import SampleRuns
from tests.browser.studio import PHONE, settle

pytestmark = pytest.mark.slow


def test_keys_move_through_the_steps(open_episode: OpenEpisodePage, inspected: SampleRuns) -> None:
    page = open_episode(CARTPOLE)
    known = inspection(inspected, page)
    field = step_field(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(field).to_have_value("2")
    page.keyboard.press("Shift+ArrowRight")
    expect(field).to_have_value("12")
    page.keyboard.press("End")
    expect(field).to_have_value(str(known.info.length))
    page.keyboard.press("Home")
    expect(field).to_have_value("0")
    steps = sorted({moment.step for moment in known.moments if moment.step > 0})
    page.keyboard.press("]")
    expect(field).to_have_value(str(steps[0]))
    expect(page).to_have_url(re.compile(rf"step={steps[0]}\b"))
    page.keyboard.press("[")
    expect(field).to_have_value(str(steps[0]))  # nothing is before the first one
    if len(steps) > 1:
        page.keyboard.press("]")
        expect(field).to_have_value(str(steps[1]))
        page.keyboard.press("[")
        expect(field).to_have_value(str(steps[0]))
    page.keyboard.press("Home")


def test_space_plays_at_the_chosen_speed_and_pauses(open_episode: OpenEpisodePage) -> None:
    page = open_episode(CARTPOLE)
    field, speed = step_field(page), page.get_by_label("Speed of playback")
    expect(speed).to_have_value("1")
    for key, value in (("-", "0.5"), ("+", "1"), ("+", "2"), ("+", "4")):
        page.keyboard.press(key)
        expect(speed).to_have_value(value)
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(field).not_to_have_value("0")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    # What is shown follows within a frame; then it stays.
    frames = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    page.evaluate(frames)
    paused = field.input_value()
    for _ in range(10):
        page.evaluate(frames)
    expect(field).to_have_value(paused)


def test_a_finger_drags_the_timeline(open_episode: OpenEpisodePage, inspected: SampleRuns) -> None:
    page = open_episode(CARTPOLE, viewport=PHONE, has_touch=True, is_mobile=True)
    length = inspection(inspected, page).info.length
    box = page.get_by_role("slider", name="Step").bounding_box()
    assert box is not None
    touch = page.context.new_cdp_session(page)
    y = box["y"] + box["height"] / 2

    def finger(kind: str, share: float | None) -> None:
        points = [] if share is None else [{"x": box["x"] + share * box["width"], "y": y}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    finger("touchStart", 0.1)
    for share in (0.3, 0.5, 0.75):
        finger("touchMove", share)
    finger("touchEnd", None)
    field = step_field(page)
    expect(field).not_to_have_value("0")
    page.wait_for_function(
        "([field, low, high]) => Number(field.value) > low && Number(field.value) < high",
        arg=[field.element_handle(), 0.7 * length, 0.8 * length],
    )
    page.get_by_role("button", name="Next step").tap()
    page.get_by_role("button", name="First step").tap()
    expect(field).to_have_value("0")


def test_the_mouse_drags_the_timeline_and_everything_follows(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(CARTPOLE)
    known = inspection(inspected, page)
    box = page.get_by_role("slider", name="Step").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    step = int(step_field(page).input_value())  # after it was drawn
    assert abs(step - known.info.length / 2) <= 0.05 * known.info.length + 1
    card = page.get_by_role("region", name="Step", exact=True)
    expect(card).to_contain_text(f"Step {step}")
    velocity = known.table["obs/cart velocity"][step]
    assert isinstance(velocity, float)
    expect(card.locator('[data-column="obs/cart velocity"]')).to_contain_text(f"{velocity:.3g}"[:4])
    expect(
        page.get_by_role("img", name=f"Picture of step {step} of {known.info.length}")
    ).to_be_visible()
    current = (
        page.get_by_role("table", name="Steps")
        .get_by_role("row")
        .filter(has=page.get_by_role("cell", name=str(step), exact=True))
    )
    expect(current.first).to_be_visible()


def test_key_moments_are_listed_and_open_their_step(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(CARTPOLE)
    known = inspection(inspected, page)
    listed = page.get_by_role("list", name="Key moments").get_by_role("button")
    expect(listed).to_have_count(len(known.moments))
    listed.last.click()
    expect(step_field(page)).to_have_value(str(max(moment.step for moment in known.moments)))


def test_the_player_stays_visible_on_a_phone(open_episode: OpenEpisodePage) -> None:
    page = open_episode(CARTPOLE, viewport=PHONE)
    settle(page)
    picture = page.get_by_role("img", name=re.compile("^Picture of step 0"))
    table = page.get_by_role("table", name="Steps")
    table.get_by_role("row").nth(2).scroll_into_view_if_needed()
    expect(picture).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("slider", name="Step")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_in_viewport(ratio=1)
    # There is room for what is below it.
    player = page.locator(".episode-view").bounding_box()
    assert player is not None
    assert player["y"] + player["height"] <= 0.55 * PHONE["height"]
