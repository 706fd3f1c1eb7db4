"""The definitions of the tools: short, complete, and true about what a tool may do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from mcp_types import ListToolsResult

from gymnast.mcp.options import McpOptions
from gymnast.mcp.server import create_server, offered_tools
from gymnast.mcp.tools import TOOLS
from tests.mcp.sessions import in_memory, tokens

MAX_TOKENS = 3000
"""All definitions together."""
OPTIONS = McpOptions(Path("runs"))
DOCS = Path(__file__).parents[2] / "docs" / "mcp.md"


def listed(options: McpOptions = OPTIONS) -> ListToolsResult:
    return in_memory(options, lambda client: client.list_tools())


def test_all_definitions_together_have_at_most_3000_tokens():
    assert tokens(listed()) <= MAX_TOKENS
    assert create_server(OPTIONS).instructions
    assert len(str(create_server(OPTIONS).instructions)) / 4 < 200


def test_every_tool_has_a_description_and_a_valid_schema_of_its_arguments():
    tools = {tool.name: tool for tool in listed().tools}
    assert list(tools) == list(TOOLS)
    for tool in tools.values():
        assert tool.description
        assert 40 < len(tool.description) < 450
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        if tool.output_schema is not None:
            jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema["type"] == "object"


def test_only_tools_that_answer_with_pictures_or_text_have_no_output_schema():
    without = {tool.name for tool in listed().tools if tool.output_schema is None}
    assert without == {"frame", "chart"}
    texts = listed(replace(OPTIONS, text=True))
    assert all(tool.output_schema is None for tool in texts.tools)
    assert tokens(texts) < tokens(listed())


def test_reading_tools_are_annotated_and_the_one_that_deletes_is_destructive():
    for tool in listed().tools:
        assert tool.annotations is not None
        reads = TOOLS[tool.name].effect == "reads"
        assert bool(tool.annotations.read_only_hint) == reads
        assert bool(tool.annotations.destructive_hint) == (tool.name == "control")
        assert tool.annotations.open_world_hint is False


def test_a_read_only_server_lists_only_the_tools_that_read():
    options = replace(OPTIONS, read_only=True)
    assert set(offered_tools(options)) == set(TOOLS) - {"train", "control"}
    assert [tool.name for tool in listed(options).tools] == list(offered_tools(options))


@pytest.mark.parametrize("name", TOOLS)
def test_the_documentation_has_every_tool_with_its_arguments(name: str):
    rows = [line for line in DOCS.read_text().splitlines() if line.startswith(f"| `{name}`")]
    assert len(rows) == 1
    for parameter in TOOLS[name].parameters:
        assert f"`{parameter.name}`" in rows[0], parameter.name


def test_the_definitions_are_the_same_in_every_listing():
    """Clients keep them in a cache of their prompts, which any change empties."""
    first, second = (json.dumps(listed().model_dump(mode="json")) for _ in range(2))
    assert first == second
