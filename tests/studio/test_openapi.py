"""The OpenAPI document describes the server: schemathesis sends requests and compares the answers."""

from __future__ import annotations

import json
import re
import shutil
from functools import cache
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from gymnast.api import READS
from gymnast.studio.openapi import description
from gymnast.studio.operations import exposed
from gymnast.studio.pages import PAGES
from tests.studio.conftest import Trained
from tests.studio.server import Server, serving
from tests.studio.test_security import ROUTES
from tests.waiting import PATIENCE

NOT_FUZZED = {
    "start": "trains",
    "dry_run": "creates environments in a child process per request",
    "settings_form": "creates environments in a child process per request",
    "config_show": "creates environments in a child process per request",
    "config_diff": "creates environments in a child process per request",
    "report": "draws pictures for seconds per request",
}
"""Operation -> why it is not sent random arguments. Tasks are not either: each starts a process."""
FUZZED = [
    f"/api/{name}"
    for name, operation in exposed().items()
    if name not in NOT_FUZZED and operation.operation.effect != "task"
]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 3


def test_every_route_is_described():
    document: Any = description("/")
    described = {path.replace("{path}", "{path:path}") for path in document["paths"]}
    pages = {f"/{page.path}" for page in PAGES}
    undescribed = ("/api/{path:path}", "/{path:path}", "/openapi.json")
    for _, path in ROUTES:
        if path not in undescribed and not path.startswith("/guide"):
            assert path in described, path
    assert pages <= described


def test_the_document_is_served_and_names_every_operation(client: httpx.Client):
    document = client.get("/openapi.json").json()
    for name, operation in exposed().items():
        path = document["paths"][f"/api/{name}"]
        assert set(path) == ({"get", "post"} if operation.operation.effect == READS else {"post"})
        properties = path["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert set(properties["properties"]) == set(operation.arguments)
    text = client.get("/openapi.json").text
    references = set(re.findall(r'"\$ref":"#/components/schemas/([^"]+)"', text))
    assert references <= set(document["components"]["schemas"])


@pytest.fixture(scope="module")
def fuzzed(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server over a copy of the runs, which random requests may change."""
    runs_dir = tmp_path_factory.mktemp("fuzzed") / "runs"
    shutil.copytree(trained.runs_dir, runs_dir)
    with serving(runs_dir) as server:
        yield server


@cache
def served_document() -> Any:
    """Returns the description of the server as a client reads it."""
    return json.loads(json.dumps(description("/")))


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("path", FUZZED)
def test_random_requests_are_answered_as_described(fuzzed: Server, path: str, mode: GenerationMode):
    document = served_document()
    schema = schemathesis.openapi.from_dict({**document, "paths": {path: document["paths"][path]}})
    cookie = f"{fuzzed.sessions.cookie}={fuzzed.sessions.issue()}"
    for found in schema.get_all_operations():
        strategy = found.ok().as_strategy(mode)

        @settings(
            max_examples=EXAMPLES,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def send(case: schemathesis.Case) -> None:
            case.call_and_validate(
                base_url=fuzzed.options.address,
                headers={"cookie": cookie},
                checks=CHECKS,
                timeout=PATIENCE,
            )

        send()
