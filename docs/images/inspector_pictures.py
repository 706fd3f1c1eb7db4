"""Makes studio/inspector-side-by-side.png and studio/inspector-match.png from trained runs.

python docs/images/inspector_pictures.py RUNS_DIR EPISODE OTHER MATCH

EPISODE and OTHER have the same seed and are shown side by side; MATCH is one of tag. Each is named
RUN/KIND-VERSION-NUMBER.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

os.environ["GYMNAST_PICTURES"] = "1"  # before the import, which reads it

from tests.browser.pictures import store_picture
from tests.browser.studio import CHROMIUM_ARGUMENTS, WIDE, serving

SIDE_BY_SIDE_STEP, MATCH_STEP = 200, 40
"""Steps that the pictures show."""


def open_episode(page: Page, address: str, episode: str, query: str) -> None:
    run, name = episode.split("/")
    page.goto(f"{address}/run/{run}/episodes/{name}?{query}")
    article = page.get_by_role("article", name="Episode")
    expect(article).to_have_attribute("aria-busy", "false", timeout=60_000)


def main() -> None:
    runs, one, other, match = sys.argv[1:]
    with serving(Path(runs)) as studio, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=[*CHROMIUM_ARGUMENTS]
        )
        page = browser.new_context(viewport=WIDE, color_scheme="light").new_page()
        page.goto(studio.link)
        page.wait_for_function("() => !location.hash.includes('token')")
        open_episode(page, studio.address, one, f"with={other}&step={SIDE_BY_SIDE_STEP}")
        expect(page.get_by_role("heading", name=f"Step {SIDE_BY_SIDE_STEP}")).to_have_count(2)
        store_picture(page, "inspector-side-by-side")
        open_episode(page, studio.address, match, f"step={MATCH_STEP}")
        page.get_by_role("tab", name="Why").click()
        expect(page.get_by_role("list", name="Contributions")).to_be_visible(timeout=60_000)
        store_picture(page, "inspector-match")
        browser.close()


if __name__ == "__main__":
    main()
