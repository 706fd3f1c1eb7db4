"""The guide to the charts and the reference of the metrics as HTML pages, without scripts."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from gymnast.errors import Failure
from gymnast.metrics.docs import markdown as metrics_reference
from gymnast.studio.answers import failure_answer
from gymnast.studio.compression import compressed
from gymnast.studio.options import StudioOptions

FOLDER = Path(__file__).parents[1] / "guide"
"""The guide as Markdown, with its pictures."""
CHARTS, METRICS = "reading-charts.md", "metrics.md"
ADDRESSES = {CHARTS: "guide", METRICS: "guide/metrics"}
"""Page -> its address below the prefix. Links to other pages, which do not ship, become plain text."""
STYLE = "style.css"
PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}


def guide_routes(options: StudioOptions) -> list[Route]:
    """Returns the routes of the guide. They need no session: they say nothing about runs."""

    async def charts(request: Request) -> Response:
        return compressed(Response(_charts(options.prefix), media_type="text/html"), request)

    async def metrics(request: Request) -> Response:
        return compressed(Response(_metrics(options.prefix), media_type="text/html"), request)

    async def file(request: Request) -> Response:
        path = request.path_params["path"]
        found = (FOLDER / path).resolve()
        served = found.is_relative_to(FOLDER.resolve()) and found.is_file()
        if served and path == STYLE:
            return FileResponse(found, media_type="text/css")
        if served and found.suffix in PICTURES:
            return FileResponse(found, media_type=PICTURES[found.suffix])
        return failure_answer(Failure("not_found", f"the guide has no {path!r}"))

    return [
        Route("/guide", charts, methods=["GET"]),
        Route("/guide/metrics", metrics, methods=["GET"]),
        Route("/guide/{path:path}", file, methods=["GET"]),
    ]


def anchor(title: str) -> str:
    """Returns the anchor of a heading, as GitHub makes it: `KL` -> `kl`, `Dead units` -> `dead-units`."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@cache
def _charts(prefix: str) -> str:
    return render((FOLDER / CHARTS).read_text(encoding="utf-8"), prefix)


@cache
def _metrics(prefix: str) -> str:
    return render(metrics_reference(), prefix)


def render(text: str, prefix: str) -> str:
    """Returns a Markdown page as HTML. `prefix`: the path below which everything is served."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    text = re.sub(r"<!--.*?-->\n*", "", text, flags=re.S)
    tokens = parser.parse(text)
    title = "gymnast"
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", anchor(_plain_text(inline)))
            title = _plain_text(inline) if opening.tag == "h1" else title
    for token in tokens:
        token.children = _linked(token.children or [], prefix)
    body = parser.renderer.render(tokens, parser.options, {})
    # Wide code scrolls on a phone; the keyboard must reach it too. Text has no tags: html is off.
    body = body.replace("<pre>", '<pre tabindex="0">')
    links = " ".join(
        f'<a href="{escape(prefix + address)}">{name}</a>'
        for address, name in (("", "Runs"), ("guide", "Charts"), ("guide/metrics", "Metrics"))
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        f'<link rel="icon" href="{escape(prefix)}icon.svg">'
        f'<link rel="stylesheet" href="{escape(prefix)}guide/{STYLE}"></head>\n'
        f"<body><nav>{links}</nav>\n<main>\n{body}</main></body></html>\n"
    )


def _plain_text(inline: Token) -> str:
    return "".join(token.content for token in inline.children or [])


def _linked(tokens: list[Token], prefix: str) -> list[Token]:
    """Returns tokens with the addresses of the server; links to pages that do not ship are removed, their
    text stays."""
    kept: list[Token] = []
    dropping = False
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", f"{prefix}guide/{token.attrGet('src')}")
        if token.type == "link_open":
            page, _, section = str(token.attrGet("href")).partition("#")
            name = page.rpartition("/")[2]
            dropping = bool(page) and name not in ADDRESSES
            if page and not dropping:
                token.attrSet(
                    "href", f"{prefix}{ADDRESSES[name]}{f'#{section}' if section else ''}"
                )
        if not (dropping and token.type in ("link_open", "link_close")):
            kept.append(token)
        dropping = dropping and token.type != "link_close"
    return kept
