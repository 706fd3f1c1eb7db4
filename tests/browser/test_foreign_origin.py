"""A page from another origin can neither read nor change anything, in a browser that is signed in."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from gymnast import api
from tests.browser.studio import Studio, open_page
from tests.small_runs import train_small

pytestmark = pytest.mark.slow

ATTACKS = """
async (target) => {
  const results = {};
  const attempt = async (name, run) => {
    try { results[name] = String(await run()); } catch (error) { results[name] = "refused"; }
  };
  const text = (path, options) => fetch(target + path, options).then((answer) => answer.text());
  const json = { method: "POST", credentials: "include", headers: { "Content-Type": "application/json" } };
  const simple = { method: "POST", credentials: "include", headers: { "Content-Type": "text/plain" } };
  const note = JSON.stringify({ ref: "@last", text: "changed by another page" });
  await attempt("read", () => text("/api/runs", { credentials: "include" }));
  await attempt("read page", () => text("/?format=json", { credentials: "include" }));
  await attempt("session", () => text("/api/session", { credentials: "include" }));
  await attempt("post json", () => text("/api/note", { ...json, body: note }));
  await attempt("post text", () => text("/api/note", { ...simple, body: note }));
  await attempt("post blind", () =>
    fetch(target + "/api/note", { ...simple, mode: "no-cors", body: note }).then((answer) => answer.type));
  await attempt("stream", () => new Promise((resolve, reject) => {
    const source = new EventSource(target + "/api/stream/runs", { withCredentials: true });
    source.onmessage = source.onopen = () => resolve("opened");
    source.addEventListener("runs", () => resolve("received"));
    source.onerror = () => { source.close(); reject(new Error("refused")); };
  }));
  await attempt("script", () => new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = target + "/api/runs";
    script.onload = () => resolve("loaded");
    script.onerror = () => reject(new Error("refused"));
    document.body.append(script);
  }));
  await attempt("frame", () => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.src = target + "/";
    frame.onload = () => {
      try { resolve(frame.contentDocument.body.innerText || "refused"); }
      catch (error) { resolve("refused"); }
    };
    document.body.append(frame);
  }));
  return results;
}
"""


class _Foreign(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Another page</title><body>Another page</body>")

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def foreign_port() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


@pytest.fixture
def signed_in(browser: Browser, studio: Studio) -> Iterator[Page]:
    """A page of the studio in a browser that holds its cookie."""
    train_small("CartPole-v1", {"stop.env_steps": 512}, seed=0)
    page, _ = open_page(browser, studio)
    assert page.evaluate("fetch('api/runs').then((answer) => answer.status)") == 200
    yield page
    page.context.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "attacker.test"])
def test_a_page_of_another_origin_reads_and_changes_nothing(
    host: str, signed_in: Page, studio: Studio, foreign_port: int, runs_dir: Path
) -> None:
    other = signed_in.context.new_page()
    other.goto(f"http://{host}:{foreign_port}/")
    results = other.evaluate(ATTACKS, studio.address)
    # A request without CORS may be sent, but its answer cannot be read, and it must not write the note.
    assert results.pop("post blind") in ("opaque", "refused")
    assert set(results.values()) == {"refused"}, json.dumps(results)
    assert api.show("@last", runs_dir=runs_dir).note == ""


def test_a_foreign_name_of_this_machine_is_refused(signed_in: Page, studio: Studio) -> None:
    other = signed_in.context.new_page()
    answer = other.goto(f"http://attacker.test:{studio.port}/")
    assert answer is not None
    assert answer.status == 421
    same_origin = "fetch('/api/session').then((answer) => answer.status)"
    assert other.evaluate(same_origin) == 421


@pytest.mark.usefixtures("signed_in")
def test_a_link_works_once(browser: Browser, studio: Studio) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(studio.link)
    page.wait_for_function("() => !location.hash.includes('token')")
    assert page.evaluate("fetch('api/runs').then((answer) => answer.status)") == 401
    context.close()


def test_scripts_of_the_page_cannot_read_the_cookie(signed_in: Page) -> None:
    assert signed_in.evaluate("document.cookie") == ""
    (cookie,) = signed_in.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
