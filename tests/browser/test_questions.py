"""Questions that people ask about their runs, each answered with at most four actions from the first page.

With GYMNAST_PICTURES=1 the answers are stored as docs/images/studio/*.png, which docs/studio.md shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from gymnast import api
from gymnast.text.formatting import duration
from tests.browser.conftest import OpenPage
from tests.browser.pictures import PICTURES, store_picture
from tests.browser.sample import FAILED, FAST, HIGH_LR, LANDER, SLOW, TAG, SampleRuns
from tests.browser.studio import Studio, settle, wait_until

pytestmark = pytest.mark.slow

MOST_ACTIONS = 4
LONG = {"stop.env_steps": "20M", "stop.eval_return": "off"}


@dataclass
class Asker:
    """Someone who looks for an answer. A click, a shortcut, a typed text and pointing at something are one
    action each."""

    page: Page
    actions: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.actions += 1

    def press(self, keys: str) -> None:
        """Presses a shortcut; keys that follow each other are separated by spaces."""
        settle(self.page)
        for key in keys.split():
            self.page.keyboard.press(key)
        self.actions += 1

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.actions += 1

    def point_at(self, target: Locator) -> None:
        target.hover()
        self.actions += 1

    def open_run(self, name: str) -> None:
        self.click(self.page.get_by_role("link", name=name, exact=True))

    def select(self, name: str) -> None:
        self.click(self.page.get_by_role("checkbox", name=f"Select {name}", exact=True))

    def has_found(self, answer: Locator, picture: str) -> None:
        """Asserts that the answer is visible after few actions. `picture`: name of its picture."""
        expect(answer.first).to_be_visible()
        assert self.actions <= MOST_ACTIONS
        store_picture(self.page, picture)


@pytest.fixture
def ask(sample_studio: Studio, new_page: OpenPage) -> Asker:
    page = new_page(sample_studio, color_scheme="light")
    settle(page)
    return Asker(page)


def test_which_is_better_and_is_it_more_than_noise(ask: Asker, sample: SampleRuns) -> None:
    (wanted,) = api.compare([FAST, SLOW], runs_dir=sample.path).improvements
    assert wanted.exceeds_noise
    assert wanted.better == FAST
    ask.click(ask.page.get_by_role("radio", name="seed group"))
    store_picture(ask.page, "runs")
    ask.select(f"the runs of {FAST}")
    ask.select(f"the runs of {SLOW}")
    ask.press("c")
    verdict = ask.page.get_by_role("list", name="Differences from the baseline")
    expect(verdict).to_contain_text("more than noise")
    expect(verdict).to_contain_text(FAST)
    ask.has_found(verdict, "better")


def test_what_did_i_change_between_two_runs(ask: Asker, sample: SampleRuns) -> None:
    changed = api.config_diff(f"{FAST}-s0", f"{SLOW}-s0", runs_dir=sample.path)
    ask.select(f"{FAST}-s0")
    ask.select(f"{SLOW}-s0")
    ask.press("c")
    table = ask.page.get_by_role("region", name="Settings that differ")
    expect(table).to_contain_text("algo.lr")
    assert "algo.lr" in str(changed)
    ask.has_found(table, "changed")


def test_why_did_it_stop(ask: Asker, sample: SampleRuns) -> None:
    reason = api.show(FAILED, runs_dir=sample.path).reason
    assert "the physics went wrong" in reason
    ask.open_run(FAILED)
    ask.has_found(ask.page.get_by_role("alert").filter(has_text=reason), "stopped")


def test_when_did_the_kl_divergence_rise(ask: Asker, sample: SampleRuns) -> None:
    (alert,) = (
        alert
        for alert in api.show(HIGH_LR, runs_dir=sample.path).alerts
        if alert.id == "policy/kl:high"
    )
    row = ask.page.get_by_role("row").filter(has_text=HIGH_LR)
    ask.click(row.get_by_title("Open the diagnosis"))
    heading = ask.page.get_by_role("heading", name=alert.message)
    entry = ask.page.get_by_role("listitem").filter(has=heading)
    expect(entry).to_contain_text(f"{alert.first:,} to {alert.last:,} env steps")
    ask.has_found(entry, "kl")


def test_why_does_it_not_learn(ask: Asker, sample: SampleRuns) -> None:
    first = api.doctor(f"{SLOW}-s0", runs_dir=sample.path).findings[0]
    ask.open_run(f"{SLOW}-s0")
    ask.press("3")
    cause = ask.page.get_by_role("listitem").filter(has_text=first.cause)
    expect(cause).to_contain_text(first.evidence[0])
    for key, value in first.changes.items():
        expect(cause).to_contain_text(f"{key} = {value}")
    ask.has_found(cause, "not-learning")


def rollouts(runs_dir: Path) -> float:
    """Returns the rollouts of the newest run; 0 before it exists."""
    return max(
        (run.clocks.get("rollouts", 0) for run in api.runs(runs_dir=runs_dir).runs), default=0
    )


def test_how_long_will_it_still_take(studio: Studio, new_page: OpenPage, runs_dir: Path) -> None:
    started = api.start("CartPole-v1", overrides=LONG, name="long", runs_dir=runs_dir)
    (run,) = started.runs
    enough = 100 if PICTURES else 1
    wait_until(lambda: rollouts(runs_dir) >= enough)
    api.pause(run.id, runs_dir=runs_dir)
    (listed,) = api.runs(runs_dir=runs_dir).runs
    page = new_page(studio, color_scheme="light")
    settle(page)
    ask = Asker(page)
    left = duration(listed.remaining_seconds)
    ask.open_run("long")
    ask.has_found(page.get_by_text(f"{left} left"), "remaining")


def test_where_does_this_value_come_from(ask: Asker, sample: SampleRuns) -> None:
    origin = api.config_show(f"{SLOW}-s0", runs_dir=sample.path).provenance["algo.lr"]
    ask.open_run(f"{SLOW}-s0")
    ask.press("4")
    ask.press("/")
    ask.type("algo.lr")
    row = ask.page.get_by_role("row").filter(has=ask.page.get_by_text("algo.lr", exact=True))
    expect(row).to_contain_text(str(origin))
    ask.has_found(row, "origin")


def test_which_run_reached_the_threshold_with_the_fewest_steps(
    ask: Asker, sample: SampleRuns
) -> None:
    reached = {
        run.name: run.learning.steps_to_threshold
        for run in api.compare(sample.fast, runs_dir=sample.path).runs
        if run.learning is not None and run.learning.steps_to_threshold is not None
    }
    fewest = min(reached, key=lambda name: reached[name])
    ask.click(ask.page.get_by_role("radio", name="seed group"))
    ask.select(f"the runs of {FAST}")
    ask.press("c")
    table = ask.page.get_by_role("table", name="Results of each side")
    ask.click(table.get_by_role("button", name="goal steps"))
    first = table.get_by_role("row").nth(1)
    expect(first).to_contain_text(fewest)
    expect(first).to_contain_text(f"{reached[fewest]:,.0f}")
    ask.has_found(first, "threshold")


def test_what_does_this_metric_mean_and_what_is_healthy(ask: Asker) -> None:
    (metric,) = (metric for metric in api.metrics() if metric.name == "policy/kl")
    ask.open_run(f"{FAST}-s0")
    ask.point_at(ask.page.get_by_role("link", name="KL divergence of an update"))
    help_text = ask.page.get_by_role("tooltip")
    for text in (metric.meaning, metric.healthy_text, metric.if_high):
        expect(help_text).to_contain_text(text)
    ask.has_found(help_text, "metric")


def test_what_does_the_agent_do(ask: Asker, sample: SampleRuns) -> None:
    film = api.show(f"{FAST}-s0", runs_dir=sample.path).videos[0]
    ask.open_run(f"{FAST}-s0")
    ask.press("7")
    ask.page.wait_for_function("() => document.querySelector('video')?.readyState >= 2")
    frames = ask.page.evaluate("document.querySelector('video').duration")
    assert frames > 0
    ask.has_found(ask.page.get_by_text(f"return {film.raw_return:.1f}"), "film")


def test_which_role_wins(ask: Asker, sample: SampleRuns) -> None:
    record = api.self_play(TAG, runs_dir=sample.path)
    ask.press("g l")
    ask.open_run(TAG)
    table = ask.page.get_by_role("table", name="Ratings of the players")
    expect(table.get_by_role("row")).to_have_count(len(record.players.entrants) + 1)
    for role in record.roles:
        wins = ask.page.get_by_role("group", name=f"Win rate of {role} over")
        expect(wins.first).to_be_visible()
    ask.has_found(table, "self-play")


if PICTURES:

    def test_the_picture_of_the_page_of_a_run(ask: Asker) -> None:
        ask.open_run(LANDER)
        expect(ask.page.get_by_role("heading", name=LANDER)).to_be_visible()
        store_picture(ask.page, "run")
