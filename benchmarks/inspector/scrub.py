"""The page of an episode in use: it is opened, scrubbed with the mouse and with keys, and played."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.studio.browser import main_thread_tasks

OPEN = """(path) => new Promise((resolve) => {
  const started = performance.now();
  const found = {};
  history.pushState(null, "", new URL(path.slice(1), document.baseURI));
  dispatchEvent(new PopStateEvent("popstate"));
  const look = () => {
    const since = performance.now() - started;
    const isThere = document.querySelector('article[aria-label="Episode"][aria-busy="false"] [role="cell"]');
    const canvas = document.querySelector('canvas[role="img"]');
    if (isThere) found.table ??= since;
    if (canvas && canvas.width > 1) found.picture ??= since;
    if ((found.table && found.picture) || since > 20000) resolve(found);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""
"""Opens a path as a link of the app does; milliseconds until the table and the picture are drawn."""
RECORD_STEPS = """() => {
  window.steps = new Set();
  const slider = document.querySelector('[role="slider"][aria-label="Step"]');
  new MutationObserver(() => window.steps.add(slider.getAttribute("aria-valuenow"))).observe(slider, {
    attributes: true,
    attributeFilter: ["aria-valuenow"],
  });
}"""
MOVES = 300
"""Moves of the mouse over the whole timeline, about one per animation frame."""
PRESSES = 200
PLAY_MILLISECONDS = 5000


def open_episode(page: Page, path: str) -> dict[str, Any]:
    """Opens an episode from the list of episodes. Milliseconds to the table and to the first picture."""
    found = page.evaluate(OPEN, path)
    page.go_back()
    page.get_by_role("table", name="Stored episodes").wait_for()
    return {name: round(value, 1) for name, value in found.items()}


def wait_for_episode(page: Page) -> None:
    page.locator('article[aria-label="Episode"][aria-busy="false"]').wait_for()


def show_all_columns(page: Page) -> None:
    page.get_by_role("button", name="Columns", exact=True).click()
    while (buttons := page.get_by_role("button", name="all", exact=True)).count():
        buttons.first.click()
    page.get_by_role("button", name="Done").click()


def drag(page: Page) -> None:
    """Drags over the whole timeline and back."""
    box = page.get_by_role("slider", name="Step").bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 2, y)
    page.mouse.down()
    for i in range(MOVES):
        share = 1 - abs(1 - 2 * i / MOVES)
        page.mouse.move(box["x"] + share * box["width"], y)
        page.wait_for_timeout(16)
    page.mouse.up()


def press(page: Page) -> None:
    """Steps with the arrow keys, as fast as a key repeats, and jumps from one key moment to the next."""
    page.keyboard.press("Home")
    for i in range(PRESSES):
        page.keyboard.press("]" if i % 20 == 0 else "Shift+ArrowRight" if i % 2 else "ArrowRight")
        page.wait_for_timeout(16)


def play(page: Page) -> None:
    """Plays at the highest speed."""
    page.keyboard.press("Home")
    page.get_by_role("combobox", name="Speed of playback").select_option("16")
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_timeout(PLAY_MILLISECONDS)
    page.keyboard.press("Home")


@dataclass(frozen=True)
class Tasks:
    """The tasks of the page's main thread during a movement, in milliseconds."""

    wall: list[float]
    cpu: list[float]
    """CPU time, which other processes of the machine hardly change."""


def tasks_during(browser: Browser, page: Page, move: Callable[[Page], None]) -> Tasks:
    page.evaluate(RECORD_STEPS)
    tasks = Tasks([], [])
    with main_thread_tasks(browser, page, tasks.wall, tasks.cpu):
        move(page)
    return tasks


def steps_shown(page: Page) -> int:
    """Returns how many different steps the page has shown during the last movement."""
    return int(page.evaluate("window.steps.size"))
