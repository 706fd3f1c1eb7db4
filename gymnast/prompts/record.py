"""Prompts as records. Needs neither torch nor gymnasium."""

from __future__ import annotations

from dataclasses import dataclass

from gymnast.review.record import BundlePart


@dataclass(frozen=True)
class PromptArgument:
    """A text that a prompt may be given."""

    name: str
    description: str
    default: str
    """The text that is used if none is given."""


@dataclass(frozen=True)
class PromptInfo:
    """A prompt that can be filled with the data of runs."""

    name: str
    """Its name, such as `debug`: that of its file."""
    title: str
    description: str
    """The task that it gives to an assistant, in one sentence."""
    max_runs: int
    """How many runs it may be about: 1, or several. Without runs, it is about the last ones."""
    arguments: tuple[PromptArgument, ...]
    """Texts besides the runs; all of them are optional."""


@dataclass(frozen=True)
class Prompt:
    """A prompt with all its placeholders filled."""

    name: str
    title: str
    runs: tuple[str, ...]
    """Ids of the runs that it is about, newest first."""
    parts: tuple[BundlePart, ...]
    """The parts of the data about the runs, and what was cut from each."""
    chars: int
    """Size of the text in characters."""
    text: str
    """Markdown: instructions, then the data, of which every line starts with `>`."""
