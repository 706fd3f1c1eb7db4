"""Every operation that only reads: its result fits its JSON schema and is restored from JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gymnast import api
from gymnast.api.calling import Success
from gymnast.errors import Failure
from gymnast.jobs import record
from gymnast.records import from_json, to_json
from tests.api.conftest import Trained, job_request
from tests.api.json_schema import problems
from tests.sweep.table import TEXT, table_study

Case = Callable[[Trained], list[dict[str, Any]]]
CASES: dict[str, Case] = {
    "runs": lambda _: [{}, {"filter": "status=finished", "limit": 1, "sizes": True}],
    "show": lambda t: [
        {"ref": f"{t.first.id}:best"},
        {"ref": t.child.id, "verify": True, "sizes": True},
        {"ref": t.match.id},
    ],
    "events": lambda t: [{"ref": t.first.id}, {"ref": t.match.id, "after": 1, "limit": 1}],
    "run_file": lambda t: [
        {"ref": t.first.id},
        {"ref": t.match.id, "file": "log.txt", "end": True},
    ],
    "rows": lambda t: [{"ref": t.first.id}, {"ref": t.match.id, "around": 64, "limit": 1}],
    "curves": lambda t: [
        {"refs": [t.first.id], "points": 2},
        {"refs": [t.first.id, t.match.id], "names": ["clock/*"], "x": "seconds", "high": 5.0},
    ],
    "film_queue": lambda _: [{}],
    "trends": lambda t: [{"ref": t.first.id}, {"ref": t.match.id, "names": ["*"], "x": "seconds"}],
    "rows_csv": lambda t: [{"ref": t.first.id, "names": ["policy/kl"]}],
    "logs": lambda t: [{"ref": t.first.id}, {"ref": "job1"}],
    "episodes": lambda t: [{"ref": t.first.id}, {"ref": t.match.id, "limit": 2}],
    "steps": lambda t: [
        {"ref": t.first.id, "kind": "confirm", "version": version(t, t.first.id), "number": 0},
        {"ref": t.match.id, "kind": "confirm", "version": version(t, t.match.id), "number": 1},
    ],
    "find_episode": lambda t: [{"ref": t.first.id}, {"ref": t.match.id, "number": 1}],
    "steps_csv": lambda t: [
        {"ref": t.first.id, "kind": "confirm", "version": version(t, t.first.id), "number": 0},
    ],
    "inspect": lambda t: [{"ref": t.first.id}, {"ref": t.match.id, "kind": "confirm"}],
    "branch": lambda t: [{"ref": t.first.id, "step": 1, "action": 0, "horizon": 2}],
    "what_if": lambda t: [
        {"ref": t.first.id, "step": 1, "changes": {"obs/pole angle": 0.1}},
        {"ref": t.match.id, "kind": "confirm", "step": 1},
    ],
    "attribution": lambda t: [
        {"ref": t.first.id, "step": 1},
        {"ref": t.match.id, "kind": "confirm", "step": 1, "target": "value"},
    ],
    "obs_images": lambda t: [
        {"ref": t.first.id, "step": 1},
        {"ref": t.match.id, "kind": "confirm", "step": 1},
    ],
    "stored_blunders": lambda t: [{"ref": t.first.id}],
    "charts": lambda t: [{"ref": t.first.id}, {"ref": t.match.id, "x": "env_steps"}],
    "chart": lambda t: [
        {"refs": [t.first.id], "chart": "actions"},
        {"refs": [t.first.id, t.child.id], "names": ["policy/*"], "format": "text"},
    ],
    "compare": lambda t: [
        {"refs": [t.first.id, t.child.id]},
        {"refs": [t.first.id, "pair"]},
        {"refs": [f"{t.first.id}+{t.child.id}", t.match.id], "x": "env_steps"},
    ],
    "seed_curves": lambda t: [
        {"refs": [t.first.id, "pair"], "names": ["policy/kl", "eval:episode/return"]},
        {"refs": [f"{t.first.id}+{t.child.id}"], "names": ["policy/kl"], "x": "seconds"},
    ],
    "doctor": lambda t: [{"ref": t.first.id}, {"ref": t.match.id}],
    "monitor": lambda t: [
        {"refs": [t.first.id, t.child.id], "smooth": 1},
        {"all_runs": True, "skip_broken": True},
    ],
    "monitor_csv": lambda t: [{"refs": [t.first.id, t.match.id]}],
    "review_contents": lambda t: [
        {"ref": f"{t.first.id}:best", "number": 0},
        {"ref": t.match.id, "kind": "confirm", "number": 1},
    ],
    "review_runs": lambda t: [{"last": 3}, {"refs": [t.first.id, t.match.id], "budget": 9_000}],
    "prompts": lambda _: [{}],
    "prompt": lambda t: [
        {"name": "debug", "refs": [f"{t.first.id}:best"]},
        {"name": "plan", "refs": [t.first.id, t.match.id], "arguments": {"goal": "learn faster"}},
    ],
    "reviews": lambda t: [{"ref": t.first.id}],
    "bundle_contents": lambda t: [
        {"ref": f"{t.first.id}:latest"},
        {"ref": t.match.id, "checkpoint": "none", "max_size": 20_000},
    ],
    "jobs": lambda _: [{}],
    "find": lambda _: [{"query": "entorpy"}, {"kind": "preset", "limit": 2, "offset": 1}],
    "docs": lambda _: [{}, {"name": "live-control"}],
    "presets": lambda _: [{}, {"search": "lander"}],
    "metrics": lambda _: [{}, {"name": "eval:episode/return"}],
    "config_show": lambda t: [
        {"name": t.first.id, "overrides": {"algo.gamma": 0.5}},
        {"name": "CartPole-v1"},
    ],
    "config_check": lambda _: [{"targets": ["CartPole-v1", "nowhere.yaml"]}],
    "config_diff": lambda t: [{"a": t.first.id, "b": t.child.id}],
    "settings_form": lambda _: [
        {"target": "tag", "overrides": ["algo.lr=3e-4 -> 0", "algo.clip=-1", "nonsense"]},
        {"target": "CartPole-v1", "algo": "dqn"},
    ],
    "train_command": lambda _: [{"target": "tag", "overrides": ["algo.lr=3e-4 -> 0"], "seeds": 3}],
    "dry_run": lambda t: [
        {
            "target": "CartPole-v1",
            "overrides": {"policy.hidden": [16]},
            "seeds": 2,
            "source": t.first.id,
        }
    ],
    "wait": lambda t: [{"refs": [t.first.id, "pair"], "timeout": 10.0}],
    "host_check": lambda _: [{"provider": "here", "env": "LunarLander-v3"}, {"provider": "far"}],
    "group": lambda _: [{"ref": "pair"}],
    "league": lambda t: [{"ref": t.match.id}],
    "self_play": lambda t: [{"ref": t.match.id}, {"ref": t.match.id, "x": "seconds"}],
    "sweep_init": lambda _: [{"target": "CartPole-v1"}, {"target": "ALE/Pong-v5:objects"}],
    "sweep_plan": lambda _: [{"space": TEXT, "trials": 3}],
    "sweep_list": lambda _: [{}],
    "sweep_status": lambda _: [{"study": "table"}, {"study": "@last", "curves": True}],
    "sweep_best": lambda _: [{"study": "table"}],
    "sweep_importance": lambda _: [{"study": "table"}],
    "sweep_plots": lambda _: [{"study": "table"}],
    "tasks": lambda _: [{}],
    "task": lambda _: [{"id": ended_task()}],
    "task_log": lambda _: [{"id": ended_task()}],
    "task_result": lambda _: [{"id": ended_task()}, {"id": failed_task()}],
}
"""Operation -> arguments to call it with."""
TASKS = {"tasks", "task", "task_log", "task_result"}
WITHOUT_RUNS = {
    "docs",
    "presets",
    "prompts",
    "metrics",
    "config_check",
    "settings_form",
    "sweep_init",
    "train_command",
    "host_check",
    *TASKS,
}
WRONG: dict[str, dict[str, Any]] = {
    "runs": {"filter": "color=red"},
    "show": {"ref": "nobody"},
    "events": {"ref": "nobody"},
    "run_file": {"file": "config.yml"},
    "rows": {"names": ["policy/nonsense"]},
    "curves": {"x": "fortnights"},
    "trends": {"recent": 2.0},
    "rows_csv": {"ref": "nobody"},
    "logs": {"after": "nonsense"},
    "episodes": {"kind": "dream"},
    "steps": {"ref": "@last", "kind": "eval", "version": 7, "number": 0},
    "find_episode": {"ref": "@last", "number": 999},
    "steps_csv": {"ref": "@last", "kind": "eval", "version": 7, "number": 0},
    "inspect": {"ref": "@last", "kind": "eval", "version": 7, "number": 0},
    "branch": {"ref": "@last", "step": 99999, "action": 0},
    "what_if": {"ref": "@last", "step": 0, "changes": {"obs/nonsense": 1.0}},
    "attribution": {"ref": "@last", "step": -1},
    "obs_images": {"ref": "@last", "step": -1},
    "stored_blunders": {"ref": "nobody"},
    "charts": {"x": "fortnights"},
    "chart": {"chart": "nonsense"},
    "compare": {"refs": ["@last"]},
    "seed_curves": {"refs": ["@last"], "names": ["policy/nonsense"]},
    "doctor": {"ref": "@nobody"},
    "monitor": {"approaches": ["nobody"]},
    "monitor_csv": {"approaches": ["nobody"]},
    "review_contents": {"ref": "@last", "command": "nobody"},
    "review_runs": {"last": 0},
    "prompts": {"nonsense": 7},
    "prompt": {"name": "nobody"},
    "reviews": {"ref": "nobody"},
    "bundle_contents": {"ref": "@last", "max_size": 100},
    "jobs": {"runs_dir": 7},
    "film_queue": {"color": "red"},
    "find": {"query": "entropy", "kind": "nonsense"},
    "docs": {"name": "nonsense"},
    "presets": {"search": 7},
    "metrics": {"name": "policy/nonsense"},
    "config_show": {"name": "@nobody"},
    "config_check": {"targets": "CartPole-v1"},
    "config_diff": {"a": "CartPole-v1", "b": "@nobody"},
    "settings_form": {"target": "CartPole-v1", "algo": "nonsense"},
    "train_command": {"target": 7},
    "dry_run": {"target": "Nowhere-v0"},
    "wait": {"refs": ["nobody"]},
    "host_check": {"provider": "ssh:box"},
    "group": {"ref": "nobody"},
    "league": {"ref": "nobody"},
    "self_play": {"ref": "nobody"},
    "sweep_init": {"target": "CartPole-v1:nonsense"},
    "sweep_plan": {"space": "target: CartPole-v1\nparameters: {}\n"},
    "sweep_list": {"color": "red"},
    "sweep_status": {"study": "nobody"},
    "sweep_best": {"study": "nobody"},
    "sweep_importance": {"study": "nobody"},
    "sweep_plots": {"study": "nobody"},
    "tasks": {"color": "red"},
    "task": {"id": "nobody"},
    "task_log": {"id": "nobody"},
    "task_result": {"id": "nobody"},
}
"""Operation -> arguments that it must reject."""


def version(trained: Trained, ref: str) -> int:
    page = api.episodes(ref, kind="confirm", runs_dir=trained.runs_dir)
    return page.episodes[0].version


@cache
def ended_task() -> str:
    task = api.spaces("CartPole-v1")
    task.result()
    return task.id


@cache
def failed_task() -> str:
    task = api.spaces("Nowhere-v0")
    assert isinstance(task.outcome(), Failure)
    return task.id


@pytest.fixture(autouse=True)
def providers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Adds providers to the settings file: one that can be asked, and one that cannot."""
    file = tmp_path / "settings.yaml"
    file.write_text("providers: {here: {like: local}, far: {like: slurm}}")
    monkeypatch.setenv("GYMNAST_SETTINGS", str(file))


@pytest.fixture(autouse=True)
def job_and_group(trained: Trained) -> None:
    """Adds a job that failed before it had a run and a study, and makes the child a group of one seed."""
    folder = record.jobs_dir(trained.runs_dir)
    if not folder.exists():
        record.write(folder, "job1", job_request("CartPole-v1"))
        record.update(folder, "job1", ended=1.0, exit_code=1, words="error: no")
        record.output_file(folder, "job1").write_text("error: no\n")
        trained.child.update(group="pair")
        table_study(trained.runs_dir, "table")


def reading() -> list[str]:
    return [name for name, operation in api.OPERATIONS.items() if operation.effect == api.READS]


@pytest.mark.parametrize("name", reading())
def test_results_fit_their_schema_and_are_restored_from_json(name: str, trained: Trained):
    operation = api.OPERATIONS[name]
    schema = operation.result_schema()
    for arguments in CASES[name](trained):
        where = {} if name in WITHOUT_RUNS else {"runs_dir": str(trained.runs_dir)}
        done = api.call(name, arguments | where)
        assert isinstance(done, Success), done
        text = json.dumps(to_json(done.value), allow_nan=False)
        assert problems(json.loads(text), schema, schema) == []
        restored = from_json(operation.result_type, json.loads(text))
        assert to_json(restored) == json.loads(text)


@pytest.mark.parametrize("name", reading())
def test_a_wrong_argument_is_returned_as_a_failure(name: str, trained: Trained):
    where = {} if name in {*WITHOUT_RUNS, "jobs"} else {"runs_dir": str(trained.runs_dir)}
    failure = api.call(name, WRONG[name] | where)
    assert isinstance(failure, Failure), failure
    assert failure.code in ("usage", "run", "checkpoint", "config", "environment")
    assert failure.message
    assert "Traceback" not in failure.message


@pytest.mark.parametrize("name", list(api.OPERATIONS))
def test_every_operation_describes_itself_its_arguments_and_its_result(name: str):
    operation = api.OPERATIONS[name]
    assert operation.description.endswith(".")
    arguments, result = operation.arguments_schema(), operation.result_schema()
    assert arguments["type"] == "object"
    for definition in result.get("$defs", {}).values():
        if definition.get("type") == "object":
            assert definition["properties"]


def test_fields_are_described_by_their_docstrings():
    schema = api.OPERATIONS["show"].result_schema()
    assert "lost" in schema["properties"]["status"]["description"], "of the base class"
    score = schema["$defs"]["RunScore"]["properties"]
    assert score["low"]["description"].startswith("Lower end")


def test_config_fmt_changes_nothing_if_one_file_is_wrong(tmp_path: Path):
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("stop: {env_steps: 1k}\nseed: 1\n")
    bad.write_text("a: [")
    before = good.read_text()
    failure = api.call("config_fmt", {"files": [str(good), str(bad)]})
    assert isinstance(failure, Failure)
    assert good.read_text() == before
    assert isinstance(api.call("config_fmt", {"files": [str(tmp_path / "none.yaml")]}), Failure)
    (checked,) = api.config_fmt([str(good)], check=True)
    assert (checked.changed, good.read_text()) == (True, before)
    (written,) = api.config_fmt([str(good)])
    assert written.changed
    assert good.read_text() != before
    (again,) = api.config_fmt([str(good)])
    assert not again.changed
