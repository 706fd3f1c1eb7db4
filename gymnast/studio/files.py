"""Files of runs: films, pictures and reports."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from gymnast.errors import Failure, GymnastError
from gymnast.runs import layout, store
from gymnast.runs.files import inside
from gymnast.serving.references import path_refusal
from gymnast.serving.threads import run_in_thread
from gymnast.studio.answers import failure_answer
from gymnast.studio.options import StudioOptions

FOLDERS = tuple(file.name.rstrip("/") for file in (layout.VIDEOS, layout.REPORT))
"""Folders of a run whose files are served."""
KINDS = {
    ".mp4": "video/mp4",
    ".png": "image/png",
    ".html": "text/html; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".json": "application/json",
}
"""Suffix -> media type, for the files that are served."""
SANDBOX = "sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'"
"""A report is a page with texts of runs. It gets no scripts and an origin of its own."""


def file_routes(options: StudioOptions) -> list[Route]:
    """Returns the route of the files of runs, with byte ranges, which players of films ask for."""

    async def respond(request: Request) -> Response:
        ref, path = request.path_params["run"], request.path_params["path"]
        refusal = path_refusal("files", {"ref": ref})
        if refusal is not None:
            return failure_answer(refusal)
        try:
            file = await run_in_thread(lambda: find_file(options.runs_dir, ref, path))
        except GymnastError as error:
            return failure_answer(error.to_failure())
        if file is None:
            kinds = ", ".join(KINDS)
            fix = f"files are {kinds} in {' and '.join(FOLDERS)} of a run"
            return failure_answer(Failure("not_found", f"there is no file {path!r}", fix=fix))
        return FileResponse(
            file,
            media_type=KINDS[file.suffix],
            headers={"content-security-policy": SANDBOX},
        )

    return [Route("/files/{run}/{path:path}", respond, methods=["GET"])]


def find_file(runs_dir: Path, ref: str, path: str) -> Path | None:
    """Returns a file of a run; None if there is none or it is not of a kind that is served. Raises RunError
    if there is no such run, and for a link."""
    run, _ = store.resolve(ref, runs_dir)
    parts = path.split("/")
    if len(parts) < 2 or parts[0] not in FOLDERS or not all(_is_plain(part) for part in parts):
        return None
    file = inside(run.path, run.path.joinpath(*parts))
    return file if file.suffix in KINDS and file.is_file() else None


def _is_plain(part: str) -> bool:
    """Returns whether this is a file name, not hidden and not a step to another folder."""
    return bool(part) and not part.startswith(".") and "\\" not in part and part.isprintable()
