"""A studio in a child process, and the pages of a real browser that watch it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, StorageState, ViewportSize

from gymnast import api

CHROMIUM_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP attacker.test 127.0.0.1",  # a foreign name for this machine
)
WIDE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Studio:
    """`gymnast studio` for a runs directory, in a child process."""

    def __init__(self, runs: Path, *options: str, port: int | None = None) -> None:
        self.runs, self.port = runs, port or free_port()
        words = ["studio", *options, "--port", str(self.port), "--runs", str(runs)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gymnast", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1"},
        )
        self.link = self._read_link()
        """The address with a one-time token."""
        self.address = self.link.partition("#")[0].rstrip("/")
        self.session: StorageState | None = None
        """The session of the first browser that signed in; a link works once."""

    def through(self, port: int) -> Studio:
        """Returns the same studio as browsers see it through another port of this machine."""
        other = copy(self)
        other.port, other.session = port, None
        other.link = self.link.replace(f":{self.port}/", f":{port}/")
        other.address = self.address.replace(f":{self.port}", f":{port}")
        return other

    def close(self, how: signal.Signals = signal.SIGINT) -> None:
        self.process.send_signal(how)
        self.process.communicate(timeout=20)

    def _read_link(self) -> str:
        assert self.process.stdout is not None
        printed = ""
        for line in self.process.stdout:
            printed += line
            found = [word for word in line.split() if word.startswith("http://")]
            if found:
                return found[0]
        raise AssertionError(f"gymnast studio printed no address:\n{printed}")


@contextmanager
def serving(runs: Path, *options: str, port: int | None = None) -> Iterator[Studio]:
    studio = Studio(runs, *options, port=port)
    try:
        yield studio
    finally:
        if studio.process.poll() is None:
            studio.close()


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Waits for something outside the browser."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has not happened in time"
        time.sleep(0.02)


def stop_all(runs: Path) -> None:
    """Stops every training of a runs directory."""
    for run in api.runs(limit=100, runs_dir=runs).runs:
        if run.status in ("running", "paused", "stalled"):
            api.stop(run.id, runs_dir=runs)


@dataclass
class Watched:
    """Mistakes of a page, recorded while it is open."""

    errors: list[str] = field(default_factory=list[str])
    """Errors on its console, and uncaught exceptions."""
    external: list[str] = field(default_factory=list[str])
    """Requests to another host than the studio's."""


def open_page(
    browser: Browser,
    studio: Studio,
    path: str = "/",
    *,
    expected: Sequence[str] = (),
    **context: object,
) -> tuple[Page, Watched]:
    """Returns a page in a fresh browser profile, signed in through the printed link, or as the first one was.
    `expected`: parts of the errors on the console that the test causes itself, such as a missing run."""
    options = {"viewport": WIDE, "storage_state": studio.session} | context
    page = browser.new_context(**options).new_page()  # pyright: ignore[reportArgumentType]
    watched = Watched()
    page.on("pageerror", lambda error: watched.errors.append(str(error)))

    def record_message(message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in expected):
            watched.errors.append(f"{message.text} ({message.location.get('url')})")

    page.on("console", record_message)

    def record(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.port != studio.port:
            watched.external.append(request.url)

    page.on("request", record)
    if studio.session is None:
        page.goto(studio.link)
        page.wait_for_function("() => !location.hash.includes('token')")
        # Not an operation: before the sign-in it would be refused, which is an error on the console.
        page.wait_for_function(
            "() => fetch('api/session').then((answer) => answer.json()).then((it) => it.signed_in)"
        )
        studio.session = page.context.storage_state()
        if path == "/":
            return page, watched
    page.goto(f"{studio.address}{path}")
    return page, watched


def settle(page: Page) -> None:
    """Waits until the page shows its content instead of skeletons."""
    page.wait_for_function(
        """() => {
          const main = document.querySelector("main") ?? document.body;
          const isLoading = document.querySelector('[aria-label^="Loading"], [aria-busy="true"]');
          return main.innerText.trim() !== "" && !isLoading;
        }"""
    )


WATCH_SHIFTS = """() => {
  window.shifts = [];
  const observer = new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const moved = sources.map(({ node }) => node?.outerHTML?.slice(0, 200)).filter(Boolean);
      if (!hadRecentInput && moved.length) window.shifts.push([value, moved]);
    }
  });
  observer.observe({ type: "layout-shift" });
}"""
"""Records from now on which elements move on the page without the user's doing, in `window.shifts`. The
digits of a number that gets longer are text, not an element."""


def serious_findings(page: Page) -> list[str]:
    """Returns what axe-core calls serious or critical on the page as it is now."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {violation['help']} at {node['target']}: {node.get('failureSummary', '')}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def expect_to_fit(page: Page) -> None:
    """Waits until the page is not wider than its window: charts adapt after a change of its size."""
    page.wait_for_function(
        "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
