"""Metrics rebuilt from trajectories are the recorded ones, bit by bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gymnast.runs.run import Run
from gymnast.trajectories.files import read_file
from gymnast.trajectories.rebuild import rebuild, rebuilt_row
from gymnast.trajectories.trajectory import Trajectory
from gymnast.trajectories.write import write_trajectories
from tests.small_runs import train_small
from tests.trajectories.conftest import TAG


def evaluations(run: Run, data: Path, kind: str = "eval") -> list[list[Trajectory]]:
    files = write_trajectories(run, data, kind).files  # type: ignore[arg-type]
    return [read_file(Path(file.path)) for file in files]


@pytest.mark.parametrize("name", ["tag", "lake", "pole"])
def test_rebuilt_metrics_equal_the_recorded_ones(
    name: str, data: Path, request: pytest.FixtureRequest
) -> None:
    run: Run = request.getfixturevalue(name)
    for lines in evaluations(run, data):
        rebuilt = rebuild(lines, run)
        assert rebuilt.stored_all
        assert not rebuilt.note
        values = {metric.name: metric for metric in rebuilt.metrics}
        assert all(metric.equal for metric in rebuilt.metrics if metric.recorded is not None)
        compared = {name for name, metric in values.items() if metric.equal}
        if lines[0].version == 0:  # of the start of a run, only the score is recorded
            assert {"eval:episode/return", "eval:episode/count"} <= compared
        elif name == "tag":
            assert {
                f"eval/{role}:{metric}"
                for role in ("seeker", "hider")
                for metric in (
                    "episode/return",
                    "match/win_rate",
                    "match/win_low",
                    "match/win_high",
                )
            } <= compared
            assert {"eval/seeker:env/distance", "eval/hider:match/duration"} <= compared
        else:
            expected = {"eval:episode/return", "eval:episode/length", "eval:episode/count"}
            assert expected <= compared


@pytest.mark.parametrize("name", ["tag", "pole"])
def test_the_final_evaluation_equals_the_score_of_the_run(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run: Run = request.getfixturevalue(name)
    (lines,) = evaluations(run, tmp_path, "confirm")
    score = run.info["score"]
    assert score is not None
    metrics = {metric.name: metric for metric in rebuild(lines, run).metrics}
    assert metrics["confirm:episode/return"].value == score["mean"]
    assert metrics["confirm:episode/return"].equal


def test_metrics_of_a_match_are_what_a_person_would_count(tag: Run, data: Path) -> None:
    """An independent computation, from the lines only."""
    lines = evaluations(tag, data)[0]
    row = rebuilt_row(lines, None)
    for role in ("seeker", "hider"):
        own = [line for line in lines if line.cast[role] == "learner"]
        wins = [line.winner == role for line in own]
        assert row[f"eval/{role}:match/win_rate"] == pytest.approx(np.mean(wins))
        assert row[f"eval/{role}:match/duration"] == np.mean([line.length for line in own])
        agents = [np.mean([sum(a.reward) for a in line.of_role(role)]) for line in own]
        assert row[f"eval/{role}:episode/return"] == pytest.approx(np.mean(agents))
        distances = [np.mean(line.distance or ()) for line in own]
        assert row[f"eval/{role}:env/distance"] == pytest.approx(np.mean(distances))
        assert row[f"eval/{role}:env/distance"] == pytest.approx(
            np.mean([line.numbers["distance"] for line in own])
        )


def test_unknown_outcomes_count_for_nobody(tag: Run, data: Path) -> None:
    lines = evaluations(tag, data)[0]
    unknown = [replace(line, outcome=None, winner=None) for line in lines[:3]] + lines[3:]
    row = rebuilt_row(unknown, None)
    role = next(role for role, player in lines[0].cast.items() if player == "learner")
    known = [line.winner == role for line in unknown[3:] if line.cast[role] == "learner"]
    assert row[f"eval/{role}:match/win_rate"] == pytest.approx(np.mean(known))
    assert row[f"eval/{role}:match/unknown_share"] == pytest.approx(3 / (len(known) + 3))


def test_missing_matches_are_named_and_nothing_is_compared(tag: Run, data: Path) -> None:
    lines = evaluations(tag, data)[1]
    rebuilt = rebuild(lines[:5], tag)
    assert rebuilt.stored_all is False
    assert "only 5 of 12 matches of the seeker" in rebuilt.note
    assert "0 of 12 matches of the hider" in rebuilt.note
    assert all(metric.equal is None for metric in rebuilt.metrics)


def test_a_match_between_learners_that_is_stored_for_each_role_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gymnast.training.lifecycle.start.film_in_background", lambda *_: None)
    alone = TAG | {"league.opponents": [], "eval.every": "256 env_steps"}
    run = train_small("tag:selfplay", alone, runs_dir=tmp_path / "runs")
    (*_, lines) = evaluations(run, tmp_path)
    rebuilt = rebuild(lines, run)
    assert len(lines) == 2 * 6
    assert rebuilt.stored_all
    assert all(metric.equal for metric in rebuilt.metrics if metric.recorded is not None)


def test_values_that_differ_are_reported(pole: Run, tmp_path: Path) -> None:
    lines = evaluations(pole, tmp_path)[0]
    agent = lines[0].agents[0]
    longer = replace(agent, reward=(2.0, *agent.reward[1:]))
    rebuilt = rebuild([replace(lines[0], agents=(longer,)), *lines[1:]], pole)
    differing = {metric.name for metric in rebuilt.metrics if metric.equal is False}
    assert "eval:episode/return" in differing
    assert "eval:episode/length" not in differing
