"""The built front end: its files, and index.html for every page of the app."""

from __future__ import annotations

from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from gymnast.errors import Failure
from gymnast.studio.answers import failure_answer
from gymnast.studio.options import StudioOptions

BASE = '<base href="/"'
"""The tag of index.html whose address is replaced by the path prefix."""


class FrontEnd:
    def __init__(self, options: StudioOptions) -> None:
        self._options = options

    async def respond(self, request: Request) -> Response:
        """Returns a file of the front end; index.html for a page, whose path has no file."""
        path = request.path_params["path"]
        root = self._options.files.resolve()
        file = (root / path).resolve()
        if path and file != root / "index.html" and file.is_relative_to(root) and file.is_file():
            return FileResponse(file)
        if Path(path).suffix and path.startswith("assets/"):
            return failure_answer(Failure("not_found", f"there is no file {path!r}"))
        return self._index(root / "index.html")

    def _index(self, file: Path) -> Response:
        if not file.exists():
            fix = "build it: cd web && npm ci && npm run build"
            return failure_answer(
                Failure("not_found", "the front end is not built", at=str(file), fix=fix)
            )
        page = file.read_text(encoding="utf-8")
        base = f'<base href="{escape(self._options.prefix)}"'
        return Response(page.replace(BASE, base, 1), media_type="text/html")
