"""The page of an episode: its record, and its fields."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page

from gymnast import api
from gymnast.inspector.record import EpisodeInspection
from tests.browser.sample import SampleRuns

OpenEpisodePage = Callable[..., Page]


def inspection(inspected: SampleRuns, page: Page) -> EpisodeInspection:
    """Returns the record of the episode that a page shows."""
    found = re.search(r"/run/(\w+)/episodes/(\w+)-(\d+)-(\d+)", page.url)
    assert found is not None
    run, kind, version, number = found.groups()
    return api.inspect(run, kind, int(version), int(number), runs_dir=inspected.path)  # pyright: ignore[reportArgumentType]


def step_field(page: Page) -> Locator:
    return page.get_by_role("group", name="Player").get_by_label("Step", exact=True)
