"""Reads charts as a user does: through their menu, as CSV with all digits."""

from __future__ import annotations

import csv
import math
import time
from io import StringIO

from playwright.sync_api import Page

from gymnast.runs.run import Run
from tests.small_runs import Row, rows

Values = list[tuple[float, float]]
"""Vector steps and values of a metric, in the order of its rows."""

PATIENCE = 30.0
"""Seconds."""
RECORD_COPIES = """
  window.copied = [];
  const writeText = async (text) => void window.copied.push(text);
  Object.defineProperty(navigator, "clipboard", { value: { writeText } });
"""
"""A script for pages: what they copy is kept in `window.copied`."""


def chart_values(page: Page, title: str) -> Values:
    """Returns the values of a chart with one line. The page has run RECORD_COPIES."""
    before = page.evaluate("window.copied.length")
    page.get_by_role("button", name=f"Actions for {title}", exact=True).click()
    page.get_by_role("menuitem", name="Copy as CSV").click()
    page.wait_for_function("before => window.copied.length > before", arg=before)
    return values_of_csv(page.evaluate("window.copied.at(-1)"))


def expect_chart_values(page: Page, title: str, wanted: Values) -> None:
    """Waits until a chart has exactly these values; it may be drawn later than the rest of the page."""
    end = time.monotonic() + PATIENCE
    while (shown := chart_values(page, title)) != wanted and time.monotonic() < end:
        pass
    assert shown == wanted


def values_of_csv(text: str) -> Values:
    lines = list(csv.reader(StringIO(text)))[1:]
    return [(float(x), float(y)) for x, y in lines if y != "" and not math.isnan(float(y))]


def values_of(key: str, stored: list[Row]) -> Values:
    """Returns the values of a metric; the row of a late evaluation repeats the clocks of the row before."""
    clock = "eval:clock/env_steps" if key.startswith("eval:") else "clock/vec_steps"
    return list(dict.fromkeys((row[clock], row[key]) for row in stored if key in row))


def stored_values(run: Run, key: str) -> Values:
    """Returns the values of a metric in the database of a run."""
    return values_of(key, rows(run))
