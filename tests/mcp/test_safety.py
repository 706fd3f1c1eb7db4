"""No call can leave the runs directory, import code, or exceed the limits of the server."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gymnast import api
from gymnast.api import OPERATIONS
from gymnast.mcp.options import McpOptions
from gymnast.mcp.tools import TOOLS
from tests.mcp.conftest import Trained
from tests.mcp.sessions import ask, call, failure, text_of

OUTSIDE = [
    "/etc",
    "../runs",
    "~/runs",
    "./first",
    "runs/first",
    "first/../../etc",
    "first/checkpoints",
    "bundle.zip",
    "config.yaml:best",
    "C:\\runs",
    "logs/ppo_sb3/",
    "wandb:entity/project/run",
    "a\nb",
]
ENV_LIKE = ("runs/first", "first/checkpoints")
RUN_ARGUMENTS = {"run", "runs", "resume", "source", "target", "against"}


def required(tool: str) -> dict[str, Any]:
    """Returns valid arguments of a tool, without arguments that name runs."""
    return {"control": {"action": "stop"}}.get(tool, {})


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("path", OUTSIDE)
def test_no_argument_of_any_tool_accepts_a_path(trained: Trained, tool: str, path: str):
    for parameter in TOOLS[tool].parameters:
        if parameter.name not in RUN_ARGUMENTS:
            continue
        given: dict[str, Any] = {"target": "CartPole-v1"} if tool in ("config", "train") else {}
        given |= required(tool) | {parameter.name: [path] if parameter.is_list else path}
        if parameter.name == "resume":
            del given["target"]
        if parameter.name in ("target", "against") and path in ENV_LIKE:
            continue  # it may be the id of an environment, as ALE/Pong-v5 is
        error = failure(trained.options, tool, **given)
        assert error["code"] in ("usage", "config", "run"), error
        # refused as a path, before anything is read
        words = ("looks like a path", "names a file", "cannot be printed", "of another program")
        assert any(word in error["message"] for word in words), (tool, parameter.name, error)


def test_every_argument_that_names_a_run_is_known():
    """A new argument must be named here if it refers to runs, or be a plain text."""
    texts = {
        "query",
        "kind",
        "read",
        "cursor",
        "filter",
        "detail",
        "view",
        "algo",
        "keys",
        "at",
        "name",
    }
    texts |= {
        "action",
        "tags",
        "text",
        "names",
        "x",
        "columns",
        "role",
        "format",
        "overrides",
        "settings",
        "search",
    }
    for tool in TOOLS.values():
        for parameter in tool.parameters:
            if parameter.kind in (str, dict):
                assert (parameter.name in RUN_ARGUMENTS) != (parameter.name in texts), (
                    parameter.name
                )


CODE = [
    ("train", {"target": "py:os:system"}),
    ("train", {"target": "CartPole-v1", "overrides": {"policy.module": "os:system"}}),
    ("train", {"target": "CartPole-v1", "overrides": {"policy": {"module": "os:system"}}}),
    ("train", {"target": "CartPole-v1", "algo": "py:os:system"}),
    ("config", {"target": "py:os:system"}),
    (
        "config",
        {"target": "CartPole-v1", "overrides": {"env.id": "os:CartPole-v1"}, "dry_run": True},
    ),
    ("train", {"target": "CartPole-v1", "overrides": {"traces.data": "/etc"}}),
    ("train", {"target": "py:os:system", "search": "default"}),
    ("train", {"target": "CartPole-v1", "search": "target: py:os:system\nparameters: {}\n"}),
    (
        "train",
        {
            "target": "CartPole-v1",
            "search": "parameters: {algo.lr: {choices: [1, 2]}}\n",
            "overrides": {"policy.module": "os:system"},
        },
    ),
]


@pytest.mark.parametrize(("tool", "arguments"), CODE)
def test_code_of_others_is_not_imported(trained: Trained, tool: str, arguments: dict[str, Any]):
    error = failure(trained.options, tool, **arguments)
    assert error["code"] == "code"
    assert "--allow-code" in error["fix"]
    assert api.jobs(runs_dir=trained.runs_dir) == []


def test_the_time_of_a_training_is_limited_by_its_own_setting(tmp_path: Path):
    options = McpOptions(tmp_path / "runs", max_minutes=0.5, max_jobs=1)
    asked = [5, "off", "1k", 0.51]
    for minutes in asked:
        for overrides in ({"stop.minutes": minutes}, {"stop": {"minutes": minutes}}):
            error = failure(options, "train", target="CartPole-v1", overrides=overrides)
            assert error["code"] == "limit", (minutes, error)
            assert error["at"] == "stop.minutes"
    assert api.jobs(runs_dir=options.runs_dir) == []
    invalid = failure(options, "train", target="CartPole-v1", overrides={"stop.minutes": -1})
    assert invalid["code"] == "config"


def test_resuming_and_changing_a_run_are_limited_too(trained: Trained, tmp_path: Path):
    shutil.copytree(trained.runs_dir, tmp_path / "copy")
    options = McpOptions(tmp_path / "copy", max_minutes=2)
    used = api.show("first", runs_dir=options.runs_dir).clocks["seconds"] / 60
    for overrides in ({"stop.minutes": 3}, {"stop.minutes": "off", "stop.env_steps": "1M"}):
        error = failure(options, "train", resume="first", overrides=overrides)
        assert error["code"] == "limit"
        assert str(round(used + 2, 3))[:4] in error["fix"]
    for settings in ({"stop.minutes": 1000}, {"stop.minutes": "off"}):
        error = failure(options, "control", run="first", action="set", settings=settings)
        assert error["code"] == "limit"


def test_more_seeds_than_may_wait_are_refused(tmp_path: Path):
    options = McpOptions(tmp_path / "runs", max_jobs=1)
    error = failure(options, "train", target="CartPole-v1", seeds=1000)
    assert error["code"] == "limit"
    assert error["at"] == "train.seeds"
    assert api.jobs(runs_dir=options.runs_dir) == []


@pytest.mark.parametrize("tool", ["train", "control"])
def test_a_read_only_server_refuses_to_change_anything(trained: Trained, tool: str):
    options = replace(trained.options, read_only=True)
    error = failure(options, tool, run="first", action="stop")
    assert error["code"] == "read_only"


def test_a_read_only_server_starts_no_search(trained: Trained):
    options = replace(trained.options, read_only=True)
    error = failure(options, "episodes", run="first", view="blunders", kind="confirm")
    assert error["code"] == "read_only"
    assert ask(options, "episodes", run="first")["total"]


def test_tools_reach_only_operations_of_the_api(trained: Trained, monkeypatch: pytest.MonkeyPatch):
    """Every read goes through `gymnast.api`, with the server's runs directory."""
    seen: list[tuple[str, object]] = []
    from gymnast.mcp import context

    original = context.call_operation

    def recorded(operation: Any, arguments: Any, options: Any) -> object:
        seen.append((operation.name, options.runs_dir))
        return original(operation, arguments, options)

    monkeypatch.setattr(context, "call_operation", recorded)
    for tool, arguments in [
        ("runs", {}),
        ("metrics", {"runs": ["first"]}),
        ("diagnose", {"run": "first"}),
        ("frame", {"run": "first", "kind": "confirm"}),
    ]:
        assert not call(trained.options, tool, arguments).is_error
    names = {name for name, _ in seen}
    assert names - {"episode_frames"} <= set(OPERATIONS)
    assert {directory for _, directory in seen} == {trained.runs_dir}


def test_an_unexpected_exception_is_an_error_without_a_traceback(
    trained: Trained, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def broken(*_: object, **__: object) -> object:
        raise ZeroDivisionError("a secret of the server")

    monkeypatch.setattr("gymnast.mcp.context.call_operation", broken)
    result = call(trained.options, "runs")
    assert result.is_error
    assert "secret" not in json.dumps(result.structured_content) + text_of(result)
    assert "Traceback" not in text_of(result)
    assert "a secret of the server" in capsys.readouterr().err  # but the log has it


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("rums", {}, "there is no tool 'rums'", "runs"),
    ("runs", {"fliter": "x"}, "unknown argument 'fliter'", "filter"),
    ("runs", {"limit": "many"}, "limit must be an integer", ""),
    ("runs", {"filter": "statsu=failed"}, "statsu", "status"),
    ("runs", {"run": "frist"}, "frist", "first"),
    ("diagnose", {}, "missing argument: run", ""),
    ("diagnose", {"run": "first", "view": "evnts"}, "view is", "events"),
    (
        "metrics",
        {"runs": ["first"], "names": ["policy/lk"], "view": "curve"},
        "policy/lk",
        "policy/kl",
    ),
    ("metrics", {"runs": ["first", "second"]}, "trends are of one run", ""),
    ("metrics", {"runs": []}, "name at least one run", ""),
    ("compare", {"runs": "first", "x": "steps"}, "x is", "vec_steps"),
    ("wait", {"runs": ["first"], "seconds": 1e6}, "not between 0 and 600", ""),
    ("episodes", {"run": "first", "kind": "evl"}, "kind is", "eval"),
    ("episodes", {"run": "first", "view": "steps", "version": 7}, "7", ""),
    ("frame", {"run": "first", "steps": [1, 2, 3, 4, 5]}, "not 1 to 4", ""),
    ("frame", {"run": "first", "kind": "confirm", "steps": [10_000]}, "", ""),
    ("train", {}, "pass either `target`", ""),
    ("train", {"target": "CartPole-v1", "resume": "first"}, "pass either `target`", ""),
    ("train", {"target": "CartPol-v1"}, "`CartPol` doesn't exist", "CartPole-v1"),
    (
        "train",
        {"target": "CartPole-v1", "overrides": {"algo.learning_rate": 1}},
        "learning_rate",
        "",
    ),
    ("train", {"target": "CartPole-v1", "overrides": "lr=1"}, "overrides must be an object", ""),
    ("train", {"resume": "first", "at": "123"}, "123", ""),
    ("control", {"run": "first", "action": "kill"}, "action is", ""),
    ("control", {"run": "first", "action": "pause"}, "finished", ""),
    ("control", {"run": "first", "action": "set"}, "nothing to set", ""),
    ("control", {"run": "first", "action": "tag"}, "at least one tag", ""),
    ("league", {"run": "first"}, "", ""),
    ("chart", {"runs": ["first"], "names": ["policy/entrpy"]}, "entrpy", "policy/entropy"),
    ("runs", {"cursor": "nonsense"}, "is not a cursor", ""),
    ("diagnose", {"run": "first", "view": "events", "cursor": "-1"}, "is not a cursor", ""),
]


@pytest.mark.parametrize(("tool", "arguments", "message", "nearest"), WRONG)
def test_a_wrong_call_is_a_structured_error(
    trained: Trained, tool: str, arguments: dict[str, Any], message: str, nearest: str
):
    result = call(trained.options, tool, arguments)
    assert result.is_error, result.structured_content
    error = result.structured_content
    assert isinstance(error, dict)
    assert set(error) <= {"code", "message", "at", "fix", "closest"}
    assert error["code"]
    assert message in error["message"]
    if nearest:
        assert error["closest"] == nearest
    shown = text_of(result)
    assert error["message"] in shown
    for raw in ("Traceback", "validation error", "pydantic", "input_value", "type="):
        assert raw not in shown
