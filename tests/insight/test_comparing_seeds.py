"""A difference between groups of seeds and whether it exceeds noise: properties, and small cases by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymnast import api
from gymnast.errors import RunError, UsageError
from gymnast.insight.improvement import (
    MAX_PAIRED,
    MEASURES,
    SideScores,
    improvement,
    improvements,
    over_seeds,
)
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

Record = Callable[..., Run]
Group = Callable[..., list[Run]]
property_test = settings(max_examples=25, deadline=None)
values = st.lists(st.integers(-8, 8).map(lambda i: i / 4 + 0.1), min_size=2, max_size=6)


def side(name: str, *scores: Sequence[float]) -> SideScores:
    """Returns a side with one environment per list of scores."""
    return SideScores(name, {f"Env-v{i}": own for i, own in enumerate(scores)})


@property_test
@given(values, values)
def test_the_probabilities_of_both_directions_sum_to_one(a: list[float], b: list[float]):
    forth, back = improvement(side("a", a), side("b", b)), improvement(side("b", b), side("a", a))
    wins = [1.0 if x > y else 0.5 if x == y else 0.0 for x, y in product(a, b)]
    assert forth.probability == pytest.approx(fmean(wins))
    assert forth.probability + back.probability == pytest.approx(1.0)
    assert forth.better == back.better
    assert forth.difference.mean == pytest.approx(-back.difference.mean)


@property_test
@given(values)
def test_a_group_compared_with_itself_never_exceeds_noise(a: list[float]):
    same = improvement(side("a", a), side("b", a))
    assert (same.probability, same.better, same.exceeds_noise) == (0.5, None, False)
    assert same.low <= 0.5 <= same.high


@property_test
@given(values, values, st.sampled_from([-1e3, 1e3]))
def test_a_large_shift_of_all_scores_exceeds_noise(a: list[float], b: list[float], shift: float):
    found = improvement(side("a", [x + shift for x in a]), side("b", b))
    assert found.exceeds_noise is True
    assert found.better == ("a" if shift > 0 else "b")
    assert found.probability == found.low == found.high == float(shift > 0)


@property_test
@given(values, values, st.randoms(use_true_random=False))
def test_the_order_of_seeds_changes_nothing(a: list[float], b: list[float], random: Any):
    shuffled = random.sample(a, len(a))
    assert improvement(side("a", a), side("b", b)) == improvement(side("a", shuffled), side("b", b))
    assert over_seeds(a) == over_seeds(shuffled)


def test_equal_scores_do_not_differ_by_rounding():
    """The mean of three times 0.1 is not the double 0.1."""
    found = improvement(side("a", [0.1] * 3), side("b", [0.1] * 5))
    assert (found.better, found.exceeds_noise) == (None, False)


def test_higher_is_better_for_negative_scores_too():
    found = improvement(side("a", [-200.0, -210.0, -190.0]), side("b", [-90.0, -80.0, -85.0]))
    assert (found.better, found.exceeds_noise) == ("b", True)


def test_one_seed_has_no_interval_and_the_reason_is_given():
    for a, b in (([1.0], [5.0, 6.0]), ([5.0, 6.0], [1.0])):
        found = improvement(side("a", a), side("b", b))
        assert (found.low, found.exceeds_noise) == (None, None)
        assert found.probability == float(a[0] > b[0])
        assert "has 1 seed" in found.problem
    runs = improvement(side("a", [1.0]), side("b", [1.0]))
    assert (runs.probability, runs.difference.mean, runs.better) == (0.5, 0.0, None)


def test_few_seeds_are_a_reason_for_caution():
    many, few = [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0]
    found = improvement(side("a", many), side("b", few))
    assert found.caution.startswith("b has 3 seeds: with fewer than 5")
    assert improvement(side("a", many), side("b", many)).caution == ""
    assert improvement(side("a", many), side("b", [1.0])).caution == ""  # unknown, not unreliable


def test_several_environments_are_compared_one_by_one_and_not_on_one_scale():
    worse = side("a", [400.0, 410.0, 420.0], [-110.0, -120.0, -115.0])
    better = side("b", [490.0, 495.0, 500.0], [-80.0, -85.0, -90.0])
    found = improvement(worse, better)
    assert (found.probability, found.better, found.exceeds_noise) == (0.0, "b", True)
    assert found.difference is None
    half = improvement(
        side("a", [400.0, 410.0], [1.0, 2.0]), side("b", [500.0, 510.0], [0.0, -1.0])
    )
    assert (half.probability, half.better, half.exceeds_noise) == (0.5, None, False)


def test_sides_with_different_environments_have_a_reason_instead_of_numbers():
    found = improvement(side("a", [1.0, 2.0]), side("b", [1.0, 2.0], [3.0, 4.0]))
    assert (found.probability, found.difference, found.better, found.exceeds_noise) == (None,) * 4
    assert found.problem.startswith("a was scored on Env-v0 and b on Env-v0 and Env-v1")
    nothing = improvement(side("a"), side("b", [1.0]))
    assert nothing.problem == "a has no evaluation yet"


def test_every_pair_is_compared_unless_there_are_many_sides():
    sides = [side(f"s{i}", [float(i)]) for i in range(MAX_PAIRED + 1)]
    assert len(improvements(sides[:4])) == 6
    assert [(found.a, found.b) for found in improvements(sides)] == [
        ("s0", f"s{i}") for i in range(1, MAX_PAIRED + 1)
    ]


def test_runs_can_be_joined_to_a_group(group: Group, record: Record, runs_dir: Path):
    runs = group("base", [100.0, 120.0, 140.0])
    joined = "+".join(run.id for run in reversed(runs))
    found = api.compare(["base", joined], runs_dir=runs_dir)
    first, second = found.groups
    assert second.name == joined
    assert second.members == first.members[::-1]
    assert (first.iqm, first.score, first.curve) == (second.iqm, second.score, second.curve)
    assert found.improvements[0].exceeds_noise is False
    with pytest.raises(UsageError, match="more than once"):
        api.compare(["base", f"{runs[0].id}+base"], runs_dir=runs_dir)
    with pytest.raises(RunError, match="nobody"):
        api.compare(["base", f"{runs[0].id}+nobody"], runs_dir=runs_dir)
    record([1.0, 2.0], name="a+b")
    assert not api.compare(["a+b", "a+b"], runs_dir=runs_dir).groups


def test_final_is_the_score_of_a_finished_run_and_else_the_latest_evaluation(
    group: Group, record: Record, runs_dir: Path
):
    (finished,) = group("done", [300.0])
    running = record([0.0, 80.0, 40.0, None])
    running.update(status="stopped", score={"mean": 80.0, "low": 1, "high": 2, "episodes": 9})
    never = record([None, None])
    found = api.compare([run.id for run in (finished, running, never)], runs_dir=runs_dir).runs
    assert [(run.final, run.best) for run in found] == [(300.0, 300.0), (40.0, 80.0), (None, None)]


def test_zero_is_a_score_and_not_a_missing_one(group: Group, runs_dir: Path):
    group("zero", [0.0, 0.0])
    group("below", [-1.0, -1.0])
    found = api.compare(["zero", "below"], runs_dir=runs_dir)
    assert found.runs[0].final == found.runs[0].best == 0.0
    assert found.groups[0].iqm.mean == 0.0
    assert found.improvements[0].better == "zero"


def test_unfinished_runs_count_only_if_no_run_of_the_group_has_finished(
    group: Group, record: Record, runs_dir: Path
):
    group("mixed", [300.0, 310.0])
    record([0.0, 10.0], group="mixed", seed=7).update(status="stopped")
    for run in group("live", [200.0, 220.0]):
        run.update(status="stopped")
    mixed, live = api.compare(["mixed", "live"], runs_dir=runs_dir).groups
    assert (mixed.runs, mixed.scored, mixed.provisional, mixed.score.mean) == (3, 2, False, 305.0)
    assert (live.runs, live.scored, live.provisional, live.score.mean) == (2, 2, True, 210.0)


def test_groups_with_several_environments_have_no_mean_score(group: Group, runs_dir: Path):
    for name, shift in (("a", 0.0), ("b", 50.0)):
        group(name, [100.0 + shift, 110.0 + shift])
        group(name, [-100.0 + shift, -110.0 + shift], env="Acrobot-v1")
    found = api.compare(["a", "b"], runs_dir=runs_dir)
    for side_found in found.groups:
        assert side_found.envs == ["Acrobot-v1", "CartPole-v1"]
        assert (side_found.score, side_found.iqm, side_found.area) == (None, None, None)
        assert side_found.curve.x == []
    (pair,) = found.improvements
    assert (pair.probability, pair.better, pair.exceeds_noise) == (0.0, "b", True)


def test_roles_and_tasks_have_curves_of_their_own(record: Record, runs_dir: Path):
    runs = [record([1.0, 2.0], group="duo", seed=seed) for seed in range(2)]
    alone = record([1.0, 2.0])
    for seed, run in enumerate(runs):
        with MetricStore(run.path / "metrics.db", "w") as store:
            (last,) = store.rows(last=1)
            # Another result for the last evaluated version, per role; the second seed lacks the hider.
            row = {key: value for key, value in last.items() if "clock/" in key}
            store.append(row | {"eval/seeker:match/win_rate": 0.5 + 0.1 * seed})
            if seed == 0:
                store.append(
                    row | {"eval/hider:match/win_rate": 0.25, "eval/x/y:match/win_rate": 1.0}
                )
    seeker, hider = api.compare(["duo", alone.id], runs_dir=runs_dir).parts
    assert (seeker.name, seeker.key) == ("seeker", "eval/seeker:match/win_rate")
    (curve,) = seeker.curves  # the single run has no roles
    assert (curve.name, curve.x, curve.y, curve.n) == ("duo", [64.0], [pytest.approx(0.55)], [2])
    assert (hider.curves[0].y, hider.curves[0].low, hider.curves[0].n) == ([0.25], [None], [1])


@pytest.mark.parametrize(("measure", "higher_is_better"), MEASURES.items())
def test_the_better_side_depends_on_the_direction_of_the_measure(
    measure: str, higher_is_better: bool
):
    low = SideScores("low", {"env": [0.0, 1.0]}, {measure: [10.0, 11.0, 12.0]})
    high = SideScores("high", {"env": [0.0, 1.0]}, {measure: [30.0, 31.0, 29.0]})
    (found,) = improvement(low, high).measures
    assert (found.measure, found.difference.mean) == (measure, pytest.approx(-19.0))
    assert found.better == ("high" if higher_is_better else "low")
    assert found.exceeds_noise is True
    (same,) = improvement(low, replace(low, name="same")).measures
    assert (same.better, same.exceeds_noise) == (None, False)


def test_a_measure_that_some_runs_lack_is_not_judged():
    """The steps of the only seed that reached the threshold do not make a group faster."""
    lucky = SideScores("lucky", {"env": [0.0, 1.0]}, {"steps_to_threshold": [10.0, None]})
    steady = SideScores("steady", {"env": [0.0, 1.0]}, {"steps_to_threshold": [20.0, 21.0]})
    (found,) = improvement(lucky, steady).measures
    assert (found.better, found.exceeds_noise) == (None, None)
    assert found.problem == "only 1 of 2 runs of lucky have a value"
    never = SideScores("never", {"env": [0.0, 1.0]}, {"steps_to_threshold": [None, None]})
    assert improvement(never, steady).measures == []


def test_the_measures_of_a_comparison_are_those_of_its_runs(group: Group, runs_dir: Path):
    group("slow", [480.0, 490.0])
    group("weak", [100.0, 120.0])
    (pair,) = api.compare(["slow", "weak"], runs_dir=runs_dir).improvements
    assert [found.measure for found in pair.measures] == [
        "best",
        "area",
    ]  # no seed of weak is solved
    assert pair.measures[0].difference.mean == pytest.approx(485.0 - 110.0)
    assert {found.better for found in pair.measures} == {"slow"}
