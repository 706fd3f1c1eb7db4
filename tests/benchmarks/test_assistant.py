"""The tasks for assistants: every file can be played, wrong answers are found, the docs show the result."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from benchmarks.assistant import facts
from benchmarks.assistant.prepare import FILE, planned
from benchmarks.assistant.sessions import play_cli, play_mcp
from benchmarks.assistant.table import with_table
from benchmarks.assistant.task import Step, Task, evaluate, filled, load_tasks, wrong_answers
from benchmarks.code_revision import RESULTS, ROOT
from gymnast.cli import cli
from gymnast.config.families import is_multi_agent
from gymnast.config.form import make_form
from gymnast.mcp.tools import TOOLS
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run
from tests.small_runs import train_small

TASKS = load_tasks()
NAMES = [run.name if run.seeds == 1 else f"{run.name}-s" for run in planned(FILE)]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_task_calls_tools_and_commands_that_exist_with_arguments_that_exist(task: Task):
    assert task.question
    assert task.known
    assert task.truth
    for step in task.steps["mcp"]:
        known = {parameter.name for parameter in TOOLS[step.call].parameters}
        assert set(step.arguments) <= known, step
    for step in task.steps["cli"]:
        program, verb, *words = shlex.split(step.call)
        command = cli.get_command(click.Context(cli), verb)
        assert program == "gymnast"
        assert command is not None
        options = {option for one in command.params for option in one.opts}
        if not isinstance(command, click.Group):
            assert {word for word in words if word.startswith("--")} <= options, step
    for side in task.steps.values():
        assert set(task.truth) <= {name for step in side for name in step.let}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_facts_of_a_task_exist_and_name_prepared_runs(task: Task):
    named = [one for one in (*task.truth.values(), *task.state) if isinstance(one, dict)]
    made = {"patched", "rewound"}
    for one in named:
        if "fact" in one:
            assert one["fact"] in (facts.METRIC_FACTS if "metric" in one else facts.FACTS)
            assert one["of"] in made or any(one["of"].startswith(name) for name in NAMES)


def test_there_are_thirty_tasks_of_which_some_change_runs():
    assert len(TASKS) == 30
    assert sum(bool(task.state) for task in TASKS) >= 3


@pytest.mark.parametrize("run", planned(FILE), ids=lambda run: run.name)
def test_the_settings_of_a_prepared_run_are_valid(run: Any):
    if run.target.startswith("py:"):
        return
    overrides = [
        f"{key}={value if not isinstance(value, dict) else json.dumps(value)}"
        for key, value in run.settings.items()
        if not isinstance(value, bool)
    ]
    form = make_form(run.target, overrides)
    assert form.problems == []
    assert is_multi_agent(run.target) or form.target.endswith(":ppo")


def test_values_of_a_call_are_used_by_the_next_one():
    values: dict[str, Any] = {}
    evaluate(
        Step("x", let={"a": "r.runs[0].id", "none": "r.nothing"}), {"runs": [{"id": 7}]}, values
    )
    assert values == {"a": 7, "none": None}
    assert filled({"run": "$a", "at": "x:$a", "other": ["$b"]}, values) == {
        "run": 7,
        "at": "x:7",
        "other": ["$b"],
    }


@pytest.mark.parametrize(
    ("truth", "right", "wrong"),
    [
        ("base", "base", "frozen"),
        (True, True, False),
        (False, False, None),
        (0.5, 0.5001, 0.52),
        ([256, 256], [256, 256], [256]),
        ({"about": 100, "within": 5}, 104, 106),
        ({"about": 100, "within": 5}, 96.0, None),
        ({"one_of": ["a", "b"]}, "b", "c"),
        ({"contains": "Too Large"}, "the rate is too large", "too small"),
    ],
)
def test_an_answer_is_compared_with_the_truth(truth: Any, right: Any, wrong: Any, tmp_path: Path):
    task = Task("t", "?", "so", {"value": truth}, {})
    assert wrong_answers(task, {"value": right}, tmp_path) == []
    assert len(wrong_answers(task, {"value": wrong}, tmp_path)) == 1
    assert len(wrong_answers(task, {}, tmp_path)) == 1


def test_facts_about_metrics_are_those_of_the_rows(runs_dir: Path):
    run = Run.create(runs_dir, config_text="", preset="A:ppo", seed=0, provenance={}, name="own")
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i, value in enumerate([3.0, 1.0, 7.0, 5.0]):
            row = {"clock/rollouts": float(i), "clock/env_steps": 10.0 * i}
            store.append(row | {"policy/kl": value})
        store.append({"clock/rollouts": 4.0, "clock/env_steps": 40.0})
    found = {name: facts.fact(name, "own", runs_dir, "policy/kl") for name in facts.METRIC_FACTS}
    assert found == {
        "first": 3,
        "last": 5,
        "lowest": 1,
        "highest": 7,
        "lowest_step": 10,
        "highest_step": 20,
    }


def test_the_page_has_the_table_of_the_stored_result():
    result = json.loads((RESULTS / "assistant.json").read_text())
    page = (ROOT / "docs" / "mcp.md").read_text()
    assert with_table(page, result) == page, "run `python -m benchmarks.assistant ... --docs FILE`"
    assert result["n_tasks"] == len(result["tasks"]) == 30
    assert not result["revision"].endswith("-dirty")


OWN_TASKS = {
    "a-right": """
        question: Which seed has the run?
        known: It was trained with it.
        truth: {seed: {fact: seed, of: own}}
        mcp: [{runs: {run: own}, let: {seed: r.run.seed}}]
        cli: [{run: gymnast show own --json, let: {seed: r.seed}}]
    """,
    "b-wrong-answer": """
        question: Which seed has the run?
        known: It was not trained with this one.
        truth: {seed: 99}
        mcp: [{runs: {run: own}, let: {seed: r.run.seed}}]
        cli: [{run: gymnast show own --json, let: {seed: r.seed}}]
    """,
    "c-error": """
        question: What is there?
        known: Nothing is.
        truth: {x: 1}
        mcp: [{runs: {run: nobody}, let: {x: r.run.seed}}]
        cli: [{run: gymnast show nobody --json, let: {x: r.seed}}]
    """,
}


@pytest.mark.parametrize("text", ["question: [", "question: only", "- a list"])
def test_a_file_that_is_no_task_is_named(text: str, tmp_path: Path):
    (tmp_path / "broken.yaml").write_text(text)
    with pytest.raises(SystemExit, match=r"broken\.yaml is not a task"):
        load_tasks(tmp_path)


@pytest.mark.slow
def test_tasks_of_your_own_are_played_by_both_sides(tmp_path: Path, runs_dir: Path):
    run: Run = train_small("CartPole-v1", {"stop.env_steps": 256}, seed=5, name="own")
    for name, text in OWN_TASKS.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    tasks = load_tasks(tmp_path)
    for play in (play_mcp, play_cli):
        played, definitions = play(tasks, run.path.parent)
        assert definitions > 100
        assert {name: one.solved for name, one in played.items()} == {
            "a-right": True,
            "b-wrong-answer": False,
            "c-error": False,
        }
        assert played["a-right"].answer == {"seed": 5}
        assert played["a-right"].calls == 1
        assert played["a-right"].tokens > 20
        assert "99" in played["b-wrong-answer"].wrong[0]
        assert played["c-error"].wrong
    assert runs_dir == run.path.parent
