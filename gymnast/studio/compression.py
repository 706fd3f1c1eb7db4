"""gzip for large answers. It is applied in the thread that made the answer, not in the event loop."""

from __future__ import annotations

import gzip

from starlette.requests import Request
from starlette.responses import Response

MIN_BYTES = 2_000
LEVEL = 4
"""Five times as fast as the default level, for a tenth more bytes."""


def compressed(response: Response, request: Request) -> Response:
    """Returns the response, with its body compressed if it is large and the client accepts that."""
    accepted = request.headers.get("accept-encoding", "")
    if "gzip" not in accepted or len(response.body) < MIN_BYTES:
        return response
    response.body = gzip.compress(response.body, LEVEL, mtime=0)
    response.headers["content-length"] = str(len(response.body))
    response.headers["content-encoding"] = "gzip"
    response.headers.add_vary_header("accept-encoding")
    return response
