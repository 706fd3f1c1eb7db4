"""The routes of the server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from gymnast.errors import GymnastError, UsageError
from gymnast.jobs import status
from gymnast.serving.references import path_refusal
from gymnast.serving.threads import run_in_thread
from gymnast.studio.answers import failure_answer
from gymnast.studio.messages import RETRY
from gymnast.studio.options import StudioOptions
from gymnast.studio.run_stream import Cursors, RunStream, watch_run
from gymnast.studio.runs_stream import RunList, runs_messages
from gymnast.studio.watch import Stamp, Watch

RUN_PARAMETERS = ("rows", "attempt", "events", "log")


class Streams:
    """The open streams: one watch per run that somebody follows, and one of the list of runs."""

    def __init__(self, options: StudioOptions) -> None:
        self._options = options
        self._list = RunList(options.runs_dir)
        self._list_watch = Watch(self._list.poll)
        self._watches: dict[Path, Watch[dict[str, Stamp]]] = {}

    def routes(self) -> list[Route]:
        return [
            Route("/api/stream/runs", self._runs, methods=["GET"]),
            Route("/api/stream/run/{run}", self._run, methods=["GET"]),
        ]

    def close(self) -> None:
        """Ends all streams, so that the server can end."""
        for watch in (self._list_watch, *self._watches.values()):
            watch.close()

    async def _runs(self, request: Request) -> Response:
        last = request.headers.get("last-event-id", "")
        return _stream(runs_messages(self._list, self._list_watch, last))

    async def _run(self, request: Request) -> Response:
        ref = request.path_params["run"]
        refusal = path_refusal("stream/run", {"ref": ref})
        if refusal is not None:
            return failure_answer(refusal)
        try:
            cursors = _cursors(request)
            run = await run_in_thread(lambda: status.find(ref, self._options.runs_dir))
        except GymnastError as error:
            return failure_answer(error.to_failure())
        return _stream(self._run_messages(Path(run.path), cursors))

    async def _run_messages(self, run_dir: Path, cursors: Cursors) -> AsyncIterator[bytes]:
        watch = self._watches.setdefault(run_dir, watch_run(run_dir))
        try:
            async for text in RunStream(run_dir, watch, cursors).messages():
                yield text
        finally:
            if watch.is_idle and self._watches.get(run_dir) is watch:
                del self._watches[run_dir]


def _stream(messages: AsyncIterator[bytes]) -> Response:
    async def texts() -> AsyncIterator[bytes]:
        yield RETRY
        async for text in messages:
            yield text

    return StreamingResponse(
        texts(),
        media_type="text/event-stream",
        headers={"x-accel-buffering": "no"},  # nginx would collect messages
    )


def _cursors(request: Request) -> Cursors:
    """Returns what the page has: by its Last-Event-ID if it reconnects, else by the parameters. Raises
    UsageError for invalid ones."""
    last = request.headers.get("last-event-id")
    if last:
        return Cursors.parse(last)
    parameters = request.query_params
    unknown = [name for name in parameters if name not in RUN_PARAMETERS]
    if unknown:
        fix = f"use {', '.join(RUN_PARAMETERS)}"
        raise UsageError(f"unknown parameter {unknown[0]!r}", at="stream/run", fix=fix)
    numbers = [parameters.get(name) or None for name in ("rows", "attempt", "events")]
    if not all(number is None or number.isdecimal() for number in numbers):
        raise UsageError("rows, attempt and events must be numbers", at="stream/run")
    rows, attempt, events = (None if number is None else int(number) for number in numbers)
    return Cursors(rows, attempt, events, parameters.get("log"))
