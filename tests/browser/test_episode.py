"""The inspector in a browser: stepping through episodes of every family, and asking about them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gymnast import api
from gymnast.check.presets import short_run_overrides
from gymnast.config.resolve import resolve
from gymnast.inspector.record import EpisodeInspection
from gymnast.training.lifecycle.label import Label
from tests.browser.conftest import OpenPage
from tests.browser.inspected import BANDIT, CARTPOLE, MATCH, OTHER, PONG, newest_episode
from tests.browser.sample import SampleRuns, read_sample, train
from tests.browser.studio import PHONE, Studio, expect_to_fit, serious_findings, settle

pytestmark = pytest.mark.slow
OpenEpisodePage = Callable[..., Page]
FAMILIES = (
    "FrozenLake-v1",
    "Pendulum-v1",
    "LunarLander-v3",
    "Hopper-v5",
    "MinAtar/Breakout-v1",
    "MiniGrid-DoorKey-6x6-v0",
    "VizdoomBasic-v1",
    "pettingzoo/simple_speaker_listener_v4",
)
"""One preset of each family that no other test here opens."""


@pytest.fixture
def open_episode(
    inspected: SampleRuns, inspected_studio: Studio, new_page: OpenPage
) -> OpenEpisodePage:
    """Opens the page of the first episode of a run's newest policy, and waits for its steps."""

    def opener(name: str, query: str = "", **options: object) -> Page:
        page = new_page(inspected_studio, newest_episode(inspected, name) + query, **options)
        expect(page.get_by_role("article", name="Episode")).to_have_attribute(
            "aria-busy", "false", timeout=60_000
        )
        return page

    return opener


def inspection(inspected: SampleRuns, page: Page) -> EpisodeInspection:
    """Returns the record of the episode that a page shows."""
    found = re.search(r"/run/(\w+)/episodes/(\w+)-(\d+)-(\d+)", page.url)
    assert found is not None
    run, kind, version, number = found.groups()
    return api.inspect(run, kind, int(version), int(number), runs_dir=inspected.path)  # pyright: ignore[reportArgumentType]


def step_field(page: Page) -> Locator:
    return page.get_by_role("group", name="Player").get_by_label("Step", exact=True)


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
    page.keyboard.press("Space")
    expect(field).not_to_have_value("0")


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


def test_a_filter_shows_the_steps_that_match(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(CARTPOLE)
    table = inspection(inspected, page).table
    field = page.get_by_role("combobox", name="Filter steps")
    field.fill('action = "push left" and return_to_go_raw > 10')
    field.press("Enter")
    wanted = [
        step
        for step, action, rest in zip(
            table["step"], table["action"], table["return_to_go_raw"], strict=True
        )
        if action == "push left" and isinstance(rest, float) and rest > 10
    ]
    assert 0 < len(wanted) < len(table["step"])
    expect(page.get_by_role("region", name="Step table").get_by_role("status")).to_contain_text(
        f"{len(wanted)} of {len(table['step'])}"
    )
    field.fill("advantage <")
    expect(page.get_by_role("region", name="Step table").get_by_role("alert")).to_be_visible()


def test_the_downloaded_table_is_that_of_the_api(
    open_episode: OpenEpisodePage, inspected: SampleRuns, tmp_path: Path
) -> None:
    page = open_episode(CARTPOLE)
    known = inspection(inspected, page)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "steps.csv")
    text = (tmp_path / "steps.csv").read_text()
    address = known.address
    assert text == api.steps_csv(
        inspected.ids[CARTPOLE],
        address.kind,
        address.version,
        address.number,
        runs_dir=inspected.path,
    )
    header, *rows = csv.reader(io.StringIO(text))
    assert header == list(known.table)
    assert len(rows) == known.info.length


def test_a_fresh_episode_is_rolled_out_and_opens(
    inspected: SampleRuns, inspected_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(inspected_studio, f"/run/{inspected.ids[CARTPOLE]}/episodes?order=worst")
    page.get_by_role("button", name="Roll out…").click()
    page.get_by_label("Seed").fill("77")
    page.get_by_label("Steps at most").fill("25")
    page.get_by_role("button", name="Roll out", exact=True).click()
    expect(page).to_have_url(re.compile("/episodes/fresh-"), timeout=60_000)
    known = inspection(inspected, page)
    assert (known.info.seed, known.info.length, known.info.outcome) == (77, 25, "stopped")
    expect(page.get_by_text("seed 77")).to_be_visible()


def test_a_roll_out_shows_that_it_works_and_can_be_cancelled(
    inspected: SampleRuns, inspected_studio: Studio, new_page: OpenPage
) -> None:
    def stored() -> int:
        run = inspected.ids[OTHER]
        return len(api.episodes(run, kind="fresh", runs_dir=inspected.path).episodes)

    before = stored()
    page = new_page(inspected_studio, f"/run/{inspected.ids[OTHER]}/episodes")
    page.get_by_role("button", name="Roll out…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Roll out", exact=True).click()
    working = dialog.get_by_role("region", name="Rolling out")
    expect(working).to_contain_text(re.compile(r"\d steps.*\d s"))
    dialog.get_by_role("button", name="Cancel").click()
    expect(working).to_have_count(0)
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    assert stored() == before
    dialog.get_by_role("button", name="Roll out", exact=True).click()
    expect(page).to_have_url(re.compile("/episodes/fresh-"), timeout=60_000)
    assert stored() == before + 1


def test_two_episodes_are_shown_side_by_side_in_step(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(CARTPOLE)
    seed = inspection(inspected, page).info.seed
    page.get_by_role("button", name="Side by side…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Run").select_option(inspected.ids[OTHER])
    dialog.get_by_role("button", name=f"Roll out with seed {seed}").click()
    other = page.get_by_role("region", name=re.compile("^Other episode"))
    expect(other).to_contain_text(f"seed {seed}", timeout=60_000)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="Step 4")).to_have_count(2)
    other.get_by_role("button", name="Close").click()
    expect(other).to_have_count(0)


def test_a_bandit_has_everything_but_pictures(open_episode: OpenEpisodePage) -> None:
    page = open_episode(BANDIT)
    expect(page.get_by_text("No pictures")).to_be_visible()
    expect(page.get_by_role("table", name="Steps").get_by_role("row").nth(1)).to_be_visible()
    expect(page.get_by_role("region", name="Step", exact=True)).to_contain_text("reward")


def test_a_match_shows_each_role_with_its_own_view(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(MATCH)
    known = inspection(inspected, page)
    expect(page.get_by_role("img", name=re.compile("^Picture of step 0"))).to_be_visible()
    assert len(known.roles) == 2
    other = next(role for role in known.roles if role != known.seats[0].role)
    page.get_by_role("link", name=re.compile(f"^{other}")).first.click()
    expect(page).to_have_url(re.compile(f"role={other}"))
    page.keyboard.press("ArrowRight")
    expect(step_field(page)).to_have_value("1")


def test_options_of_an_action_have_their_names(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(MATCH)
    card = page.get_by_role("region", name="Step", exact=True)
    for option in ("turn left", "move forward", "dash on"):
        expect(card.get_by_text(option, exact=True)).to_be_visible()
    known = inspection(inspected, page)
    row = page.get_by_role("table", name="Steps").get_by_role("row").nth(1)
    for element in known.actions:
        number = known.table[f"action/{element.name}"][0]
        assert isinstance(number, float | int)
        name = element.options[int(number)]
        expect(row.get_by_role("cell", name=name, exact=True)).to_be_visible()


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
    length = int(step_field(page).input_value())
    assert 3 < length < 30
    rows = page.get_by_role("table", name="Steps").get_by_role("row")
    for step in range(3, length):
        row = rows.filter(has=page.get_by_role("cell", name=str(step), exact=True))
        expect(row.first).to_contain_text("push left")
    expect(
        page.get_by_role("img", name=re.compile(f"^Picture of step {length} of"))
    ).to_be_visible()


def test_a_person_plays_with_the_keys_and_inspects_the_episode(
    inspected: SampleRuns, inspected_studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(inspected_studio, f"/play/{inspected.ids[CARTPOLE]}")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("list", name="Keys")).to_contain_text("push left", timeout=60_000)
    page.keyboard.down("ArrowLeft")  # held until the pole has fallen
    opened = page.get_by_role("link", name="Open it in the inspector")
    expect(opened).to_be_visible(timeout=60_000)
    page.keyboard.up("ArrowLeft")
    opened.click()
    expect(page.get_by_role("heading", name=re.compile("played episode"))).to_be_visible()
    known = inspection(inspected, page)
    assert set(known.table["action"]) == {"push left"}
    assert known.info.outcome == "terminated"


@pytest.mark.parametrize("target", FAMILIES)
def test_an_episode_of_every_family_opens(
    target: str, runs_dir: Path, studio: Studio, new_page: OpenPage
) -> None:
    train(runs_dir, target, short_run_overrides(resolve(target).config), Label("brief"))
    page = new_page(studio, newest_episode(read_sample(runs_dir), "brief"))
    expect(page.get_by_role("article", name="Episode")).to_have_attribute(
        "aria-busy", "false", timeout=60_000
    )
    expect(page.get_by_role("table", name="Steps").get_by_role("row").nth(1)).to_be_visible()
    page.wait_for_function(
        "() => (document.querySelector('.episode-picture canvas')?.width ?? 0) > 1", timeout=60_000
    )


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


@pytest.mark.parametrize("name", [CARTPOLE, MATCH, BANDIT])
def test_the_page_is_accessible_and_fits_a_phone(name: str, open_episode: OpenEpisodePage) -> None:
    for options in ({}, {"color_scheme": "dark"}, {"viewport": PHONE}):
        page = open_episode(name, **options)
        settle(page)
        assert serious_findings(page) == []
        expect_to_fit(page)
