"""Operations over HTTP: everything that is registered, with checked arguments, and nothing else."""

from __future__ import annotations

import gzip
import json
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import numpy as np
import pytest

from gymnast import api
from gymnast.api import OPERATIONS, READS
from gymnast.api.calling import Success
from gymnast.config.named_code import code_in
from gymnast.errors import EnvError, Failure
from gymnast.records import to_json
from gymnast.serving.calls import PATH_ARGUMENTS, SERVER_ARGUMENTS, call
from gymnast.serving.limits import LIMITS
from gymnast.serving.references import (
    RUN_ARGUMENTS,
    TARGET_ARGUMENTS,
    TARGET_NAMES,
    path_refusal,
)
from gymnast.serving.user_code import CREATES_ENVIRONMENTS
from gymnast.studio.episode_frames import FRAMES
from gymnast.studio.operations import NOT_EXPOSED, exposed
from gymnast.studio.options import StudioOptions
from gymnast.studio.packed import pack
from tests.studio.conftest import Trained
from tests.studio.server import serving
from tests.sweep.synthetic import write_study

TEXTS = {"filter", "after", "search", "x", "names", "kind", "columns", "export_format", "formats", "id",
         "allow", "backends", "older", "status", "include", "tags", "text", "episode", "overrides",
         "assignments", "command", "role", "changes", "session", "keys", "checkpoint",
         "approaches", "env", "file", "around", "chart", "format", "query",
         "arguments", "jobs_on", "provider", "space", "study", "sampler", "mode", "objective", "proposer",
         "wandb"}  # fmt: skip
"""Arguments with texts that name neither a run nor a file."""
FRAME_FUNCTIONS = [function.name for function in FRAMES.values()]
"""Functions with a route of their own, which are no operations."""


def test_every_operation_is_offered_or_has_a_reason_not_to_be():
    assert set(exposed()) | set(NOT_EXPOSED) == set(OPERATIONS)
    assert not set(exposed()) & set(NOT_EXPOSED)


def test_every_argument_with_text_is_known_to_be_a_reference_a_path_or_plain_text():
    """A new argument must be classified, so that none becomes a way to read other files."""
    for name, operation in exposed().items():
        properties = operation.operation.arguments_schema()["properties"]
        assert isinstance(properties, dict)
        for argument, schema in properties.items():
            if "string" not in json.dumps(schema) and "object" not in json.dumps(schema):
                continue
            kinds = [
                argument in RUN_ARGUMENTS,
                argument in TARGET_ARGUMENTS or (argument == "name" and name in TARGET_NAMES),
                argument in (*PATH_ARGUMENTS, *SERVER_ARGUMENTS),
                argument in TEXTS or (argument == "name" and name not in TARGET_NAMES),
            ]
            assert sum(kinds) == 1, f"{name}({argument})"
            assert (argument in operation.arguments) != kinds[2]


READING = [
    "runs",
    "show",
    "events",
    "rows",
    "logs",
    "doctor",
    "jobs",
    "presets",
    "metrics",
    "charts",
]


@pytest.mark.parametrize("name", READING)
def test_get_and_post_return_the_record_of_the_api(
    client: httpx.Client, trained: Trained, name: str
):
    arguments = {"ref": trained.first.id} if "ref" in exposed()[name].arguments else {}
    complete = (
        {**arguments, "runs_dir": str(trained.runs_dir)}
        if "runs_dir" in exposed()[name].server_arguments
        else arguments
    )
    expected = api.call(name, complete)
    assert isinstance(expected, Success)
    assert client.get(f"/api/{name}", params=arguments).json() == to_json(expected.value)
    assert client.post(f"/api/{name}", json=arguments).json() == to_json(expected.value)


def test_lists_mappings_numbers_and_switches_in_a_query(client: httpx.Client, trained: Trained):
    names = ["policy/entropy", "policy/kl"]
    rows = client.get(
        "/api/rows", params={"ref": trained.first.id, "names": names, "last": 2}
    ).json()["rows"]
    assert len(rows) == 2
    assert set(names) <= set(rows[0])
    shown = client.get(
        "/api/config_show",
        params={"name": trained.first.id, "overrides": json.dumps({"algo.gamma": 0.5})},
    )
    assert shown.json()["values"]["algo.gamma"] == 0.5
    texts = client.get(
        "/api/config_show", params={"name": trained.first.id, "overrides": ["algo.gamma=0.25"]}
    )
    assert texts.json()["values"]["algo.gamma"] == 0.25
    assert client.get("/api/runs", params={"sizes": "true"}).json()["runs"][0]["bytes"] is not None


WRONG = [
    ("rows", {"nonsense": 1}, "nonsense"),
    ("rows", {"ref": 5}, "ref"),
    ("rows", {"last": "5"}, "last"),
    ("rows", {"runs_dir": "/"}, "runs_dir"),
    ("rows", {"after": 2**60}, "after"),
    ("report", {"out": "/tmp/x.html"}, "out"),
    ("video", {"grid": "/tmp/x.png"}, "grid"),
    ("compare", {}, "refs"),
    ("task_result", {"id": "task-1", "timeout": 1e9}, "timeout"),
    ("dry_run", {"target": "CartPole-v1", "seeds": 10**9}, "seeds"),
]


@pytest.mark.parametrize(("name", "arguments", "word"), WRONG)
def test_wrong_arguments_are_refused_with_a_clear_message(
    client: httpx.Client, name: str, arguments: dict[str, Any], word: str
):
    response = client.post(f"/api/{name}", json=arguments)
    assert response.status_code == 400
    body = response.json()
    assert set(body) == {"code", "message", "at", "fix"}
    assert word in body["message"]
    assert body["at"] == name


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b'{"last": NaN}', b'{"ref": "\\ud800"}', b"[" * 100_000, b"\xff"]
)
def test_a_body_that_is_no_json_object_is_refused(client: httpx.Client, body: bytes):
    assert client.post("/api/rows", content=body).status_code == 400


def test_a_large_body_is_refused(client: httpx.Client):
    response = client.post("/api/note", json={"ref": "@last", "text": "x" * 2_000_000})
    assert (response.status_code, response.json()["code"]) == (413, "too_large")


def test_statuses_of_errors(client: httpx.Client, trained: Trained):
    assert client.get("/api/show", params={"ref": "nothing"}).status_code == 404
    assert client.post("/api/pause", json={"ref": "nothing"}).status_code == 404
    conflict = client.post("/api/pause", json={"ref": trained.first.id})
    assert (conflict.status_code, conflict.json()["code"]) == (409, "run")
    assert client.get("/api/nothing").status_code == 404
    method = client.get("/api/note")
    assert (method.status_code, method.headers["allow"]) == (405, "POST")
    assert client.put("/api/runs").status_code == 405


PATHS = [
    "/etc",
    "../runs",
    "./x",
    "~",
    "~root",
    "a/b",
    "a\\b",
    "..",
    "runs/../x",
    "x\0y",
    "a/b:best",
    "x.zip",
    "x.zip:best",
]


@pytest.mark.parametrize("argument", [*RUN_ARGUMENTS, *TARGET_ARGUMENTS])
@pytest.mark.parametrize("path", PATHS)
def test_runs_and_presets_are_not_named_by_paths(
    trained: Trained, argument: str, path: str, monkeypatch: pytest.MonkeyPatch
):
    """They are refused even if a directory of this name exists."""
    monkeypatch.chdir(trained.runs_dir)
    (trained.runs_dir / "a" / "b").mkdir(parents=True, exist_ok=True)
    options = StudioOptions(trained.runs_dir)
    for operation in exposed().values():
        if argument in operation.arguments:
            value = _typed(operation.arguments[argument], path)
            result = call(operation, {argument: value}, options)
            assert isinstance(result, Failure)
            assert result.code == "usage", operation.name


def _typed(schema: object, text: str) -> object:
    kinds = json.dumps(schema)
    return {"role": text} if "object" in kinds else [text] if "array" in kinds else text


@pytest.mark.parametrize("target", ["ALE/Pong-v5", "ALE/Pong-v5:ppo", "pettingzoo/butterfly/x_v1"])
def test_environment_ids_with_a_slash_are_no_paths(target: str):
    assert path_refusal("start", {"target": target}) is None
    assert path_refusal("show", {"ref": target}) is not None
    assert path_refusal("show", {"ref": "@best:ALE/Pong-v5"}) is None


CODE: list[Mapping[str, object]] = [
    {"env.id": "py:tests.studio.forbidden_code:Env"},
    {"env": {"id": "pettingzoo/py:tests.studio.forbidden_code"}},
    {"env.id": "tests.studio.forbidden_code:CartPole-v1"},
    {"policy.module": "tests.studio.forbidden_code:Net"},
    {"policy": {"module": "tests.studio.forbidden_code:Net"}},
    {"shaping.terms": {"py:tests.studio.forbidden_code:term": 1.0}},
    {"env.tasks": [{"id": "py:tests.studio.forbidden_code:Env"}]},
    {"env.kwargs": {"xml_file": "/tmp/model.xml"}},
    {"algo.name": "py:tests.studio.forbidden_code:Algorithm"},
]


@pytest.mark.parametrize("settings", CODE, ids=str)
def test_settings_that_name_code_are_found(settings: Mapping[str, object]):
    assert [*code_in(settings)]
    options = StudioOptions(Path("runs"))
    refused = call(exposed()["dry_run"], {"target": "CartPole-v1", "overrides": settings}, options)
    assert isinstance(refused, Failure)
    assert refused.code == "code"
    assert "--allow-code" in refused.fix


def test_settings_of_shipped_presets_name_no_code():
    from gymnast.config.presets import BUILTIN_DIR, all_presets

    for preset in all_presets().values():
        if preset.path is not None and preset.path.parent == BUILTIN_DIR:
            assert [*code_in(preset.data)] == []


def test_no_operation_imports_code_that_a_stored_config_or_a_preset_names(
    copied: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Walks the registry: whatever takes a run or an environment is asked about code without permission."""
    mark = tmp_path / "imported"
    monkeypatch.setenv("IMPORT_MARK", str(mark))
    monkeypatch.setenv("GYMNAST_PRESETS", str(tmp_path / "presets"))
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "mine.yaml").write_text(
        "env: {id: 'py:tests.studio.forbidden_code:Env'}\n"
    )
    run, path = copied.first, "py:tests.studio.forbidden_code"
    config = (run.path / "config.yaml").read_text()
    config = re.sub(r"(?m)^(algo:\n(?:  .*\n)*?  name:) .*$", rf"\1 '{path}:Algorithm'", config)
    config = re.sub(r"(?m)^(env:\n(?:  .*\n)*?  id:) .*$", rf"\1 '{path}:Env'", config)
    assert config.count(path) == 2
    (run.path / "config.yaml").write_text(config)
    run.update(algo=f"{path}:Algorithm")
    study = write_study(copied.runs_dir)
    text = study.space.text.replace(study.space.target, f"CartPole-v1:{path}:Algorithm")
    (study.path / "space.yaml").write_text(text)
    options = StudioOptions(copied.runs_dir)
    refused = set[str]()
    # Workers of the inspector may have been started without the mark, so none is asked at all.
    asked = Mock(side_effect=EnvError("asked"))
    monkeypatch.setattr("gymnast.inspector.client.InspectorPool.call_binary", asked)
    for name, operation in exposed().items():
        tried: list[dict[str, object]] = []
        for target in (f"{path}:Env", f"CartPole-v1:{path}:Algorithm", "mine", run.id):
            arguments = _arguments(operation.arguments, run.id, copied.second.id, target)
            if arguments is None or name in KEPT:
                continue
            if arguments in tried:  # they name no target
                continue
            tried.append(arguments)
            result = call(operation, arguments, options)
            assert not mark.exists(), f"{name} {arguments}"
            assert not asked.called, f"{name} {arguments}"
            if isinstance(result, Failure) and result.code == "code":
                refused.add(name)
            elif operation.operation.effect == "task":
                raise AssertionError(f"{name} {arguments} started a task: {result}")
    assert {"eval", "video", *CREATES_ENVIRONMENTS} - {*FRAME_FUNCTIONS} <= refused
    assert (
        not {"compare", "doctor", "show"} & refused
    )  # reading imports nothing, so it is not refused
    for name, arguments in (("review_runs", {}), ("prompt", {"name": "plan"})):
        result = call(exposed()[name], arguments, options)  # about the last runs
        assert not isinstance(result, Failure), result
        assert not mark.exists()


KEPT = ("remove", "prune", "tag", "note", "sweep_remove", "sweep_stop")
"""Operations that would change what the others are asked about."""


def _arguments(
    known: Mapping[str, object], run: str, other: str, target: str
) -> dict[str, object] | None:
    """Returns arguments that name a run or an environment; None if an operation has none."""
    values: dict[str, object] = {
        "ref": run, "run": run, "refs": [run, other], "source": run, "a": target, "b": other,
        "target": target, "targets": [target], "name": target, "timeout": 0.0,
        "assignments": {"algo.lr": 0.1}, "export_format": "csv", "kind": "eval", "version": 0, "number": 0,
        "space": f"target: '{target}'\nparameters: {{algo.lr: {{choices: [1, 2]}}}}\n", "study": "mine",
    }  # fmt: skip
    if not {"ref", "run", "refs", "a", "target", "targets", "name", "space", "study"} & set(known):
        return None
    return {argument: values[argument] for argument in known if argument in values}


def test_a_read_only_studio_only_reads(copied: Trained):
    with serving(copied.runs_dir, read_only=True) as server, server.client() as browser:
        for name, operation in exposed().items():
            if operation.operation.effect != READS:
                response = browser.post(f"/api/{name}", json={})
                assert (response.status_code, response.json()["code"]) == (403, "read_only"), name
        assert browser.get("/api/runs").status_code == 200
        assert browser.get("/api/session").json()["read_only"] is True


def test_changes_are_made(copied: Trained):
    with serving(copied.runs_dir) as server, server.client() as browser:
        body = {"ref": copied.second.id, "tags": ["good"]}
        assert browser.post("/api/tag", json=body).json()["tags"] == ["good"]
        assert copied.second.info["tags"] == ["good"]
        browser.post("/api/note", json={"ref": copied.second.id, "text": "<b>"})
        assert copied.second.info["note"] == "<b>"
        removal = browser.post("/api/remove", json={"refs": [copied.second.id]})
        assert removal.json()["deleted"] is True
        assert not copied.second.path.exists()


def test_a_task_answers_at_once_and_its_result_can_be_polled(client: httpx.Client):
    started = client.post("/api/check", json={"target": "CartPole-v1", "steps": 50})
    assert started.status_code == 202
    task = started.json()["id"]
    outcome = client.get("/api/task_result", params={"id": task, "timeout": 50}).json()
    assert outcome["state"] == "done"
    assert outcome["result"]["target"].startswith("CartPole-v1")


def test_large_answers_are_compressed_and_small_ones_are_not(client: httpx.Client):
    with client.stream("GET", "/api/presets") as response:
        assert response.headers["content-encoding"] == "gzip"
        raw = b"".join(response.iter_raw())
    plain = client.get("/api/presets", headers={"accept-encoding": "identity"})
    assert gzip.decompress(raw) == plain.content
    assert "content-encoding" not in client.get("/api/session").headers


def test_packed_curves_have_the_numbers_of_the_json(client: httpx.Client, trained: Trained):
    known = exposed()["curves"].arguments
    refs = (
        {"refs": [trained.first.id, trained.second.id]}
        if "refs" in known
        else {"ref": trained.first.id}
    )
    query = refs | {"names": ["policy/entropy", "eval:episode/return"]}
    plain = client.get("/api/curves", params=query).json()
    response = client.get(
        "/api/curves", params=query, headers={"accept": "application/octet-stream"}
    )
    assert response.headers["content-type"] == "application/octet-stream"
    assert unpack(response.content) == plain


def test_a_packed_episode_has_the_table_of_the_json(client: httpx.Client, trained: Trained):
    query = {"ref": trained.first.id}
    plain = client.get("/api/inspect", params=query).json()
    response = client.get(
        "/api/inspect", params=query, headers={"accept": "application/octet-stream"}
    )
    assert response.headers["content-type"] == "application/octet-stream"
    assert unpack(response.content) == plain
    assert len(plain["table"]["reward_raw"]) == plain["info"]["length"]
    (length,) = struct.unpack_from("<I", response.content)
    header = json.loads(response.content[4 : 4 + length])
    assert "$f64" in header["table"]["reward_raw"]


def test_packing_keeps_every_bit():
    values = [0.1, -0.0, 1e-310, 1.7976931348623157e308, 3.0, None]
    record = {"series": [{"key": "ü", "x": values, "y": []}], "range": [1.0, 2.0], "n": 3}
    data = pack(record)
    (length,) = struct.unpack_from("<I", data)
    assert (len(data) - (4 + length + -(4 + length) % 8)) == 8 * len(values)
    found = unpack(data)
    assert found == record
    assert str(found["series"][0]["x"][1]) == "-0.0"


def test_a_list_that_series_share_is_packed_once_and_other_lists_stay_json():
    shared = [1.0, 2.0]
    lists = [["a"], [True], [[1.0], [2.0, 3.0]], [1.0, "nan"]]
    record = {"series": [{"x": shared, "more": more} for more in lists]}
    data = pack(record)
    assert unpack(data) == record
    assert len(data) <= 8 * (len(shared) + 3) + 8 + struct.unpack_from("<I", data)[0] + 4


def unpack(data: bytes) -> Any:
    """Returns the record, read as the layout in `gymnast.studio.packed` says."""
    (length,) = struct.unpack_from("<I", data)
    start = 4 + length + -(4 + length) % 8
    block = np.frombuffer(data, "<f8", offset=start)

    def revived(value: Any) -> Any:
        if isinstance(value, dict) and "$f64" in value:
            offset, count = value["$f64"]
            part = block[offset : offset + count].tolist()
            return [None if number != number else number for number in part]
        if isinstance(value, dict):
            return {key: revived(item) for key, item in value.items()}
        return [revived(item) for item in value] if isinstance(value, list) else value

    return revived(json.loads(data[4 : 4 + length]))


def test_limits_are_those_of_arguments_that_exist():
    known = {argument for operation in exposed().values() for argument in operation.arguments}
    assert set(LIMITS) <= known
