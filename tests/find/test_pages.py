"""The documentation as pages and sections: every heading can be read by its name."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from gymnast import api
from gymnast.cli import cli
from gymnast.errors import UsageError
from gymnast.find.pages import all_pages, first_sentence, sections_of
from tests.test_docs import DOCS, GUIDE, anchors

FILES = {
    path.relative_to(folder).with_suffix("").as_posix(): path
    for folder in (DOCS, GUIDE)
    for path in folder.rglob("*.md")
}


def test_every_page_of_the_checkout_is_found_with_its_headings():
    assert set(all_pages()) == set(FILES)
    for page, sections in all_pages().items():
        names = {section.name.partition("#")[2] for section in sections}
        assert names - {""} <= anchors(FILES[page]), page


@pytest.mark.parametrize("page", sorted(FILES))
def test_a_page_is_its_file_and_its_sections_are_parts_of_it(page: str):
    whole = api.docs(page)
    words = FILES[page].read_text(encoding="utf-8").split()
    assert [word.strip("`") for word in whole.text.split() if word.strip("`#")][-5:] == [
        word.strip("`") for word in words if word.strip("`#")
    ][-5:]
    for heading in whole.headings[:3] if page != "README" else ():
        part = api.docs(heading.name)
        assert part.title == heading.title
        assert part.text.strip() in whole.text


def test_a_section_has_its_subsections_and_ends_at_the_next_heading_of_its_level():
    text = "# Page\n\nIntro.\n\n## A\n\none\n\n### A.1\n\n```sh\n# no heading\n```\n\n## B\n\ntwo\n"
    sections = sections_of("page", text)
    assert [(s.name, s.level) for s in sections] == [
        ("page", 1),
        ("page#a", 2),
        ("page#a1", 3),
        ("page#b", 2),
    ]
    assert "# no heading" in sections[2].text


def test_the_index_lists_all_pages():
    index = api.docs()
    assert {heading.name for heading in index.headings} == set(FILES)


def test_wrong_names_are_errors_with_a_suggestion():
    with pytest.raises(UsageError, match="did you mean live-control"):
        api.docs("live-contol")
    with pytest.raises(UsageError, match="did you mean"):
        api.docs("presets#schedule")


def test_a_name_may_be_the_path_of_the_file():
    assert api.docs("docs/live-control.md") == api.docs("live-control")


def test_the_first_sentence_has_no_markup():
    assert first_sentence("See [the guide](guide.md) first. Then train.") == "See the guide first"
    assert first_sentence("| a |\n\nText.") == "Text"
    assert first_sentence("") == ""
    assert len(first_sentence("word " * 100)) <= 160


def test_the_command_prints_markdown():
    assert CliRunner().invoke(cli, ["docs", "presets"]).output.startswith("# ")
