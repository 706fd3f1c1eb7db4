"""The server over HTTP: who may talk to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from gymnast.mcp.http_server import access_token, create_app, greeting
from gymnast.mcp.options import PATH, McpOptions

LIST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/list",
    "params": {},
}
ACCEPT = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


def post(
    options: McpOptions, headers: dict[str, str], host: str = "127.0.0.1:8766"
) -> httpx.Response:
    with TestClient(create_app(options), base_url=f"http://{host}") as client:
        client.headers.pop("user-agent")
        return client.post(PATH, json=LIST, headers=ACCEPT | headers)


def bearer(options: McpOptions) -> dict[str, str]:
    return {"authorization": f"Bearer {access_token(options)}"}


def test_the_token_opens_the_server(tmp_path: Path):
    options = McpOptions(tmp_path)
    answer = post(options, bearer(options))
    assert answer.status_code == 200
    assert '"name":"runs"' in answer.text


@pytest.mark.parametrize(
    "header",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic abc"}, {"authorization": ""}],
)
def test_without_the_token_every_request_is_refused(tmp_path: Path, header: dict[str, str]):
    answer = post(McpOptions(tmp_path), header)
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthorized"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "tools" not in answer.text


@pytest.mark.parametrize(
    "header",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_pages_of_other_origins_are_refused_even_with_the_token(
    tmp_path: Path, header: dict[str, str]
):
    options = McpOptions(tmp_path)
    answer = post(options, bearer(options) | header)
    assert answer.status_code == 403
    assert answer.json()["code"] == "forbidden"


def test_other_host_names_are_refused_even_with_the_token(tmp_path: Path):
    options = McpOptions(tmp_path)
    refused = post(options, bearer(options), host="rebound.example:8766")
    assert refused.status_code == 421
    proxied = replace(options, allowed_hosts=("rebound.example",))
    assert post(proxied, bearer(proxied), host="rebound.example:8766").status_code == 200


def test_a_token_stays_valid_for_the_same_runs_and_rights_only(tmp_path: Path):
    options = McpOptions(tmp_path)
    assert access_token(options) == access_token(replace(options, port=9))
    others = [
        replace(options, read_only=True),
        replace(options, allow_code=True),
        replace(options, runs_dir=tmp_path / "other"),
    ]
    assert len({access_token(one) for one in (options, *others)}) == 4


def test_the_greeting_has_the_address_and_the_header(tmp_path: Path):
    options = McpOptions(tmp_path, port=1234)
    lines = "\n".join(greeting(options))
    assert "http://127.0.0.1:1234/mcp" in lines
    assert f"Authorization: Bearer {access_token(options)}" in lines
    assert "not encrypted" not in lines
    assert "not encrypted" in "\n".join(greeting(replace(options, host="0.0.0.0")))
