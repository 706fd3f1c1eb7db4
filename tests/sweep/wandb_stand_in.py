"""A stand-in for a W&B server on the loopback interface: it answers the requests that the installed client
makes for an agent and for the runs of a sweep, and records them."""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

API_KEY = "0123456789abcdef0123456789abcdef01234567"
"""A key in the form that the client expects; no server knows it."""
_VIEWER = {
    "viewer": {
        **{"id": "u1", "username": "me", "entity": "team", "email": "me@example.org"},
        **{"flags": "{}", "teams": {"edges": []}},
    }
}


class StandIn:
    """The state of the server: one sweep, the commands that its agent will get, and what it has received."""

    def __init__(self, sweep: str = "s1", config: str = "") -> None:
        self.sweep, self.config = sweep, config
        self.commands: list[Sequence[Mapping[str, Any]]] = []
        """The answer to each heartbeat, in order; after them, `exit` once no run is reported as running."""
        self.requests: list[tuple[str, dict[str, Any]]] = []
        """The name of each GraphQL operation, and its variables."""
        self.documents: dict[str, str] = {}
        """Name of an operation -> its GraphQL text."""
        self.runs: dict[str, dict[str, Any]] = {}
        """Id of a run -> the variables with which the client reported it: config, sweep, project."""
        self.history: dict[str, list[dict[str, Any]]] = {}
        """Id of a run -> its rows."""
        self.exit_codes: dict[str, int] = {}
        """Id of a run -> the exit code that the client reported."""
        self.address = ""
        self.is_deleted = False
        self.key = API_KEY

    def variables(self, operation: str) -> list[dict[str, Any]]:
        return [variables for name, variables in self.requests if name == operation]

    def answer(self, request: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        """Returns the HTTP status and the `data` of a GraphQL request."""
        query, variables = str(request["query"]), dict(request.get("variables") or {})
        named = re.search(r"(?:query|mutation)\s+(\w+)", query)
        name = named[1] if named else ""
        self.requests.append((name, variables))
        self.documents[name] = " ".join(query.split())
        if name in ("Viewer", "GetDefaultEntity"):
            return 200, _VIEWER
        if name == "GetSweep":
            known = variables["name"] == self.sweep and not self.is_deleted
            return 200, {"project": {"sweep": self._sweep() if known else None}}
        if name == "CreateAgent":
            return 200, {"createAgent": {"agent": {"id": "agent-1"}}}
        if name == "Heartbeat":
            return self._heartbeat(variables)
        if name == "UpsertBucket":
            return 200, self._upsert(variables)
        if name == "CreateRunFiles":
            files = [
                {"name": file, "uploadUrl": f"{self.address}/files"} for file in variables["files"]
            ]
            return 200, {"createRunFiles": {"runID": "id1", "uploadHeaders": [], "files": files}}
        return 200, {}

    def _sweep(self) -> dict[str, Any]:
        texts = ("displayName", "description", "bestLoss", "updatedAt", "runCountExpected")
        return {
            **dict.fromkeys(texts),
            **{"__typename": "Sweep", "id": "id1", "name": self.sweep, "method": "random"},
            **{"state": "RUNNING", "config": self.config, "createdAt": "2026-01-01T00:00:00Z"},
            "runCount": 0,
        }

    def _heartbeat(self, variables: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        if self.is_deleted:
            return 404, {}
        running = json.loads(variables["runState"])
        commands: Sequence[Mapping[str, Any]] = [] if running else [{"type": "exit"}]
        if self.commands and (not running or (self.commands[0] and _is_stop(self.commands[0]))):
            commands = self.commands.pop(0)
        answer = {"agent": {"id": "agent-1"}, "commands": json.dumps(list(commands))}
        return 200, {"agentHeartbeat": answer}

    def _upsert(self, variables: Mapping[str, Any]) -> Mapping[str, Any]:
        run = self.runs.setdefault(variables["name"], {})
        run.update({key: value for key, value in variables.items() if value is not None})
        bucket = {
            **{"id": variables["name"], "name": variables["name"], "displayName": "a run"},
            **{
                "description": None,
                "config": run.get("config", "{}"),
                "sweepName": run.get("sweep"),
            },
            "project": {"name": run.get("project"), "entity": {"name": run.get("entity")}},
            "historyLineCount": 0,
        }
        return {"upsertBucket": {"bucket": bucket, "inserted": True}}

    def stream(self, run_id: str, content: Mapping[str, Any]) -> None:
        """Stores rows and the end of a run, from its file stream."""
        history = (content.get("files") or {}).get("wandb-history.jsonl") or {}
        rows = [json.loads(line) for line in history.get("content", ())]
        self.history.setdefault(run_id, []).extend(rows)
        if content.get("complete"):
            self.exit_codes[run_id] = content.get("exitcode", 0)


def _is_stop(commands: Sequence[Mapping[str, Any]]) -> bool:
    return any(command["type"] == "stop" for command in commands)


@contextmanager
def serve(stand_in: StandIn) -> Iterator[str]:
    """Serves the stand-in, and yields its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None: ...

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            status, answer = 200, {}
            if not self._is_allowed():
                status = 401
            elif self.path.endswith("/graphql"):
                status, found = stand_in.answer(json.loads(data))
                answer = {"data": found} if status == 200 else {"errors": [{"message": "no"}]}
            elif found := re.search(r"/([^/]+)/file_stream$", self.path):
                stand_in.stream(found[1], json.loads(data))
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PUT = do_POST

        def _is_allowed(self) -> bool:
            expected = base64.b64encode(f"api:{stand_in.key}".encode()).decode()
            given = self.headers.get("Authorization")
            return given is None or given == f"Basic {expected}"

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stand_in.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield stand_in.address
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
