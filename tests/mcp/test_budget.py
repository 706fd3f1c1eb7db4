"""Every answer fits: 1,000 tokens by default and never more than 8,000, whatever the runs have."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gymnast.mcp.options import McpOptions
from gymnast.mcp.parameters import REQUIRED, Parameter
from gymnast.mcp.tools import TOOLS
from tests.mcp.conftest import Trained
from tests.mcp.large_runs import make_large
from tests.mcp.sessions import ask, call, text_of, tokens

DEFAULT, MAXIMUM = 1000, 8000


@pytest.fixture(scope="session")
def large(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> McpOptions:
    runs_dir = tmp_path_factory.mktemp("large") / "runs"
    runs_dir.mkdir()
    make_large(trained.first, runs_dir)
    shutil.copytree(trained.match.path, runs_dir / trained.match.id)
    return McpOptions(runs_dir)


BIG, OTHERS = "large000", [f"large{i:03d}" for i in range(24)]
DEFAULT_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("find", {"query": "return"}),
    ("find", {"kind": "metric"}),
    ("find", {"read": "presets"}),
    ("config", {"target": "CartPole-v1"}),
    ("config", {"target": BIG}),
    ("config", {"target": "CartPole-v1", "keys": ["*"]}),
    ("config", {"target": BIG, "against": "large001"}),
    ("config", {"target": "CartPole-v1", "dry_run": True}),
    ("wait", {"runs": OTHERS, "seconds": 0}),
    ("runs", {}),
    ("runs", {"run": BIG}),
    ("metrics", {"runs": [BIG]}),
    ("metrics", {"runs": [BIG], "names": ["*"]}),
    ("metrics", {"runs": [BIG], "view": "rows"}),
    ("metrics", {"runs": [BIG], "around": 10_000}),
    ("metrics", {"runs": OTHERS[:20], "names": ["*"], "view": "curve"}),
    ("compare", {"runs": OTHERS[:12]}),
    ("compare", {"runs": OTHERS[:2]}),
    ("diagnose", {"run": BIG}),
    ("diagnose", {"run": BIG, "view": "alerts"}),
    ("diagnose", {"run": BIG, "view": "events"}),
    ("diagnose", {"run": BIG, "view": "log"}),
    ("diagnose", {"run": BIG, "view": "log", "cursor": "start"}),
    ("episodes", {"run": BIG}),
    ("episodes", {"run": BIG, "view": "moments", "kind": "confirm"}),
    ("episodes", {"run": BIG, "view": "steps", "kind": "confirm", "columns": ["*"]}),
    ("frame", {"run": BIG, "kind": "confirm", "steps": [0, 1, 2, 3]}),
    ("chart", {"runs": OTHERS[:8], "names": ["policy/*"]}),
    ("chart", {"runs": [BIG], "names": ["policy/kl"], "format": "text"}),
    ("chart", {"runs": OTHERS[:8], "names": ["policy/*", "episode/*"], "format": "text"}),
    ("league", {"run": "match"}),
    ("league", {"run": "match", "view": "roles"}),
    ("control", {"run": BIG, "action": "remove"}),
    ("control", {"run": BIG, "action": "note", "text": "x"}),
]


def test_every_tool_is_called():
    assert {tool for tool, _ in DEFAULT_CALLS} == set(TOOLS) - {"train"}  # starts something


@pytest.mark.parametrize(("tool", "arguments"), DEFAULT_CALLS)
def test_a_default_answer_has_at_most_1000_tokens(
    large: McpOptions, tool: str, arguments: dict[str, Any]
):
    result = call(large, tool, arguments)
    assert not result.is_error, text_of(result)
    assert tokens(result) <= DEFAULT


@pytest.mark.parametrize(
    ("tool", "arguments"), [one for one in DEFAULT_CALLS if one[0] not in ("frame", "chart")]
)
def test_nothing_asked_for_exceeds_8000_tokens(
    large: McpOptions, tool: str, arguments: dict[str, Any]
):
    names = {parameter.name for parameter in TOOLS[tool].parameters}
    more = {"limit": 100_000, "points": 5_000, "detail": "full"}
    result = call(large, tool, arguments | {k: v for k, v in more.items() if k in names})
    assert not result.is_error, text_of(result)
    assert tokens(result) <= MAXIMUM


@pytest.mark.slow
def test_a_list_that_was_cut_says_so_and_its_pages_have_everything_once(large: McpOptions):
    ids: list[str] = []
    cursor = ""
    for _ in range(100):
        page = ask(large, "runs", cursor=cursor)
        ids += [run["id"] for run in page["runs"]]
        cursor = page.get("cursor", "")
        if not cursor:
            break
        assert "runs" in page["left_out"]
    assert len(ids) == len(set(ids)) == 25
    positions: list[str] = []
    for _ in range(400):
        page = ask(large, "diagnose", run=BIG, view="events", limit=60, cursor=cursor)
        positions += [one["text"] for one in page["events"]]
        cursor = page.get("cursor", "")
        if not cursor:
            break
    assert len(positions) == ask(large, "diagnose", run=BIG, view="events")["total"]


def test_the_last_lines_of_a_long_log_are_shown_and_not_the_first(large: McpOptions):
    lines = (large.runs_dir / BIG / "log.txt").read_text().splitlines()
    for more in ({}, {"limit": 500}):
        shown = ask(large, "diagnose", run=BIG, view="log", **more)
        assert shown["lines"] == lines[-len(shown["lines"]) :]
        assert "earlier lines" in shown["left_out"]


def test_the_steps_of_an_episode_continue_at_the_cursor(large: McpOptions):
    steps: list[int] = []
    arguments = {"run": BIG, "view": "steps", "kind": "confirm", "columns": ["*"], "limit": 50}
    cursor = ""
    for _ in range(50):
        page = ask(large, "episodes", **arguments, cursor=cursor)
        steps += [row[page["columns"].index("step")] for row in page["rows"]]
        cursor = page.get("cursor", "")
        if not cursor:
            break
    assert steps == list(range(page["total"]))


def test_rows_that_were_cut_have_no_cursor_that_would_skip_some(large: McpOptions):
    cut = ask(large, "metrics", runs=[BIG], around=10_000)
    assert len(cut["rows"]) < 8
    assert "rows" in cut["left_out"]
    assert "cursor" not in cut
    whole = ask(large, "metrics", runs=[BIG], names=["policy/kl"], around=10_000)
    assert len(whole["rows"]) == 8
    following = ask(
        large, "metrics", runs=[BIG], names=["policy/kl"], view="rows", cursor=whole["cursor"]
    )
    assert following["rows"][0][0] - whole["rows"][-1][0] == 128


def values(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Returns plausible values of an argument: valid and wrong ones."""
    runs = st.sampled_from([BIG, "large001", "match", "@last", "@best", "nothing", "large00"])
    if parameter.choices:
        one: st.SearchStrategy[Any] = st.sampled_from([*parameter.choices, "nonsense"])
    elif parameter.name in ("run", "runs"):
        one = runs
    elif parameter.name in ("names", "columns", "keys"):
        one = st.sampled_from(["*", "policy/*", "eval:*", "obs/*", "algo.*", "policy/kl", "zzz"])
    elif parameter.name == "target":
        one = st.sampled_from(["CartPole-v1", BIG, "CartPole-v1:dqn", "Nothing-v0"])
    elif parameter.kind is str:
        one = st.text(max_size=20) | st.sampled_from(["return", "solved=false", "score>3", "10"])
    elif parameter.kind is bool:
        one = st.booleans()
    elif parameter.kind is dict:
        one = st.just({})
    else:
        one = st.integers(-5, 50_000) | st.sampled_from([0, 128, 512])
    return st.lists(one, max_size=8) if parameter.is_list else one


READING = [name for name, tool in TOOLS.items() if tool.effect == "reads" and name != "frame"]
SLOW = {"seconds": 0, "dry_run": False}
"""Arguments that would make a call slow."""


@pytest.mark.slow
@pytest.mark.parametrize("tool", READING)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_call_is_answered_within_the_limit_or_refused_in_words(
    large: McpOptions, tool: str, data: st.DataObject
):
    arguments: dict[str, Any] = {}
    for parameter in TOOLS[tool].parameters:
        if parameter.name in SLOW:
            arguments[parameter.name] = SLOW[parameter.name]
        elif parameter.default is REQUIRED or data.draw(st.booleans(), parameter.name):
            arguments[parameter.name] = data.draw(values(parameter), parameter.name)
    if arguments.get("view") == "blunders":
        del arguments["view"]
    result = call(large, tool, arguments)
    assert tokens(result) <= MAXIMUM
    shown = text_of(result)
    assert "Traceback" not in shown
    if result.is_error and isinstance(result.structured_content, dict):
        assert result.structured_content["code"] != "internal", (arguments, shown)


def test_the_default_runs_directory_is_not_needed(tmp_path: Path):
    empty = McpOptions(tmp_path / "none")
    assert ask(empty, "runs")["total"] == 0
