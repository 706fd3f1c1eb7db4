"""The built front end: its files, and index.html for every page of the app."""

from __future__ import annotations

import mimetypes
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from gymnast.errors import Failure
from gymnast.studio.answers import failure_answer
from gymnast.studio.compression import compressed
from gymnast.studio.options import StudioOptions
from gymnast.studio.pages import PAGES

BASE = '<base href="/"'
"""The tag of index.html whose address is replaced by the path prefix."""
INDEX = "index.html"
ASSETS = "assets/"
"""Folder of the files whose names contain a hash of their content."""
FOREVER = "public, max-age=31536000, immutable"


class FrontEnd:
    def __init__(self, options: StudioOptions) -> None:
        self._root, self._prefix = options.files.resolve(), options.prefix

    def respond(self, request: Request) -> Response:
        """Returns a file of the front end; index.html for a page, whose path has no file."""
        path = request.path_params["path"]
        file = self._find(path)
        if file is not None:
            return self._file(file, path, request)
        if is_file_name(path):
            return failure_answer(Failure("not_found", f"there is no file {path!r}"))
        return self._index(request)

    def _find(self, path: str) -> Path | None:
        if not path or path == INDEX or not path.isprintable():
            return None
        try:
            file = (self._root / path).resolve()
            return file if file.is_relative_to(self._root) and file.is_file() else None
        except OSError:  # a name that is too long
            return None

    def _file(self, file: Path, path: str, request: Request) -> Response:
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        response = Response(file.read_bytes(), media_type=kind)
        if path.startswith(ASSETS):
            response.headers["cache-control"] = FOREVER
        return compressed(response, request)

    def _index(self, request: Request) -> Response:
        file = self._root / INDEX
        if not file.exists():
            fix = "build it: cd web && npm ci && npm run build"
            problem = "the front end is not built"
            return failure_answer(Failure("not_found", problem, at=str(file), fix=fix))
        page = file.read_text(encoding="utf-8")
        base = f'<base href="{escape(self._prefix)}"'
        return compressed(Response(page.replace(BASE, base, 1), media_type="text/html"), request)


def is_file_name(path: str) -> bool:
    """Returns whether a path names a file and not a page: it has a suffix, and is not below a page such as
    run/NAME."""
    first, _, rest = path.partition("/")
    is_page = rest and first in {page.path.partition("/")[0] for page in PAGES}
    return bool(Path(path).suffix) and not is_page
