"""Prompts: the texts that ship with gymnast, filled with the data of runs."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types

from gymnast import api
from gymnast.mcp.answer import BYTES_PER_TOKEN, MAX_TOKENS
from gymnast.mcp.context import ToolContext
from gymnast.mcp.problem import unknown
from gymnast.prompts.record import PromptInfo

RUNS = "runs"
"""The argument that names runs; several are separated by spaces."""
MAX_CHARS = MAX_TOKENS * BYTES_PER_TOKEN - 2000


def list_prompts(context: ToolContext) -> list[types.Prompt]:
    """Returns the prompts with their arguments."""
    return [
        types.Prompt(
            name=info.name,
            title=info.title,
            description=info.description,
            arguments=[
                types.PromptArgument(name=RUNS, description=_runs_text(info), required=False),
                *(
                    types.PromptArgument(name=one.name, description=one.description, required=False)
                    for one in info.arguments
                ),
            ],
        )
        for info in context.ask(api.prompts)
    ]


def get_prompt(context: ToolContext, name: str, given: Mapping[str, str]) -> types.GetPromptResult:
    """Returns a prompt, filled. Raises ToolError for an unknown prompt, argument or run."""
    info = next((one for one in context.ask(api.prompts) if one.name == name), None)
    known = [RUNS, *(one.name for one in info.arguments)] if info else []
    for argument in given if info else ():
        if argument not in known:
            fix = f"its arguments are: {', '.join(known)}"
            raise unknown(argument, known, f"unknown argument {argument!r}", at=name, fix=fix)
    texts = {key: value for key, value in given.items() if key != RUNS}
    refs = given.get(RUNS, "").replace(",", " ").split()
    filled = context.ask(api.prompt, name, refs, arguments=texts, budget=MAX_CHARS)
    message = types.PromptMessage(role="user", content=types.TextContent(text=filled.text))
    return types.GetPromptResult(description=filled.title, messages=[message])


def _runs_text(info: PromptInfo) -> str:
    return "a run" if info.max_runs == 1 else f"up to {info.max_runs} runs, separated by spaces"
