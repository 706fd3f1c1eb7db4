"""Fixtures for tests that open the studio in Chromium; without Chromium these tests are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.studio import CHROMIUM_ARGUMENTS, Studio, Watched, open_page, serving

OpenPage = Callable[..., Page]


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
    """A studio for the runs directory of this test."""
    with serving(runs_dir) as studio:
        yield studio


@pytest.fixture
def new_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens pages of a studio; at the end of the test none of them may have logged an error or asked
    another host."""
    opened: list[tuple[Page, Watched]] = []

    def opener(studio: Studio, path: str = "", **context: object) -> Page:
        page, watched = open_page(browser, studio, **context)
        opened.append((page, watched))
        if path:
            page.goto(f"{studio.address}{path}")
        return page

    yield opener
    for page, watched in opened:
        page.context.close()
        assert watched.errors == []
        assert watched.external == []


@pytest.fixture
def page(studio: Studio, new_page: OpenPage) -> Page:
    return new_page(studio)
