"""The documentation as pages and sections. It ships with the package, so that it fits its version."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from gymnast.errors import UsageError
from gymnast.text.suggestions import did_you_mean

PACKAGE = Path(__file__).parents[1]
FOLDERS = (PACKAGE / "docs", PACKAGE.parent / "docs")
"""The folders of the pages: inside of an installed package, and in a checkout."""
GUIDE = PACKAGE / "guide"
INDEX = "README"
"""The page that lists all others."""
_HEADING = re.compile(r"(#+) (.+)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class DocSection:
    """A heading of a page, with the text below it."""

    name: str
    """`PAGE#ANCHOR`; `PAGE` for the first heading."""
    title: str
    level: int
    """1 for the title of the page."""
    text: str
    """The text up to the next heading, in Markdown."""


@dataclass(frozen=True)
class DocHeading:
    """An entry of the contents of a page."""

    name: str
    """`PAGE#ANCHOR`: pass it to `docs`."""
    title: str


@dataclass(frozen=True)
class DocText:
    """A page of the documentation, or a section of one."""

    name: str
    title: str
    text: str
    """Markdown."""
    headings: list[DocHeading]
    """The sections of the page; all pages for the index."""


def read_docs(name: str = "") -> DocText:
    """Returns a page (`live-control`) or a section with everything below it (`live-control#jobs`); without a
    name, the index. Raises UsageError with the closest names if there is none."""
    page, _, anchor = (name or INDEX).removeprefix("docs/").partition("#")
    page = page.removesuffix(".md")
    pages = all_pages()
    if page not in pages:
        problem = f"there is no page {page!r}{did_you_mean(page, pages)}"
        raise UsageError(problem, fix="`gymnast docs` lists them, `gymnast find` searches them")
    sections = pages[page]
    shown = _with_subsections(sections, f"{page}#{anchor}") if anchor else sections
    headings = [s[0] for s in pages.values()] if page == INDEX else sections[1:]
    return DocText(
        name=shown[0].name,
        title=shown[0].title,
        text="\n\n".join(f"{'#' * s.level} {s.title}\n\n{s.text}".rstrip() for s in shown) + "\n",
        headings=[DocHeading(section.name, section.title) for section in headings],
    )


@cache
def all_pages() -> dict[str, list[DocSection]]:
    """Returns the name of each page -> its sections. Decisions of the project and generated lists of metrics
    are pages too."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    files = {} if folder is None else {_name(file, folder): file for file in folder.rglob("*.md")}
    files |= {_name(file, GUIDE): file for file in GUIDE.rglob("*.md")}
    return {
        name: sections_of(name, files[name].read_text(encoding="utf-8")) for name in sorted(files)
    }


def sections_of(page: str, text: str) -> list[DocSection]:
    """Returns the sections of a page in Markdown, in order. Headings inside of code are none."""
    found: list[tuple[DocSection, list[str]]] = []
    in_code = False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        heading = None if in_code else _HEADING.fullmatch(line)
        if heading is not None:
            title = _plain(heading[2])
            name = f"{page}#{anchor_of(title)}" if found else page
            found.append((DocSection(name, title, len(heading[1]), ""), []))
        elif found:
            found[-1][1].append(line)
    return [replace(section, text="\n".join(lines).strip()) for section, lines in found]


def anchor_of(title: str) -> str:
    """Returns the anchor that GitHub gives to a heading."""
    return _NOT_IN_ANCHOR.sub("", title.lower()).replace(" ", "-")


def first_sentence(text: str, limit: int = 160) -> str:
    """Returns the first sentence of Markdown text without links, on one line."""
    paragraph = next((p for p in text.split("\n\n") if p[:1] not in ("", "|", "`", "<", "!")), "")
    plain = " ".join(_LINK.sub(r"\1", paragraph).lstrip("-# ").split())
    sentence = plain.split(". ")[0].rstrip(".:")
    return sentence if len(sentence) <= limit else f"{sentence[: limit - 1].rsplit(' ', 1)[0]}…"


def _with_subsections(sections: list[DocSection], name: str) -> list[DocSection]:
    """Returns the section of this name and those below it."""
    start = next((i for i, section in enumerate(sections) if section.name == name), None)
    if start is None:
        known = [section.name for section in sections]
        problem = f"there is no section {name!r}{did_you_mean(name, known)}"
        raise UsageError(problem, fix=f"`gymnast docs {sections[0].name}` has them all")
    end = start + 1
    while end < len(sections) and sections[end].level > sections[start].level:
        end += 1
    return sections[start:end]


def _name(file: Path, folder: Path) -> str:
    return file.relative_to(folder).with_suffix("").as_posix()


def _plain(title: str) -> str:
    return _LINK.sub(r"\1", title).replace("`", "").strip()
