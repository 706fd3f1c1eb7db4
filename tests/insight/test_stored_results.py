"""Stored results: what ships is shown, and a repetition is judged by what was stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gymnast.config.resolve import resolve
from gymnast.errors import UsageError
from gymnast.insight import results

ROOT = Path(__file__).parents[2]


def run(seed: int, mean: float, low: float, *, solved: bool = True) -> dict[str, Any]:
    """run.json of a finished seed, as far as results read it."""
    return {
        "id": f"run{seed}",
        "seed": seed,
        "status": "finished",
        "solved": solved,
        "score": {"mean": mean, "low": low, "high": 2 * mean - low, "iqm": mean, "episodes": 100},
        "clocks": {"env_steps": 1000, "seconds": 1.0},
        "revision": "abc",
        "versions": {"python": "3.11"},
        "cpu": {"model": "some"},
    }


@pytest.fixture
def before() -> dict[str, Any]:
    return results.of_group("Some-v0:ppo", [run(0, 490, 480), run(1, 500, 500)], 475)


def test_the_same_scores_hold_and_are_identical(before: dict[str, Any]):
    verdict = results.verdict(before, [run(0, 490, 480), run(1, 500, 500)])
    assert verdict["holds"]
    assert verdict["identical"]


def test_other_scores_within_the_stored_interval_hold(before: dict[str, Any]):
    verdict = results.verdict(before, [run(0, 486, 476)])
    assert verdict["holds"]
    assert not verdict["identical"]


def test_a_worse_mean_does_not_hold(before: dict[str, Any]):
    assert not results.verdict(before, [run(0, 470, 460), run(1, 480, 476)])["holds"]


def test_a_seed_that_is_no_longer_solved_does_not_hold(before: dict[str, Any]):
    verdict = results.verdict(before, [run(0, 490, 470, solved=False), run(1, 500, 500)])
    assert not verdict["holds"]
    assert verdict["seeds_no_longer_solved"] == [0]


def test_a_preset_without_a_result_says_which_have_one():
    with pytest.raises(UsageError, match="no result is stored for Some-v0:ppo") as refusal:
        results.stored("Some-v0:ppo")
    assert "CartPole-v1:ppo" in str(refusal.value)


def test_the_page_of_results_is_as_generated():
    assert (ROOT / "docs" / "results.md").read_text() == results.markdown()


@pytest.mark.parametrize("result", results.every(), ids=lambda result: result["preset"])
def test_what_ships_clears_its_threshold_or_what_others_published(result: dict[str, Any]):
    """An environment's own threshold may be beyond what the algorithm is known to reach."""
    facts = resolve(result["preset"]).config.facts
    assert result["threshold"] == facts.threshold
    bars = [x.score for x in facts.published if x.algorithm == result["preset"].partition(":")[2]]
    bars += [facts.threshold] if facts.threshold is not None else []
    assert result["iqm"] >= min(bars, default=float("-inf"))
    assert result["revision"]
    minutes = sum(entry["seconds"] for entry in result["seeds"]) / 60
    assert len(result["seeds"]) >= 3 or minutes > 2, "three seeds of it are a matter of minutes"
