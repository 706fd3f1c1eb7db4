"""A studio in a child process, and the pages of a real browser that watch it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Request

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
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


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


@dataclass
class Watched:
    """Mistakes of a page, recorded while it is open."""

    errors: list[str] = field(default_factory=list[str])
    """Errors on its console, and uncaught exceptions."""
    external: list[str] = field(default_factory=list[str])
    """Requests to another host than the studio's."""


def open_page(browser: Browser, studio: Studio, **context: object) -> tuple[Page, Watched]:
    """Returns a page in a fresh browser profile, signed in through the printed link."""
    page = browser.new_context(**({"viewport": WIDE} | context)).new_page()  # pyright: ignore[reportArgumentType]
    watched = Watched()
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on(
        "console",
        lambda message: watched.errors.append(message.text) if message.type == "error" else None,
    )

    def record(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.port != studio.port:
            watched.external.append(request.url)

    page.on("request", record)
    page.goto(studio.link)
    page.wait_for_function("!location.hash.includes('token')")
    return page, watched


def serious_findings(page: Page) -> list[str]:
    """Returns what axe-core calls serious or critical on the page as it is now."""
    found = Axe().run(page).response["violations"]
    return [
        f"{violation['id']}: {violation['help']} at {node['target']}: {node.get('failureSummary', '')}"
        for violation in found
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def overflow(page: Page) -> int:
    """Returns by how many pixels the page is wider than its window."""
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
