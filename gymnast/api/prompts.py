"""Prompts for assistants, filled with the data of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnast.api.review import DEFAULT_LAST
from gymnast.prompts.fill import DEFAULT_BUDGET, fill
from gymnast.prompts.prompt_file import prompt_files
from gymnast.prompts.record import Prompt, PromptInfo
from gymnast.runs import store
from gymnast.runs.store import RunsDir


def prompts() -> list[PromptInfo]:
    """Returns the prompts that are shipped, with their arguments."""
    return [file.info for file in prompt_files().values()]


def prompt(
    name: str,
    refs: Sequence[str] = (),
    *,
    arguments: Mapping[str, str] | None = None,
    budget: int = DEFAULT_BUDGET,
    runs_dir: RunsDir = None,
) -> Prompt:
    """Returns a prompt for an assistant: instructions, and the data of the runs as quoted lines, without
    names and secrets.

    `name`: one of the names that `prompts` returns; `refs`: runs, or groups of seeds unless the prompt is
    about one run, by default the last ones; `arguments`: texts by the name that the prompt declares;
    `budget`: maximum size in characters. Data that does not fit is cut, the least important part first."""
    given = dict(arguments or {})
    return fill(name, refs, DEFAULT_LAST, given, budget, store.runs_dir(runs_dir))
