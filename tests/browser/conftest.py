"""Fixtures for tests that open the studio in Chromium; without Chromium these tests are skipped."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.episode_page import OpenEpisodePage
from tests.browser.inspected import make_inspected, newest_episode
from tests.browser.sample import SampleRuns, make_sample, read_sample
from tests.browser.studio import CHROMIUM_ARGUMENTS, Studio, Watched, open_page, serving, stop_all

OpenPage = Callable[..., Page]
PATIENCE = 30_000
"""Milliseconds that `expect` waits: a slow machine is not a failure."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session", autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The state directory of the studios: not that of the user who runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*CHROMIUM_ARGUMENTS])
        yield browser
        browser.close()


@pytest.fixture
def studio(runs_dir: Path) -> Iterator[Studio]:
    """A studio for the runs directory of this test; what trains at its end is stopped."""
    with serving(runs_dir) as studio:
        yield studio
    stop_all(runs_dir)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SampleRuns:
    """Runs that no test may change."""
    return read_sample(_shared(tmp_path_factory, "studio-sample", make_sample))


@pytest.fixture(scope="session")
def inspected(sample: SampleRuns, tmp_path_factory: pytest.TempPathFactory) -> SampleRuns:
    """Runs to which tests may add episodes."""
    path = _shared(tmp_path_factory, "inspected", lambda path: make_inspected(sample, path))
    return read_sample(path)


@pytest.fixture(scope="session")
def inspected_studio(inspected: SampleRuns) -> Iterator[Studio]:
    with serving(inspected.path) as studio:
        yield studio


def _shared(
    tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]
) -> Path:
    """Returns a directory of runs that all processes of pytest share; the first one makes it."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path = root / name
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (path / "runs").exists():
            make(path / "in-work")
            (path / "in-work").rename(path / "runs")
    return path / "runs"


@pytest.fixture(scope="session")
def sample_studio(sample: SampleRuns) -> Iterator[Studio]:
    """A studio that shows the sample runs. Tests that change runs copy them instead."""
    with serving(sample.path) as studio:
        yield studio


@pytest.fixture
def new_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens pages of a studio; at the end of the test none of them may have logged an error or asked
    another host."""
    opened: list[tuple[Page, Watched]] = []

    def opener(
        studio: Studio, path: str = "/", *, expected: Sequence[str] = (), **context: object
    ) -> Page:
        page, watched = open_page(browser, studio, path, expected=expected, **context)
        opened.append((page, watched))
        return page

    yield opener
    for page, watched in opened:
        page.context.close()
        assert watched.errors == []
        assert watched.external == []


@pytest.fixture
def page(sample_studio: Studio, new_page: OpenPage) -> Page:
    """The first page of the sample runs."""
    return new_page(sample_studio)


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
