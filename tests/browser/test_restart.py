"""A page survives its server: after kill -9 and a restart it has every row once. It also works through
another port and below a path prefix."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from gymnast import api
from gymnast.runs.run import Run
from tests.browser.charts import RECORD_COPIES, expect_chart_values, stored_values
from tests.browser.conftest import OpenPage
from tests.browser.proxies import forwarded, reverse_proxy
from tests.browser.sample import FAST, SLOW, SampleRuns
from tests.browser.studio import Studio, serving, settle, stop_all, wait_until

pytestmark = pytest.mark.slow

CHART, METRIC = "Entropy of the policy", "policy/entropy"
LOST = "The connection to the server is lost"
UNREACHABLE = ("net::ERR_", "Failed to fetch")
TRAINING = {
    "target": "CartPole-v1",
    "name": "watched",
    "overrides": ["stop.env_steps=500M", "stop.eval_return=off", "algo.n_steps=512"],
}
START = """async (body) => {
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch("api/start", { method: "POST", headers, body: JSON.stringify(body) });
  return (await answer.json()).runs[0].id;
}"""


def count_rows(run: Run) -> int:
    return len(stored_values(run, METRIC)) if (run.path / "metrics.db").exists() else 0


def wait_for_step(page: Page, steps: float) -> None:
    """Waits until the header of the run shows at least these env steps."""
    page.wait_for_function(
        """(steps) => {
          const shown = document.querySelector("main header")?.innerText.match(/([\\d,]+) env steps/);
          return shown && Number(shown[1].replaceAll(",", "")) >= steps;
        }""",
        arg=steps,
        timeout=60_000,
    )


def test_a_page_recovers_when_the_server_is_killed_and_restarted(
    runs_dir: Path, new_page: OpenPage
) -> None:
    first = Studio(runs_dir)
    try:
        page = new_page(first, expected=UNREACHABLE)
        page.add_init_script(RECORD_COPIES)
        run = Run(runs_dir / page.evaluate(START, TRAINING))
        wait_until(lambda: count_rows(run) > 0)
        page.goto(f"{first.address}/run/{run.id}")
        expect(page.get_by_role("group", name=re.compile(f"^{CHART} over"))).to_be_visible(
            timeout=60_000
        )
        page.evaluate("window.isSameDocument = true")
        before = count_rows(run)
        wait_until(lambda: count_rows(run) > before + 1)
    finally:
        first.close(signal.SIGKILL)
    try:
        expect(page.get_by_role("status").filter(has_text=LOST)).to_be_visible()
        # The training is not a child of the server: it continues, and the page misses rows.
        killed_at = count_rows(run)
        wait_until(lambda: count_rows(run) > killed_at + 2)
        with serving(runs_dir, port=first.port):
            expect(page.get_by_text(LOST)).to_have_count(0, timeout=30_000)
            again = count_rows(run)
            wait_until(lambda: count_rows(run) > again + 1)
            api.pause(run.id, runs_dir=runs_dir)
            wanted = stored_values(run, METRIC)
            wait_for_step(page, 16 * wanted[-1][0])
            assert page.evaluate("window.isSameDocument")
            expect_chart_values(page, CHART, wanted)
            page.close()
    finally:
        stop_all(runs_dir)


def test_the_studio_works_through_a_forwarded_port(sample: SampleRuns, new_page: OpenPage) -> None:
    with serving(sample.path) as studio, forwarded(studio.port) as port:
        page = new_page(studio.through(port))
        visit_pages(page)
        assert page.url.startswith(f"http://127.0.0.1:{port}/")
        page.close()  # before its server


def test_the_studio_works_below_a_path_prefix(sample: SampleRuns, new_page: OpenPage) -> None:
    with serving(sample.path, "--prefix", "/gymnast") as studio:
        assert studio.address.endswith("/gymnast")
        with reverse_proxy(studio.port, "/gymnast/") as port:
            page = new_page(studio.through(port))
            visit_pages(page)
            assert page.url.startswith(f"http://127.0.0.1:{port}/gymnast/")
            read = (
                "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"
            )
            assert [path for path in page.evaluate(read) if not path.startswith("/gymnast/")] == []
            page.close()


def visit_pages(page: Page) -> None:
    """Opens the main pages by clicking, each with live data."""
    page.get_by_role("link", name=f"{FAST}-s0").click()
    expect(page.get_by_role("group", name=re.compile(f"^{CHART} over"))).to_be_visible()
    page.get_by_role("tab", name="Films").click()
    page.wait_for_function("() => document.querySelector('video')?.readyState > 0")
    page.reload()
    expect(page.get_by_role("heading", name=f"{FAST}-s0")).to_be_visible()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Compare").click()
    page.get_by_role("combobox", name="Add a run or group").fill(FAST)
    page.get_by_role("option", name=FAST).first.click()
    page.get_by_role("combobox", name="Add a run or group").fill(SLOW)
    page.get_by_role("option", name=SLOW).first.click()
    expect(page.get_by_role("table", name="Results of each side")).to_be_visible()
    page.get_by_role("link", name="Guide").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.go_back()
    settle(page)
