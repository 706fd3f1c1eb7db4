"""Measures pages in Chromium: what they transfer, when their data has arrived, and how long the main thread
is busy."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.studio import CHROMIUM_ARGUMENTS

QUIET_SECONDS = 2.0
"""A page is loaded when it has received no data during this time."""
LONGEST_SECONDS = 60.0
"""A page that is still busy after this time is measured as it is."""
SMALL_BYTES = 2000
"""Smaller answers are not data of charts: some pages ask again and again whether something is new."""


@contextmanager
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*CHROMIUM_ARGUMENTS])
        yield browser
        browser.close()


@contextmanager
def server(
    words: Sequence[str], url: str, environment: dict[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a server until the block ends; the block begins when it answers."""
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(url, timeout=5).read()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise SystemExit(f"{words[0]} did not answer at {url}")
        yield process
    finally:
        process.terminate()
        process.wait(20)


@dataclass
class Traffic:
    """Requests of a page for data, its files excepted."""

    started: float
    last: float = 0.0
    """Time at which the last of them was answered."""
    bytes: int = 0
    """Size of the answers as transferred."""
    requests: int = 0

    @property
    def seconds(self) -> float:
        return self.last - self.started


def measure_loading(page: Page, url: str) -> Traffic:
    """Opens a page and returns its requests for data until it is quiet."""
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    traffic = Traffic(time.perf_counter())
    data: set[str] = set()
    pending: set[str] = set()

    def sent(event: dict[str, Any]) -> None:
        is_stream = "/api/stream/" in event["request"]["url"]  # never answered completely
        if event.get("type") in ("XHR", "Fetch") and not is_stream:
            data.add(event["requestId"])
            pending.add(event["requestId"])

    def finished(event: dict[str, Any]) -> None:
        pending.discard(event["requestId"])
        if event["requestId"] in data and event["encodedDataLength"] >= SMALL_BYTES:
            traffic.last = time.perf_counter()
            traffic.bytes += int(event["encodedDataLength"])
            traffic.requests += 1

    client.on("Network.requestWillBeSent", sent)
    client.on("Network.loadingFinished", finished)
    client.on("Network.loadingFailed", lambda event: pending.discard(event["requestId"]))
    traffic.started = time.perf_counter()
    page.goto(url, wait_until="commit")
    while (now := time.perf_counter()) - traffic.started < LONGEST_SECONDS:
        if now - max(traffic.last, traffic.started) > QUIET_SECONDS and not pending:
            break
        page.wait_for_timeout(50)
    client.detach()
    return traffic


@contextmanager
def main_thread_tasks(
    browser: Browser,
    page: Page,
    milliseconds: list[float],
    cpu_milliseconds: list[float] | None = None,
) -> Iterator[None]:
    """Fills `milliseconds` with the duration of every task of the page's main thread during the block, and
    `cpu_milliseconds` with the CPU time of these tasks, which other processes hardly change."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        browser.start_tracing(page=page, path=path, categories=["toplevel", "__metadata"])
        yield
        browser.stop_tracing()
        events = json.loads(path.read_text())["traceEvents"]
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event.get("name") == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        event
        for event in events
        if event.get("ph") == "X"
        and event["name"].endswith("RunTask")
        and (event["pid"], event["tid"]) in main
    ]
    milliseconds += [event["dur"] / 1000 for event in tasks]
    if cpu_milliseconds is not None:
        cpu_milliseconds += [event.get("tdur", 0) / 1000 for event in tasks]
