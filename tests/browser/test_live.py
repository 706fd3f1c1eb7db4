"""A training that is started, watched, paused, changed and stopped from pages, while it learns."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from gymnast import api
from gymnast.cli import cli
from gymnast.runs.run import Run
from tests.browser.charts import RECORD_COPIES, expect_chart_values, stored_values
from tests.browser.conftest import OpenPage
from tests.browser.pictures import store_picture
from tests.browser.studio import WATCH_SHIFTS, Studio, settle
from tests.cli_output import cli_output

pytestmark = pytest.mark.slow

CHART, METRIC = "Entropy of the policy", "policy/entropy"
ENDLESS = {"env_steps": "500M", "eval_return": "off", "n_steps": "512"}
"""Settings with which a training lasts until it is stopped, with about two rows per second."""


def fill_form(page: Page) -> None:
    """Chooses a preset and changes settings by typing; a wrong value is refused as `--set` does."""
    page.get_by_role("searchbox", name="Search presets").fill("CartPole")
    page.get_by_role("button", name=re.compile("^CartPole-v1")).click()
    rate = page.get_by_label("lr", exact=True)
    rate.fill("fast")
    refusal = CliRunner().invoke(
        cli, ["train", "CartPole-v1", "--set", "algo.lr=fast", "--dry-run"]
    )
    assert refusal.exit_code != 0
    message = refusal.output.strip().removeprefix("error: --set: algo.lr: ")
    expect(page.get_by_role("region", name="Problems")).to_contain_text(message)
    expect(page.get_by_role("button", name=re.compile("^Start"))).to_have_attribute(
        "aria-disabled", "true"
    )
    rate.fill("3e-4")
    expect(page.get_by_role("region", name="Problems")).to_have_count(0)
    for name, text in ENDLESS.items():
        page.get_by_role("searchbox", name="Search settings").fill(name)
        page.get_by_label(name, exact=True).fill(text)
    page.get_by_label("Name", exact=True).fill("live")
    expect(page.get_by_text("--set algo.lr=3e-4")).to_be_visible()
    page.get_by_role("searchbox", name="Search settings").fill("")
    store_picture(page, "new")


def wait_for_points(page: Page, more: int) -> None:
    """Waits until the chart has shown this many other last values, without a reload."""
    seen = {last_values(page)}
    while len(seen) <= more:
        label = last_values(page)
        page.wait_for_function(
            "([title, before]) => [...document.querySelectorAll('[aria-roledescription=chart]')]"
            ".some((plot) => plot.ariaLabel.startsWith(title) && plot.ariaLabel !== before)",
            arg=[CHART, label],
        )
        seen.add(last_values(page))


def last_values(page: Page) -> str:
    """Returns the description of the chart, which has its last value."""
    return (
        page.get_by_role("group", name=re.compile(f"^{CHART} over")).get_attribute("aria-label")
        or ""
    )


@pytest.fixture
def run(studio: Studio, new_page: OpenPage, runs_dir: Path) -> tuple[Page, Run]:
    """A run that was started from the page, and its page."""
    page = new_page(studio)
    page.add_init_script(RECORD_COPIES)
    page.goto(f"{studio.address}/new")
    fill_form(page)
    page.get_by_role("button", name="Dry run").click()
    plan = page.get_by_role("dialog", name="Dry run")
    expect(plan).to_contain_text("CartPole-v1:ppo")
    assert api.runs(runs_dir=runs_dir).runs == []
    plan.get_by_role("button", name="Start").click()
    page.wait_for_url("**/run/*", timeout=60_000)
    found = re.search(r"/run/(\w+)", page.url)
    assert found is not None
    return page, Run(runs_dir / found[1])


def test_start_watch_pause_change_and_stop(run: tuple[Page, Run], runs_dir: Path) -> None:
    page, started = run
    expect(page.get_by_role("heading", name="live")).to_be_visible()
    expect(page.get_by_role("group", name=re.compile(f"^{CHART} over"))).to_be_visible(
        timeout=60_000
    )
    settle(page)
    page.evaluate("window.isSameDocument = true")
    page.evaluate(WATCH_SHIFTS)
    wait_for_points(page, 3)
    expect(page.get_by_title("remaining time")).to_contain_text("left")

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text(re.compile(r"paused at [\d,]+ env steps"))).to_be_visible()
    expect(page.get_by_role("button", name="Unpause")).to_be_visible()
    assert page.evaluate("window.shifts") == []
    assert_same_numbers(page, started)

    page.get_by_role("button", name="Unpause").click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    change_learning_rate(page, "5e-5")
    wait_for_points(page, 1)

    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("saved a checkpoint and stopped")).to_be_visible()
    expect(page.get_by_text(re.compile("^Stopped"))).to_be_visible()
    assert page.evaluate("window.isSameDocument")
    assert_same_numbers(page, started)
    assert_same_events(page, started.id, runs_dir)


def change_learning_rate(page: Page, text: str) -> None:
    page.get_by_role("button", name="Change a setting").click()
    dialog = page.get_by_role("dialog", name="Change settings of live")
    dialog.get_by_role("textbox", name="algo.lr").fill("much")
    expect(dialog.get_by_text("much is not a number")).to_be_visible()
    dialog.get_by_role("textbox", name="algo.lr").fill(text)
    expect(dialog.get_by_text("much is not a number")).to_have_count(0)
    dialog.get_by_role("button", name="Change", exact=True).click()
    expect(page.get_by_text(re.compile("changed algo.lr from .* to "))).to_be_visible()
    expect(dialog).to_have_count(0)


def assert_same_numbers(page: Page, started: Run) -> None:
    """Compares a run that does not train at the moment: chart, database, and `gymnast rows --json`."""
    wanted = stored_values(started, METRIC)
    printed = json.loads(cli_output("rows", str(started.path), "--json"))["rows"]
    assert [row[METRIC] for row in printed if METRIC in row] == [y for _, y in wanted]
    last = f"{printed[-1]['clock/env_steps']:,.0f}"
    expect(page.get_by_text(f"{last} env steps").first).to_be_visible()
    expect_chart_values(page, CHART, wanted)


def assert_same_events(page: Page, ref: str, runs_dir: Path) -> None:
    """Compares the events on the page with those of `gymnast show --json`."""
    details = json.loads(cli_output("show", ref, "--json", "--runs", str(runs_dir)))
    assert details["status"] == "stopped"
    assert details["reason"]
    assert details["live"] == {"algo.lr": 5e-5}
    expect(page.get_by_text(details["reason"]).first).to_be_visible()
    page.get_by_role("tab", name="Events & log").click()
    table = page.get_by_role("table", name="Events")
    expect(table.get_by_role("row")).to_have_count(len(details["events"]) + 1)
    shown = [row.split("\t")[-1].strip() for row in table.get_by_role("row").all_inner_texts()[1:]]
    assert shown == [event["text"].strip() for event in reversed(details["events"])]
    kinds = [event["kind"] for event in details["events"]]
    assert "stopping" in kinds
