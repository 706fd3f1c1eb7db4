"""Every file uses the field's words and full sentences: the rules of `tests/wording.py`."""

from __future__ import annotations

import click
import pytest

from tests import wording
from tests.config.test_help_texts import COMMANDS
from tests.wording import banned_words, british_spellings, is_fragment


def test_every_file_follows_the_rules():
    found = wording.all_violations(wording.checked_files())
    wrong = [
        f"{name}:{violation.line}: {violation.text}"
        for name, violations in found.items()
        for violation in violations
    ]
    assert wrong == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_follows_the_rules(name: str):
    """Help can be composed from other files than the command's own, so the rendered text is checked."""
    command = COMMANDS[name]
    text = command.get_help(click.Context(command, info_name=name))
    assert [*banned_words(text), *british_spellings(text)] == []
    assert not is_fragment(command.help or "")


@pytest.mark.parametrize(
    "doc",
    [
        "Of what the last actor layer says, [B, k].",
        "As `act`.",
        "Where they are.",
        "What a check found.",
        "Those.",
        "Whose turn it is.",
        "By seed; a seed that was never started has none.",
        "In a row that has the metric.",
        "Before the reset.",
        "When training ends.",
        "Whether the film is there.",
    ],
)
def test_a_fragment_is_found(doc: str):
    assert is_fragment(doc)


@pytest.mark.parametrize(
    "doc",
    [
        "Returns the distribution parameters for the actor outputs, shape [B, k].",
        "Wait until the run has ended.",
        "Inputs of the network.",
        "Ascending order is required.",
        "Offline runs are skipped.",
        "After a fault, the copy is reset.",
        "`as_arrays` inverts this.",
        "",
    ],
)
def test_a_sentence_is_not_a_fragment(doc: str):
    assert not is_fragment(doc)


def test_a_field_or_property_may_open_with_whether_but_a_function_may_not():
    assert not is_fragment("Whether it has ended.", is_field=True)
    source = '''
"""Runs."""
class Run:
    """A run."""
    ended: bool = False
    """Whether it has ended."""
    @property
    def solved(self) -> bool:
        """Whether it is solved."""
    def exists(self) -> bool:
        """Whether it exists."""
'''
    fragments = wording.docstring_fragments(source)
    assert [(v.line, v.text) for v in fragments] == [(11, "docstring fragment: Whether it exists.")]


@pytest.mark.parametrize(
    "text",
    [
        "the run is told to stop",
        "numbers_told = 3",
        "Told of a match",
        "it goes\n    # on",
        "written beside it",
        "a dear step",
        "the update was undone",
        "those that\nship",
        "self.tell(message)",
    ],
)
def test_a_banned_word_is_found(text: str):
    assert banned_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "we recommend an amended setting",
        "besides tanh and relu",
        "the interval goes once",
        "a nearby shear; endearing",
        "position = file.tell()",
        "foretold, retell",
        "it is saidi",
    ],
)
def test_similar_words_are_not_banned(text: str):
    assert not banned_words(text)


def test_spelling_is_american():
    wrong = "normalised colour optimiser centre artefact behaviour analyse randomisation"
    right = (
        "normalized color optimizer center artifact behavior analyze analyses promise precise noise"
    )
    assert [v.text.split(": ")[1] for v in british_spellings(wrong)] == wrong.split()
    assert british_spellings(right) == []
