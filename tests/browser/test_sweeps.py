"""The page of sweeps: its numbers are those of the API, trials lead to their runs, and studies can be
stopped, resumed and started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gymnast import api
from tests.browser.conftest import OpenPage
from tests.browser.studio import (
    PHONE,
    Studio,
    expect_to_fit,
    serious_findings,
    settle,
)
from tests.sweep.synthetic import synthetic_study, write_study

pytestmark = pytest.mark.slow

SPACE = """\
target: CartPole-v1:ppo
settings: {stop.env_steps: 1024, eval.episodes: 2, eval.every: 512 env_steps, env.n_envs: 2, algo.n_steps: 64}
parameters:
  algo.lr: {low: 1e-4, high: 1e-2, log: true}
search: {rungs: 1, seeds: 1, confirm: 0, sampler: random}
"""


def marks(page: Page, chart: str, group: str) -> int:
    return (
        page.get_by_role("region", name=chart, exact=True).locator(f".trial-mark.{group}").count()
    )


def test_a_study_is_shown_with_its_plots_and_its_best_trial(
    studio: Studio, runs_dir: Path, new_page: OpenPage
):
    write_study(runs_dir, "mine")
    write_study(runs_dir, "early", synthetic_study(8, confirmed=False))
    page = new_page(studio)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Sweeps").click()
    rows = page.get_by_role("table", name="Studies").locator("tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_role("link", name="mine").click()
    expect(page).to_have_url(re.compile(r"/sweeps/mine$"))
    settle(page)
    plots = api.sweep_plots("mine", runs_dir=runs_dir)
    expect(page.locator(".importance li")).to_have_count(len(plots.parameters))
    complete = [one for one in plots.trials if one.state == "complete" and not one.is_baseline]
    assert marks(page, "History", "complete") == len(complete) - 1  # the best one has its own mark
    assert marks(page, "History", "best") == marks(page, "History", "baseline") == 1
    assert marks(page, "History", "failed") == sum(o.state == "failed" for o in plots.trials)
    with_value = [o for o in plots.trials if o.value is not None and not o.is_baseline]
    chart = page.get_by_role("region", name="Parallel coordinates", exact=True)
    expect(chart.locator(".trial-line")).to_have_count(len(with_value))
    for parameter in plots.parameters:  # one slice each
        assert page.get_by_role("region", name=parameter.name, exact=True).is_visible()
    best = api.sweep_best("mine", runs_dir=runs_dir)
    assert best.confirmation is not None
    expect(page.get_by_role("region", name="Best trial")).to_contain_text(best.confirmation.verdict)
    rows = page.get_by_role("table", name="Trials").locator("tbody tr")
    expect(rows).to_have_count(len(plots.trials))
    expect(rows.first.get_by_role("link")).to_have_attribute("href", re.compile(r"run/run000\d\d$"))
    # pointing at a trial in one plot shows it in all of them
    page.get_by_role("region", name="algo.lr", exact=True).locator(".trial-mark.best").hover()
    history = page.get_by_role("region", name="History", exact=True)
    expect(history.locator(".chart-value")).to_contain_text(f"trial {plots.best}:")
    expect(history.locator(".trial-mark.pointed")).to_have_count(1)
    expect(page.locator(".trial-line.pointed")).to_have_count(1)


def test_the_pages_are_accessible_and_fit_a_phone(
    studio: Studio, runs_dir: Path, new_page: OpenPage
):
    write_study(runs_dir, "mine")
    looks = {"/sweeps/mine": "light", "/sweeps": "dark"}
    for path, theme in looks.items():
        page = new_page(studio, path, viewport=PHONE, color_scheme=theme)
        settle(page)
        expect_to_fit(page)
        assert serious_findings(page) == []
    page.get_by_role("button", name="Start a study").click()
    expect_to_fit(page)
    assert serious_findings(page) == []


def test_a_study_is_started_watched_and_stopped(studio: Studio, runs_dir: Path, new_page: OpenPage):
    page = new_page(studio, "/sweeps", expected=["status of 4"])  # the mistake in the space
    page.get_by_role("button", name="Start a study").click()
    dialog = page.get_by_role("dialog", name="Start a study")
    dialog.get_by_role("button", name="Load its space").click()
    expect(dialog.get_by_label("Search space")).to_have_value(re.compile("algo.lr"))
    dialog.get_by_label("Search space").fill(SPACE.replace("algo.lr", "algo.learning_rate"))
    dialog.get_by_role("button", name="Start", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("did you mean algo.lr?")
    dialog.get_by_label("Search space").fill(SPACE)
    dialog.get_by_label("Trials").fill("500")
    dialog.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile(r"/sweeps/cartpole-1$"))
    expect(page.locator(".trial-mark")).not_to_have_count(0)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert api.sweep_status("cartpole-1", runs_dir=runs_dir).summary.status == "interrupted"
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    assert api.sweep_stop("cartpole-1", runs_dir=runs_dir).status == "interrupted"


def test_a_missing_study_and_no_study_at_all_say_what_to_do(studio: Studio, new_page: OpenPage):
    page = new_page(studio, "/sweeps")
    expect(page.get_by_role("heading", name="There is no study yet")).to_be_visible()
    page = new_page(studio, "/sweeps/other", expected=["status of 4"])
    expect(page.get_by_role("alert")).to_contain_text("no study 'other'")
    page.get_by_role("link", name="All studies").click()
    expect(page.get_by_role("heading", name="There is no study yet")).to_be_visible()
