"""Frames of stored episodes in binary, and the process that renders them."""

from __future__ import annotations

from typing import cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gymnast.api import READS, Operation
from gymnast.api.episodes import EpisodePage
from gymnast.errors import Failure
from gymnast.inspector.client import default_pool
from gymnast.inspector.frames_record import FrameSet
from gymnast.serving.calls import Exposed, call
from gymnast.serving.threads import run_in_thread
from gymnast.studio.answers import failure_answer
from gymnast.studio.options import StudioOptions
from gymnast.studio.packed import MEDIA_TYPE
from gymnast.studio.requests import UnusableRequest, query_arguments

FRAMES = {
    "/api/episode-frames": Exposed(Operation("episode_frames", READS, "inspector")),
    "/api/branch-frames": Exposed(Operation("branch_frames", READS, "decisions")),
}
"""Path of a route -> the function behind it. It is none of the operations, since bytes have no JSON form."""
MISMATCH_HEADER = "x-replay-mismatch"
"""Header with the number of the first step at which the replay differs from the episode."""


def frames_routes(options: StudioOptions) -> list[Route]:
    """Returns the routes of frames."""
    return [_frames_route(path, function, options) for path, function in FRAMES.items()]


def _frames_route(path: str, function: Exposed, options: StudioOptions) -> Route:
    """Returns the route of a function that returns frames, with the checks of an operation."""

    async def endpoint(request: Request) -> Response:
        query = request.query_params.multi_items()

        def run() -> Response:
            try:
                arguments = query_arguments(function, query)
            except UnusableRequest as error:
                return failure_answer(error.failure)
            value = call(function, arguments, options, is_query=True)
            if isinstance(value, Failure):
                return failure_answer(value)
            frames, payload = cast("tuple[FrameSet, bytes]", value)
            found = {} if frames.mismatch is None else {MISMATCH_HEADER: str(frames.mismatch)}
            return Response(payload, media_type=MEDIA_TYPE, headers=found)

        return await run_in_thread(run)

    return Route(path, endpoint, methods=["GET"])


def warm_inspector(value: object, options: StudioOptions) -> None:
    """Starts the process that opens episodes, when a page has read the list of them."""
    if isinstance(value, EpisodePage):
        default_pool().warm(str((options.runs_dir / value.run).resolve()))
