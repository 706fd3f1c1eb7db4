"""Measurements of the studio: first chart, zoom, a new row, the list of runs, a run with many rows."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psutil
from playwright.sync_api import Browser, Page

from benchmarks.studio.browser import main_thread_tasks, measure_loading
from gymnast.clock import CLOCKS
from gymnast.metrics.store import MetricStore
from tests.browser.studio import WIDE, Studio

RECORD_STROKES = """
window.strokes = [];
for (const name of ["stroke", "putImageData", "drawImage"]) {
  const draw = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...what) {
    window.strokes.push(performance.timeOrigin + performance.now());
    return draw.apply(this, what);
  };
}
"""
"""Records when anything is drawn on a canvas, in milliseconds since the epoch."""
LAST_STROKE = "window.strokes.length ? window.strokes[window.strokes.length - 1] : 0"
NOW = "performance.timeOrigin + performance.now()"
QUIET_MILLISECONDS = 400
"""A picture is complete when nothing is drawn during this time."""
ZOOM_STEPS = 20


def sign_in(browser: Browser, studio: Studio) -> Page:
    page = browser.new_context(viewport=WIDE).new_page()  # pyright: ignore[reportArgumentType]
    page.add_init_script(RECORD_STROKES)
    page.goto(studio.link)
    _wait(page, "!location.hash.includes('token')")
    return page


def open_chart(page: Page, url: str) -> dict[str, Any]:
    """Opens a page with charts: seconds until everything is drawn, and what it transferred for them."""
    page.goto("about:blank")
    started = time.time() * 1000
    traffic = measure_loading(page, url)
    drawn = page.evaluate(LAST_STROKE)
    return {
        "seconds_to_data": round(traffic.seconds, 4),
        "seconds_to_drawn": round((drawn - started) / 1000, 4),
        "bytes": traffic.bytes,
        "requests": traffic.requests,
    }


def zoom(browser: Browser, page: Page) -> dict[str, Any]:
    """Zooms into the first chart step by step, and back: seconds until it is redrawn, and until the finer
    data of each step is drawn, and the tasks of the main thread meanwhile."""
    chart = page.locator("canvas").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5)
    first: list[float] = []
    seconds: list[float] = []
    tasks: list[float] = []
    with main_thread_tasks(browser, page, tasks):
        for step in range(ZOOM_STEPS):
            before = page.evaluate("window.strokes.length")
            started = time.time() * 1000
            page.keyboard.down("Control")
            page.mouse.wheel(0, -120 if step < ZOOM_STEPS / 2 else 120)
            page.keyboard.up("Control")
            _wait(page, f"window.strokes.length > {before}")
            first.append((page.evaluate(f"window.strokes[{before}]") - started) / 1000)
            _wait(page, f"{NOW} - ({LAST_STROKE}) > {QUIET_MILLISECONDS}")
            seconds.append((page.evaluate(LAST_STROKE) - started) / 1000)
    return {
        "seconds_to_redrawn_median": round(median(first), 4),
        "seconds_to_detail_median": round(median(seconds), 4),
        "seconds_to_detail_max": round(max(seconds), 4),
        "task_ms_p95": round(quantiles(tasks, n=20)[-1], 2),
        "task_ms_max": round(max(tasks), 2),
        "tasks": len(tasks),
    }


def new_rows(page: Page, path: Path, *, rows: int = 20) -> dict[str, Any]:
    """Appends rows to a run whose page is open: seconds from the commit of a row to its pixels."""
    seconds: list[float] = []
    with MetricStore(path / "metrics.db", "w") as store:
        last = next(iter(store.rows(last=1)))
        for i in range(rows):
            page.wait_for_timeout(500)
            row = last | {f"clock/{clock}": last[f"clock/{clock}"] + i + 1 for clock in CLOCKS}
            count = page.evaluate("window.strokes.length")
            store.append(row)
            store.flush()
            committed = time.time() * 1000
            _wait(page, f"window.strokes.length > {count}")
            seconds.append((page.evaluate(f"window.strokes[{count}]") - committed) / 1000)
    return {"seconds_median": round(median(seconds), 4), "seconds_max": round(max(seconds), 4)}


def server_cpu(page: Page, studio: Studio, path: Path, *, seconds: float = 15.0) -> float:
    """Returns the share of a core that the server uses while a page shows a run with 20 new rows per second,
    committed as a training commits them."""
    process = psutil.Process(studio.process.pid)
    with MetricStore(path / "metrics.db", "w") as store:
        last = next(iter(store.rows(last=1)))
        started, before = time.perf_counter(), sum(process.cpu_times()[:2])
        i = 0
        while time.perf_counter() - started < seconds:
            i += 1
            store.append(last | {f"clock/{clock}": last[f"clock/{clock}"] + i for clock in CLOCKS})
            page.wait_for_timeout(50)
        used = sum(process.cpu_times()[:2]) - before
        return round(used / (time.perf_counter() - started), 4)


def idle_bytes(page: Page, *, seconds: float = 20.0) -> int:
    """Returns how many bytes an open page receives while nothing happens."""
    page.wait_for_timeout(5000)  # what happened before has arrived
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    received = 0

    def count(event: dict[str, Any]) -> None:
        nonlocal received
        received += int(event["dataLength"])

    client.on("Network.dataReceived", count)
    page.wait_for_timeout(seconds * 1000)
    client.detach()
    return received


def list_runs(page: Page, studio: Studio, expected: int) -> dict[str, Any]:
    """Opens the list of runs: seconds until its first rows are there."""
    seconds: list[float] = []
    for _ in range(5):
        page.goto("about:blank")
        started = time.perf_counter()
        page.goto(studio.address, wait_until="commit")
        page.get_by_text(f"{expected:,} runs").first.wait_for()
        page.get_by_role("row").nth(20).wait_for()
        seconds.append(time.perf_counter() - started)
    return {"seconds_median": round(median(seconds), 4), "seconds_max": round(max(seconds), 4)}


def _wait(page: Page, condition: str) -> None:
    """Waits until a JavaScript expression is true. Pages forbid `eval`, which `wait_for_function` needs."""
    while not page.evaluate(condition):
        page.wait_for_timeout(2)
