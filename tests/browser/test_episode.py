"""The inspector in a browser: episodes of every family, their tables, and fresh ones."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from gymnast import api
from gymnast.check.presets import short_run_overrides
from gymnast.config.resolve import resolve
from gymnast.runs.run import Run
from gymnast.runs.trace import read_traces, write_traces
from gymnast.training.lifecycle.label import Label
from tests.browser.conftest import OpenPage
from tests.browser.episode_page import OpenEpisodePage, inspection, step_field
from tests.browser.inspected import BANDIT, CARTPOLE, MATCH, OTHER, PONG, newest_episode
from tests.browser.sample import SampleRuns, read_sample, train
from tests.browser.studio import PHONE, Studio, expect_to_fit, serious_findings, settle
from tests.inspector.stored_runs import VERSION, play_and_store

pytestmark = pytest.mark.slow
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
    learned = table["advantage_learned"]
    limit = sorted(x for x in learned if isinstance(x, float))[len(learned) // 3]
    field.fill(f"advantage < {limit}")
    field.press("Enter")
    fewer = sum(isinstance(x, float) and x < limit for x in learned)
    expect(page.get_by_role("region", name="Step table").get_by_role("status")).to_contain_text(
        f"{fewer} of {len(learned)}"
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


def test_the_frames_that_the_network_reads_are_shown(
    open_episode: OpenEpisodePage, inspected: SampleRuns
) -> None:
    page = open_episode(PONG, "?step=30")
    address = inspection(inspected, page).address
    for step in (30, 31):
        found = api.obs_images(
            inspected.ids[PONG],
            address.kind,
            address.version,
            address.number,
            step=step,
            runs_dir=inspected.path,
        )
        assert (found.width, found.height) == (84, 84)
        assert [image.name for image in found.images] == ["-3", "-2", "-1", "now"]
        group = page.get_by_role("group", name="Image that the network reads")
        for image in found.images:
            shown = group.get_by_role("img", name=f"Network input {image.name}", exact=True)
            expect(shown).to_have_attribute("src", f"data:image/png;base64,{image.picture}")
        page.keyboard.press("ArrowRight")


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


def test_an_environment_is_played_without_a_run(
    runs_dir: Path, studio: Studio, new_page: OpenPage
) -> None:
    page = new_page(studio, "/new?target=MountainCar-v0")
    page.get_by_role("link", name="Play", exact=True).click()
    page.get_by_role("button", name="Start").click()
    keys = page.get_by_role("list", name="Keys")
    expect(keys).to_contain_text("right", timeout=60_000)
    expect(page.get_by_role("status")).to_contain_text(re.compile(r"step [1-9]"))
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("link", name="Open it in the inspector").click()
    expect(page.get_by_role("heading", name=re.compile("played episode"))).to_be_visible()
    assert [run.preset for run in api.runs(runs_dir=runs_dir).runs] == ["MountainCar-v0:ppo"]


def test_a_replay_that_differs_is_reported_with_its_step(
    runs_dir: Path, studio: Studio, new_page: OpenPage
) -> None:
    address = play_and_store(runs_dir, "CartPole-v1", np.array([0, 1, 0, 1, 0, 1]))
    run = Run(address.path)
    run.update(status="finished")
    (file,) = run.traces.iterdir()
    (trace,) = read_traces(file)
    reward = trace.reward.copy()
    reward[3] += 1
    write_traces(file, [replace(trace, reward=reward)], {"kind": "eval", "version": VERSION})
    page = new_page(studio, f"/run/{address.path.name}/episodes/eval-{VERSION}-0")
    note = page.get_by_role("status").filter(
        has_text="The replay deviates from the trace at step 3."
    )
    note.get_by_role("button", name="Go to step 3").click()
    expect(step_field(page)).to_have_value("3")
    # What was stored is shown nevertheless.
    expect(page.get_by_role("table", name="Steps").get_by_role("row").nth(4)).to_contain_text("2")


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


@pytest.mark.parametrize("name", [CARTPOLE, MATCH, BANDIT])
def test_the_page_is_accessible_and_fits_a_phone(name: str, open_episode: OpenEpisodePage) -> None:
    for options in ({}, {"color_scheme": "dark"}, {"viewport": PHONE}):
        page = open_episode(name, **options)
        settle(page)
        assert serious_findings(page) == []
        expect_to_fit(page)
