"""Reads prompts: Markdown with a front matter that declares their arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass as checked_dataclass

from gymnast.config.source import Source
from gymnast.errors import UsageError
from gymnast.prompts.record import PromptArgument, PromptInfo
from gymnast.review.several import MAX_RUNS
from gymnast.text.suggestions import did_you_mean

FOLDER = Path(__file__).parent
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)


@dataclass(frozen=True)
class PromptFile:
    """A prompt before it is filled."""

    info: PromptInfo
    body: str
    """Markdown with `{{NAME}}` in place of what is filled in."""


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class _Argument:
    description: str
    default: str


@checked_dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class _Header:
    """The front matter of a prompt."""

    title: str
    description: str
    arguments: dict[str, _Argument]
    max_runs: int = MAX_RUNS


@cache
def prompt_files() -> dict[str, PromptFile]:
    """Returns the prompts by name, in alphabetical order."""
    files = sorted(file for file in FOLDER.glob("*.md") if not file.name.startswith("_"))
    return {file.stem: _parse(file) for file in files}


def find_prompt(name: str) -> PromptFile:
    """Returns the prompt with this name. Raises UsageError if there is none."""
    files = prompt_files()
    if name not in files:
        problem = f"no prompt is called {name!r}{did_you_mean(name, files)}"
        raise UsageError(problem, fix=f"use one of {', '.join(files)}")
    return files[name]


@cache
def shared_part(name: str) -> str:
    """Returns a part that all prompts contain: `rules` or `data`."""
    return (FOLDER / f"_{name}.md").read_text(encoding="utf-8").strip()


def _parse(file: Path) -> PromptFile:
    """Returns the prompt in a file of the package."""
    found = _FRONT_MATTER.fullmatch(file.read_text(encoding="utf-8"))
    assert found is not None, f"{file.name} has no front matter"
    header = TypeAdapter(_Header).validate_python(Source.parse(found[1], file.name).data)
    arguments = tuple(
        PromptArgument(name, declared.description, declared.default)
        for name, declared in header.arguments.items()
    )
    info = PromptInfo(file.stem, header.title, header.description, header.max_runs, arguments)
    return PromptFile(info, found[2].strip())
