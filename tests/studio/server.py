"""A studio's server in a thread of the test, on a free port."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette

from gymnast.studio.app import create_app
from gymnast.studio.options import StudioOptions
from gymnast.studio.server import StudioServer, listen
from gymnast.studio.session import Sessions
from tests.waiting import PATIENCE

INDEX = '<!doctype html><head><base href="/"><title>studio</title></head>'


@dataclass(frozen=True)
class Server:
    options: StudioOptions
    app: Starlette

    @property
    def sessions(self) -> Sessions:
        return self.app.state.sessions

    def client(self, *, signed_in: bool = True, **headers: str) -> httpx.Client:
        """Returns a client of the server, as a browser that has signed in or not."""
        if signed_in:
            headers["cookie"] = f"{self.sessions.cookie}={self.sessions.issue()}"
        # Otherwise each client would load the certificates, which takes longer than most requests.
        return httpx.Client(
            base_url=self.options.address, headers=headers, timeout=PATIENCE, verify=False
        )


def built_files(folder: Path) -> Path:
    """Writes a front end with one hashed file, and returns its directory."""
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(INDEX)
    (folder / "icon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "assets" / "app-1a2b.js").write_text("console.log(1)\n" * 400)
    return folder


@contextmanager
def serving(runs_dir: Path, files: Path | None = None, **options: Any) -> Iterator[Server]:
    """Serves a runs directory while inside."""
    chosen = StudioOptions(runs_dir, port=options.pop("port", 20_000), **options)
    listener = listen(chosen, any_port=True)
    chosen = replace(chosen, port=listener.getsockname()[1], files=files or chosen.files)
    app = create_app(chosen)
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = StudioServer(config, chosen, app.state.streams, app.state.activity)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield Server(chosen, app)
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@dataclass(frozen=True)
class Message:
    event: str
    data: Any
    id: str


def messages(response: httpx.Response) -> Iterator[Message]:
    """Yields the messages of a stream of server-sent events; comments are skipped."""
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if not line:
            if "data" in fields:
                data = json.loads(fields["data"])
                yield Message(fields["event"], data, fields.get("id", ""))
            fields = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
