"""Makes inspector.gif, a short film of the inspector in use, from a trained LunarLander run.

python docs/images/inspector_film.py RUNS_DIR RUN KIND-VERSION-NUMBER

The episode should have blunders, and a search for them that is stored already (`api.blunders`).
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.browser.studio import CHROMIUM_ARGUMENTS, serving, settle

OUT = Path(__file__).parent / "inspector.gif"
SIZE: ViewportSize = {"width": 1280, "height": 1060}
WIDTH = 960
"""Width of the film in pixels."""
COLORS = 64


class Film:
    """Pictures of a page, with the time that each is shown."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._pictures: list[Image.Image] = []
        self._milliseconds: list[int] = []

    def shoot(self, milliseconds: int, *, wait: int = 0) -> None:
        self._page.wait_for_timeout(wait)
        shown = Image.open(BytesIO(self._page.screenshot())).convert("RGB")
        height = round(shown.height * WIDTH / shown.width)
        self._pictures.append(shown.resize((WIDTH, height), Image.Resampling.LANCZOS))
        self._milliseconds.append(milliseconds)

    def write(self, path: Path) -> None:
        """Writes the film with one palette, so that what does not change costs nothing."""
        # The largest range of colors, not the most frequent ones: most of the page is white.
        palette = self._pictures[-1].quantize(COLORS, Image.Quantize.MAXCOVERAGE)
        first, *others = [
            picture.quantize(palette=palette, dither=Image.Dither.NONE)
            for picture in self._pictures
        ]
        first.save(
            path,
            save_all=True,
            append_images=others,
            duration=self._milliseconds,
            loop=0,
            optimize=True,
        )


def play(page: Page, film: Film) -> None:
    """Uses the inspector: moments, scrubbing, a blunder and its better line, a what-if question."""
    film.shoot(1200, wait=3000)
    for _ in range(3):
        page.keyboard.press("]")
        film.shoot(700, wait=1200)
    for _ in range(12):
        page.keyboard.press("Shift+ArrowRight")
        film.shoot(120, wait=500)
    page.get_by_role("tab", name="Blunders").click()
    film.shoot(1200, wait=800)
    marks = page.get_by_role("list", name="Blunders, the worst first")
    marks.get_by_role("button", name="Show the line").first.click()
    film.shoot(1500, wait=3000)
    for _ in range(14):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        film.shoot(150, wait=600)
    film.shoot(1200)
    page.get_by_role("button", name="Back to the episode").click()
    page.get_by_role("tab", name="What if").click()
    film.shoot(900, wait=1500)
    slider = page.get_by_label("angle, slider", exact=True)
    for value in (0.1, 0.2, 0.3, 0.4):
        slider.fill(str(value))
        film.shoot(400, wait=800)
    film.shoot(1500)


def main() -> None:
    runs, run, episode = sys.argv[1:]
    with serving(Path(runs)) as studio, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=[*CHROMIUM_ARGUMENTS]
        )
        page = browser.new_context(viewport=SIZE).new_page()
        page.goto(studio.link)
        page.wait_for_function("() => !location.hash.includes('token')")
        page.goto(f"{studio.address}/run/{run}/episodes/{episode}")
        settle(page)
        film = Film(page)
        play(page, film)
        film.write(OUT)
        browser.close()
    print(f"{OUT}: {OUT.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
