"""Resources and prompts."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from gymnast import api
from gymnast.mcp.options import McpOptions
from gymnast.mcp.resources import MAX_BYTES, RESOURCES
from tests.mcp.conftest import Trained
from tests.mcp.sessions import in_memory, tokens


def read(options: McpOptions, uri: str) -> str:
    found = in_memory(options, lambda client: client.read_resource(uri)).contents[0]
    assert isinstance(found, TextResourceContents)
    assert found.mime_type
    return found.text


def refused(options: McpOptions, uri: str) -> dict[str, Any]:
    with pytest.raises(MCPError) as raised:
        read(options, uri)
    assert isinstance(raised.value.error.data, dict)
    return raised.value.error.data


def test_files_of_the_newest_runs_are_listed_and_can_be_read(trained: Trained):
    listed = in_memory(trained.options, lambda client: client.list_resources()).resources
    assert {one.uri.split("/")[3] for one in listed} == {
        trained.first.id,
        trained.second.id,
        trained.match.id,
    }
    for one in listed:
        assert read(trained.options, one.uri)
    templates = in_memory(trained.options, lambda client: client.list_resource_templates())
    assert len(templates.resource_templates) == len(RESOURCES)


def test_files_are_those_on_disk(trained: Trained):
    for name in ("config.yaml", "events.jsonl", "log.txt", "run.json"):
        text = read(trained.options, f"gymnast://runs/first/{name}")
        assert text == (trained.first.path / name).read_text()
    table = read(trained.options, "gymnast://runs/first/metrics.csv")
    assert table == api.rows_csv(trained.first.id, runs_dir=trained.runs_dir)


def test_long_files_are_cut_to_whole_lines_and_say_so(trained: Trained, tmp_path: Path):
    shutil.copytree(trained.runs_dir, tmp_path / "copy")
    options = McpOptions(tmp_path / "copy")
    run = options.runs_dir / trained.first.id
    lines = [f"line {i} {'x' * 100}" for i in range(2000)]
    (run / "log.txt").write_text("\n".join(lines) + "\n")
    text = read(options, "gymnast://runs/first/log.txt")
    note, *shown = text.splitlines()
    assert shown == lines[-len(shown) :]
    missing = len("\n".join(lines)) + 1 - len("\n".join(shown)) - 1
    assert note == f"# left out: {missing:,} earlier bytes"
    assert len(text.encode()) <= MAX_BYTES + 100
    with trained.first.metrics() as store:
        row = list(store.rows())[-1]
    from gymnast.metrics.store import MetricStore

    with MetricStore(run / "metrics.db", "w", attempt=1) as metrics:
        for i in range(300):
            metrics.append(row | {"clock/rollouts": row["clock/rollouts"] + i + 1})
    table = read(options, "gymnast://runs/first/metrics.csv")
    assert table.startswith("# left out: ")
    assert len(table.encode()) <= MAX_BYTES + 100
    rows = list(csv.DictReader(io.StringIO(table.partition("\n")[2])))
    assert float(rows[-1]["clock/rollouts"]) == row["clock/rollouts"] + 300


def test_links_out_of_a_run_and_other_paths_are_refused(trained: Trained, tmp_path: Path):
    shutil.copytree(trained.runs_dir, tmp_path / "copy")
    options = McpOptions(tmp_path / "copy")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    log = options.runs_dir / trained.first.id / "log.txt"
    log.unlink()
    os.symlink(secret, log)
    assert refused(options, "gymnast://runs/first/log.txt")["code"] == "run"
    for uri in (
        "gymnast://runs/first/../../secret",
        "gymnast://runs/%2E%2E/run.json",
        "gymnast://runs/..%2Fcopy/run.json",
        "gymnast://files/first/run.json",
        f"file://{secret}",
        "gymnast://runs/first/checkpoints",
    ):
        assert refused(options, uri)["code"] in ("usage", "run"), uri
    assert refused(options, "gymnast://runs/first/confg.yaml")["closest"] == "config.yaml"


def test_prompts_are_listed_and_filled_within_the_limit(trained: Trained):
    listed = in_memory(trained.options, lambda client: client.list_prompts()).prompts
    assert [one.name for one in listed] == [one.name for one in api.prompts()]
    for one in listed:
        assert one.arguments
        result = in_memory(
            trained.options, lambda client, one=one: client.get_prompt(one.name, {"runs": "first"})
        )
        content = result.messages[0].content
        assert isinstance(content, TextContent)
        assert trained.first.id in content.text
        assert "{{" not in content.text
        assert tokens(result) <= 8000


@pytest.mark.parametrize(
    ("name", "arguments", "nearest"),
    [
        ("debgu", {}, "debug"),
        ("debug", {"run": "first"}, "runs"),
        ("debug", {"runs": "/etc"}, ""),
        ("debug", {"runs": "nothing"}, ""),
    ],
)
def test_a_wrong_prompt_is_an_error_with_fields(
    trained: Trained, name: str, arguments: dict[str, str], nearest: str
):
    with pytest.raises(MCPError) as raised:
        in_memory(trained.options, lambda client: client.get_prompt(name, arguments))
    error = raised.value.error.data
    assert isinstance(error, dict)
    assert json.dumps(error)
    assert error.get("closest", "") == nearest
