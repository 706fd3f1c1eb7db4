"""The answers of the tools about real small runs equal those of the API and the files."""

from __future__ import annotations

import base64
import json
import shutil
import struct
from dataclasses import replace
from pathlib import Path

import pytest
from mcp_types import ImageContent

from gymnast import api
from gymnast.mcp.options import McpOptions
from gymnast.records import to_json
from tests.mcp.conftest import Trained
from tests.mcp.sessions import ask, call, failure, text_of

PNG = b"\x89PNG"


@pytest.fixture
def copied(trained: Trained, tmp_path: Path) -> McpOptions:
    """A copy of the runs that a test may change."""
    shutil.copytree(trained.runs_dir, tmp_path / "copy")
    return McpOptions(tmp_path / "copy")


def test_runs_are_listed_newest_first_and_a_cursor_continues(trained: Trained):
    page = ask(trained.options, "runs", limit=2)
    assert page["total"] == 3
    assert [run["name"] for run in page["runs"]] == ["match", "second"]
    assert page["left_out"] == "1 more runs"
    rest = ask(trained.options, "runs", limit=2, cursor=page["cursor"])
    assert [run["name"] for run in rest["runs"]] == ["first"]
    assert "cursor" not in rest
    found = ask(trained.options, "runs", filter="env=tag")
    assert [run["name"] for run in found["runs"]] == ["match"]


def test_one_run_has_status_score_evaluations_checkpoints_and_changed_settings(trained: Trained):
    shown = api.show(trained.second.id, runs_dir=trained.runs_dir)
    run = ask(trained.options, "runs", run="second")["run"]
    assert run["status"] == "finished"
    assert shown.score is not None
    assert run["score"]["mean"] == pytest.approx(shown.score.mean, rel=5e-4)
    assert run["evaluations"]["count"] == len(shown.evaluations)
    assert run["checkpoints"]["latest"] == 512
    assert run["changed_settings"]["algo.gamma"] == 0.9
    full = ask(trained.options, "runs", run="second", detail="full")["run"]
    assert full["score"]["mean"] == shown.score.mean
    assert full["config"]["algo"]["gamma"] == 0.9


def test_a_config_is_validated_explained_and_compared(trained: Trained):
    good = ask(trained.options, "config", target="CartPole-v1", overrides={"algo.gamma": 0.95})
    assert good["valid"]
    assert good["settings"]["algo.gamma"] == "0.95"
    assert good["next"].startswith('train(target="CartPole-v1:ppo"')
    wrong = ask(trained.options, "config", target="CartPole-v1", overrides={"algo.gama": 0.95})
    assert not wrong["valid"]
    assert "algo.gamma" in wrong["problems"][0]
    explained = ask(trained.options, "config", target="CartPole-v1", keys=["algo.gamma"])
    assert explained["settings"][0]["doc"]
    of_run = ask(trained.options, "config", target="second", keys=["algo.gamma"])
    assert of_run["settings"][0]["value"] == 0.9
    diff = ask(trained.options, "config", target="first", against="second")
    assert diff["settings"] == {"algo.gamma": [0.98, 0.9], "seed": [0, 1]}
    unknown = failure(trained.options, "config", target="CartPole-v1", keys=["algo.gama"])
    assert unknown["closest"] == "algo.gamma"


def test_a_dry_run_names_spaces_network_and_budget(trained: Trained):
    plan = ask(trained.options, "config", target="CartPole-v1", dry_run=True)
    assert plan["budget"]["env_steps"] == 100_000
    assert plan["parameters"] > 0
    assert "Discrete" in plan["action"] or "2" in plan["action"]


def test_trends_curves_and_rows_are_those_of_the_api(trained: Trained):
    expected = api.trends(trained.first.id, runs_dir=trained.runs_dir)
    found = ask(trained.options, "metrics", runs=["first"])
    by_name = {one.key: one for one in expected.trends}
    assert found["recorded"] == expected.total
    for one in found["trends"]:
        assert one["overall"] == by_name[one["metric"]].overall.verdict
        assert one["last"] == pytest.approx(by_name[one["metric"]].last.value, rel=5e-4)
    names = ["policy/kl"]
    rows = api.rows(trained.first.id, names, around=256, limit=2, runs_dir=trained.runs_dir).rows
    shown = ask(trained.options, "metrics", runs=["first"], names=names, around=256, points=2)
    assert shown["columns"] == ["env_steps", "policy/kl"]
    assert [row[0] for row in shown["rows"]] == [row["clock/env_steps"] for row in rows]
    curve = ask(
        trained.options,
        "metrics",
        runs=["first", "second"],
        names=names,
        view="curve",
        detail="full",
    )
    direct = api.curves(
        [trained.first.id, trained.second.id],
        names,
        x="env_steps",
        points=12,
        runs_dir=trained.runs_dir,
    )
    assert [one["mean"] for one in curve["series"]] == [to_json(one.mean) for one in direct.series]


def test_a_comparison_says_who_is_better_and_whether_it_is_noise(trained: Trained):
    found = ask(trained.options, "compare", runs=["first", "second"])
    pair = api.compare(
        [trained.first.id, trained.second.id], runs_dir=trained.runs_dir
    ).improvements[0]
    assert found["sides"] == 2
    assert found["verdicts"][0].get("better") == pair.better
    assert found["verdicts"][0]["problem"] == pair.problem
    assert found["settings"] == {"algo.gamma": [0.98, 0.9], "seed": [0, 1]}


def test_a_diagnosis_has_the_outcome_first_and_views_have_alerts_events_and_the_log(
    trained: Trained,
):
    found = ask(trained.options, "diagnose", run="first")
    expected = api.doctor(trained.first.id, runs_dir=trained.runs_dir)
    assert found["outcome"] == expected.outcome.kind
    assert found.get("healthy") == expected.healthy
    events = ask(trained.options, "diagnose", run="first", view="events", limit=1)
    stored = api.events(trained.first.id, runs_dir=trained.runs_dir)
    assert events["total"] == stored.total
    assert events["events"][0]["kind"] == stored.events[-1].kind
    earlier = ask(
        trained.options, "diagnose", run="first", view="events", limit=100, cursor=events["cursor"]
    )
    kinds = [one["kind"] for one in events["events"] + earlier["events"]]
    assert kinds == [one.kind for one in reversed(stored.events)]
    log = ask(trained.options, "diagnose", run="first", view="log", limit=3)
    assert log["lines"] == trained.first.path.joinpath("log.txt").read_text().splitlines()[-3:]
    alerts = ask(trained.options, "diagnose", run="first", view="alerts")
    assert alerts["total"] == len(api.show(trained.first.id, runs_dir=trained.runs_dir).alerts)


def test_the_whole_log_can_be_read_from_its_start(trained: Trained):
    lines, cursor = [], "start"
    while cursor:
        page = ask(trained.options, "diagnose", run="first", view="log", cursor=cursor)
        lines += page.get("lines", [])
        cursor = page.get("cursor")
    assert lines == trained.first.path.joinpath("log.txt").read_text().splitlines()


def test_episodes_their_moments_and_their_steps(trained: Trained):
    listed = ask(trained.options, "episodes", run="first", limit=3)
    stored = api.episodes(trained.first.id, runs_dir=trained.runs_dir).episodes
    assert sum(listed["counts"].values()) == listed["total"] == len(stored)
    lowest = min(stored, key=lambda one: one.raw_return or 0.0)
    assert listed["worst"]["return"] == lowest.raw_return
    assert listed["best"]["return"] == max(one.raw_return or 0.0 for one in stored)
    following = ask(trained.options, "episodes", run="first", limit=3, cursor=listed["cursor"])
    shown = [(one["kind"], one["number"]) for one in listed["episodes"] + following["episodes"]]
    assert shown == [(one.kind, one.number) for one in stored[:6]]
    moments = ask(trained.options, "episodes", run="first", view="moments", kind="confirm")
    inspected = api.inspect(trained.first.id, "confirm", runs_dir=trained.runs_dir)
    assert moments["total"] == len(inspected.moments)
    steps = ask(
        trained.options, "episodes", run="first", view="steps", kind="confirm", limit=2, start=1
    )
    column = steps["columns"].index("obs/pole angle")
    assert [row[column] for row in steps["rows"]] == [
        pytest.approx(value, rel=5e-4) for value in inspected.table["obs/pole angle"][1:3]
    ]
    wrong = failure(
        trained.options,
        "episodes",
        run="first",
        view="steps",
        kind="confirm",
        columns=["obs/pole angel"],
    )
    assert wrong["closest"] == "obs/pole angle"


def test_a_frame_is_a_picture_without_structured_content(trained: Trained):
    result = call(trained.options, "frame", run="first", kind="confirm", steps=[0, 2], width=200)
    assert result.structured_content is None
    pictures = [block for block in result.content if isinstance(block, ImageContent)]
    assert len(pictures) == 2
    assert "steps 0, 2" in text_of(result)
    for picture in pictures:
        data = base64.b64decode(picture.data)
        assert data.startswith(PNG)
        (width,) = struct.unpack(">I", data[16:20])
        assert width <= 200


def test_a_chart_is_a_picture_or_a_text(trained: Trained):
    drawn = call(trained.options, "chart", runs=["first", "second"], names=["policy/entropy"])
    assert drawn.structured_content is None
    assert isinstance(drawn.content[1], ImageContent)
    assert "2 curves" in text_of(drawn)
    text = call(trained.options, "chart", runs=["first"], names=["policy/entropy"], format="text")
    expected = api.chart(
        [trained.first.id], ["policy/entropy"], format="text", runs_dir=trained.runs_dir
    )
    assert expected.text in text_of(text)


def test_players_roles_and_matrix_of_a_self_play_run(trained: Trained):
    players = ask(trained.options, "league", run="match")
    expected = api.league(trained.match.id, runs_dir=trained.runs_dir).ratings.entrants
    assert {(one["role"], one["name"]) for one in players["players"]} == {
        (one.role, one.name) for one in expected
    }
    ratings = [one["rating"] for one in players["players"]]
    assert ratings == sorted(ratings, reverse=True)
    roles = ask(trained.options, "league", run="match", view="roles")
    assert [one["role"] for one in roles["roles"]] == ["seeker", "hider"]
    assert ask(trained.options, "league", run="match", view="matrix")["left_out"]
    assert failure(trained.options, "league", run="first", view="roles")["code"] == "usage"


def test_labels_are_changed_and_a_note_is_replaced_only_if_confirmed(copied: McpOptions):
    ask(copied, "control", run="first", action="tag", tags=["keep"])
    ask(copied, "control", run="first", action="note", text="a first look")
    refused = ask(copied, "control", run="first", action="note", text="another")
    assert not refused["done"]
    assert refused["note"] == "a first look"
    ask(copied, "control", run="first", action="note", text="another", confirm=True)
    ask(copied, "control", run="first", action="untag", tags=["keep"])
    found = api.show("first", runs_dir=copied.runs_dir)
    assert (found.note, found.tags) == ("another", [])


def test_a_run_is_deleted_only_if_confirmed(copied: McpOptions):
    refused = ask(copied, "control", run="second", action="remove")
    assert not refused["done"]
    assert refused["bytes"] > 0
    assert refused["runs"][0]["name"] == "second"
    assert api.runs("name=second", runs_dir=copied.runs_dir).total == 1
    assert ask(copied, "control", run="second", action="remove", confirm=True)["done"]
    assert api.runs("name=second", runs_dir=copied.runs_dir).total == 0


def test_the_text_answers_are_the_same_json(trained: Trained):
    options = replace(trained.options, text=True)
    result = call(options, "runs")
    assert result.structured_content is None
    answer = json.loads(text_of(result))
    assert answer.pop("summary").startswith("3 runs")
    assert answer == ask(trained.options, "runs")
    wrong = call(options, "runs", limitt=1)
    assert wrong.is_error
    assert json.loads(text_of(wrong))["closest"] == "limit"


def test_the_text_next_to_structured_content_is_one_short_line(trained: Trained):
    for tool, arguments in [
        ("runs", {}),
        ("runs", {"run": "first"}),
        ("metrics", {"runs": ["first"]}),
        ("diagnose", {"run": "first"}),
        ("compare", {"runs": ["first", "second"]}),
    ]:
        text = text_of(call(trained.options, tool, arguments))
        assert "\n" not in text
        assert 10 < len(text) <= 240


def test_suggested_calls_work(trained: Trained):
    """Every `next` of a tool that only reads is a call that succeeds."""
    seen: set[str] = set()
    todo = [
        "runs()",
        'diagnose(run="first")',
        'compare(runs=["first","second"])',
        'metrics(runs=["first"])',
        'metrics(runs=["first"],names=["policy/kl"],view="rows")',
        'episodes(run="first")',
        'league(run="match")',
        'config(target="CartPole-v1")',
    ]
    while todo:
        text = todo.pop()
        name, _, inside = text.rstrip(")").partition("(")
        if text in seen or name in ("train", "control"):
            continue
        seen.add(text)
        arguments = eval(f"dict({inside})", {"true": True, "false": False})  # our own text
        result = call(trained.options, name, arguments)
        assert not result.is_error, f"{text}: {text_of(result)}"
        if isinstance(result.structured_content, dict) and len(seen) < 30:
            following = result.structured_content.get("next")
            todo += [following] if following else []
    assert len(seen) > 10
