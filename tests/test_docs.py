"""The index of the docs is complete, links resolve, and generated tables are up to date."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from gymnast.config.sections import ALGORITHMS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
GUIDE = ROOT / "gymnast" / "guide"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.rglob("*.md")),
    *sorted(GUIDE.rglob("*.md")),
]


def links(page: Path) -> list[str]:
    """Returns the targets of all links and images of a page, without links to other sites."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    return [link for link in found if not link.startswith(("http://", "https://"))]


def anchors(page: Path) -> set[str]:
    """Returns the anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_resolves(page: Path):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.relative_to(ROOT)}: {link} does not exist"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), (
                f"{page.relative_to(ROOT)}: {link} has no such heading"
            )


def test_every_page_is_in_the_index():
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in links(INDEX)}
    missing = [str(p.relative_to(DOCS)) for p in DOCS.rglob("*.md") if p.resolve() not in linked]
    assert [name for name in missing if name != "README.md"] == []


def test_the_index_has_one_line_for_each_page():
    items = re.findall(r"^- .*$", INDEX.read_text(encoding="utf-8"), re.M)
    assert all(re.fullmatch(r"- \[[^\]]+\]\([^)]+\): .+[.?]", item) for item in items)
    first = [links_of[1] for item in items if (links_of := re.match(r"- \[.*?\]\((.*?)\)", item))]
    assert len(set(first)) == len(first)


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", DOCS / "algorithms" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_the_tables_of_an_algorithms_page_are_up_to_date(algo: str):
    """`make docs` writes them again."""
    text = (DOCS / "algorithms" / f"{algo}.md").read_text(encoding="utf-8")
    assert re.findall(r"generated: (\w+)", text) == ["settings", "presets", "metrics"]
    assert generator().page(algo, text) == text
