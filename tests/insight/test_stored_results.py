"""Stored results: their content, and the comparison of a repetition with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gymnast.cli import cli
from gymnast.cli.reproduce import reproduction_text
from gymnast.config.resolve import resolve
from gymnast.errors import UsageError
from gymnast.insight import results
from gymnast.insight.reproduction import Reproduction
from gymnast.insight.stored_result import StoredResult
from gymnast.insight.verdict import verdict as compare_with_stored
from gymnast.jobs.groups import group_result
from gymnast.metrics.score import RunScore
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run
from gymnast.runs.summary import RunSummary, summarize

ROOT = Path(__file__).parents[2]


def run(seed: int, mean: float, low: float, *, solved: bool = True) -> RunSummary:
    """Returns a finished seed."""
    score = RunScore(mean, low, 2 * mean - low, 100, iqm=mean)
    return RunSummary(
        f"run{seed}",
        f"nowhere/run{seed}",
        "finished",
        0.0,
        seed=seed,
        solved=solved,
        score=score,
    )


def stored_run(runs_dir: Path, seed: int, mean: float, low: float) -> RunSummary:
    """Creates the run of a finished seed."""
    score = {"mean": mean, "low": low, "high": 2 * mean - low, "iqm": mean, "episodes": 100}
    made = Run.create(runs_dir, config_text="", preset="Some-v0:ppo", seed=seed, provenance={})
    clocks = {"env_steps": 1000, "seconds": 1.0}
    made.update(status="finished", solved=True, score=score, clocks=clocks, revision="abc")
    made.update(versions={"python": "3.11"}, cpu={"model": "some", "cores": 2, "instructions": []})
    return summarize(made.path, made.info, "finished")


@pytest.fixture
def before(runs_dir: Path) -> StoredResult:
    runs = [stored_run(runs_dir, 0, 490, 480), stored_run(runs_dir, 1, 500, 500)]
    return results.build_result("Some-v0:ppo", runs, 475)


def test_the_same_scores_confirm_the_result_and_are_identical(before: StoredResult):
    verdict = compare_with_stored(before, [run(0, 490, 480), run(1, 500, 500)])
    assert verdict.holds
    assert verdict.identical


def test_scores_within_the_stored_interval_confirm_the_result(before: StoredResult):
    verdict = compare_with_stored(before, [run(0, 486, 476)])
    assert verdict.holds
    assert not verdict.identical


def test_a_worse_mean_does_not_confirm_the_result(before: StoredResult):
    assert not compare_with_stored(before, [run(0, 470, 460), run(1, 480, 476)]).holds


def test_a_seed_that_is_no_longer_solved_does_not_confirm_the_result(before: StoredResult):
    verdict = compare_with_stored(before, [run(0, 490, 470, solved=False), run(1, 500, 500)])
    assert not verdict.holds
    assert verdict.seeds_no_longer_solved == [0]


def test_a_seed_whose_untrained_policy_is_optimal_by_luck_confirms_the_result(
    before: StoredResult,
):
    doubtful = replace(run(0, 490, 480, solved=False), threshold=475.0, doubts=["no better"])
    assert compare_with_stored(before, [doubtful, run(1, 500, 500)]).holds
    worse = replace(doubtful, threshold=485.0)
    assert compare_with_stored(before, [worse]).seeds_no_longer_solved == [0]


def test_a_repetition_is_compared_with_the_same_seeds(before: StoredResult):
    """The stored mean is 495 over both seeds, and 500 for seed 1 alone."""
    verdict = compare_with_stored(before, [run(1, 496, 480)])
    assert (verdict.seeds, verdict.stored_same_seeds) == ([1], 500)
    lines = repeated(before, run(1, 496, 480))
    assert lines[0] == "Some-v0:ppo: the stored result holds"
    assert lines[1] == "  stored  500 over the same 1 seed (over all 2 seeds: 495)"
    assert lines[2] == "  now     496 over 1 seed"
    lines = repeated(before, run(0, 490, 480), run(1, 500, 500))
    assert lines[0] == "Some-v0:ppo: the stored result holds, identical to the last digit"
    assert lines[1] == "  stored  495 over the same 2 seeds"


def repeated(stored: StoredResult, *runs: RunSummary) -> list[str]:
    """Returns the lines that `gymnast reproduce` prints for these runs."""
    comparison = compare_with_stored(stored, runs)
    seeds = tuple(run.seed or 0 for run in runs)
    result = Reproduction(stored["preset"], seeds, group_result(runs), comparison)
    return reproduction_text(result).splitlines()


def test_a_learning_curve_is_downsampled_and_keeps_its_first_and_last_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    points = [(100 * i, float(i % 7)) for i in range(1, 120)]
    made = stored_run(tmp_path, 0, 490, 480)
    with MetricStore(Path(made.path) / "metrics.db", "w") as record:
        for rollout, (env_steps, mean) in enumerate(points):
            row = {"clock/rollouts": 2.0 * rollout, "clock/env_steps": env_steps + 100.0}
            record.append(row | {"eval:clock/env_steps": env_steps, "eval:episode/return": mean})
            late = {"clock/rollouts": 2.0 * rollout + 1, "clock/env_steps": env_steps + 150.0}
            record.append(late | ({"episode/return": 7.0} if rollout in (3, 5) else {}))
    curves = results.learning_curves(Path(made.path))
    assert curves["training"] == {"env_steps": [550, 750], "return": [7.0, 7.0]}
    found = curves["evaluation"]
    kept = list(zip(found["env_steps"], found["return"], strict=True))
    assert len(kept) == 50
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert [point for point in points if point in kept] == kept
    assert max(np.diff(found["env_steps"])) <= 300

    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    path = results.save_result(results.build_result("Some-v0:ppo", [made], 475))
    assert results.load_result("Some-v0:ppo")["seeds"][0]["curves"] == curves
    assert len(path.read_text().splitlines()) < 50


def test_a_run_without_rows_has_empty_curves(tmp_path: Path):
    nothing: dict[str, list[float]] = {"env_steps": [], "return": []}
    assert results.learning_curves(tmp_path) == {"training": nothing, "evaluation": nothing}


def test_a_preset_without_a_result_is_an_error_that_lists_the_others():
    with pytest.raises(UsageError, match="no result is stored for Some-v0:ppo") as refusal:
        results.load_result("Some-v0:ppo")
    assert "CartPole-v1:ppo" in str(refusal.value)


def test_docs_results_is_up_to_date():
    assert (ROOT / "docs" / "results.md").read_text() == results.results_page()


@pytest.mark.parametrize("result", results.all_results(), ids=lambda result: result["preset"])
def test_every_stored_result_reaches_its_threshold_or_a_published_score(result: StoredResult):
    """The threshold of an environment may be higher than any published score of the algorithm."""
    facts = resolve(result["preset"]).config.facts
    assert result["threshold"] == facts.threshold
    bars = [x.score for x in facts.published if x.algorithm == result["preset"].partition(":")[2]]
    bars += [facts.threshold] if facts.threshold is not None else []
    assert result["iqm"] >= min(bars, default=float("-inf"))
    assert result["revision"]
    assert all(min(map(len, entry["curves"]["evaluation"].values())) for entry in result["seeds"])
    minutes = sum(entry["seconds"] for entry in result["seeds"]) / 60
    assert len(result["seeds"]) >= 3 or minutes > 2, "training three seeds would only take minutes"


def test_a_stored_result_is_not_replaced_by_one_of_fewer_seeds(tmp_path: Path):
    preset = next(r["preset"] for r in results.all_results() if len(r["seeds"]) > 1)
    with pytest.raises(UsageError, match="this one would have 1"):
        cli(
            ["reproduce", preset, "--store", "--seeds", "1", "--runs", str(tmp_path)],
            standalone_mode=False,
        )
    assert not list(tmp_path.iterdir())
