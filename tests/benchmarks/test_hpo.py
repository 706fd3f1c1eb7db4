"""The table of HPO-RL-Bench's PPO space, the methods that are compared on it, and the stored comparison."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from benchmarks.hpo.__main__ import PAGE, RESULT
from benchmarks.hpo.compare import (
    CHOSEN_ON,
    OBJECTIVES,
    choices,
    facts,
    methods,
    split_of,
    summary,
)
from benchmarks.hpo.grid import (
    BUDGET,
    CONFIGURATIONS,
    EVERY,
    POINTS,
    TASKS,
    Configuration,
    settings_of,
)
from benchmarks.hpo.methods import asha, index_of, random_search
from benchmarks.hpo.page import page
from benchmarks.hpo.regret import Split, bootstrap_interval, normalized_regret, value_range
from benchmarks.hpo.replay import BudgetSpent, Replay, progress_of
from benchmarks.hpo.table import Table
from gymnast.sweep.objective import Objective

RETURNS = {
    "CartPole-v1": (1, 500),
    "MountainCar-v0": (-200, -1),
    "Acrobot-v1": (-500, 0),
    "Pendulum-v1": (-3254.721, 0),
}
"""Task -> the lowest and the highest possible return."""


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.load()


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return json.loads(RESULT.read_text())


def noiseless(best: int) -> Replay:
    """Returns a search in which every configuration has a constant curve, and `best` the highest one."""
    value = -np.abs(np.arange(len(CONFIGURATIONS)) - best).astype(float)
    curves = np.broadcast_to(value[:, None, None], (len(CONFIGURATIONS), 3, POINTS))
    return Replay(curves, curves, 5_000_000)


def test_the_grid_has_the_108_configurations_of_hpo_rl_bench() -> None:
    assert len(set(CONFIGURATIONS)) == 108
    assert CONFIGURATIONS[index_of(3, 4, 0)] == Configuration(1e-3, 0.99, 0.2)
    assert CONFIGURATIONS[index_of(5, 5, 2)] == Configuration(1e-1, 1.0, 0.4)


def test_the_table_is_complete_and_names_a_clean_revision(table: Table) -> None:
    tasks, configurations, seeds, points = table.curves.shape
    assert (tasks, configurations, points) == (4, 108, 20)
    assert seeds >= 3
    for task, (low, high) in RETURNS.items():
        assert (table.of(task) >= low).all()
        assert (table.of(task) <= high).all()
    assert len(table.about["revision"]) == 40
    assert f"--seeds {seeds}" in table.about["command"]


def test_seeds_of_the_table_differ(table: Table) -> None:
    for task in TASKS:
        of_seed = {table.of(task)[:, seed].tobytes() for seed in range(table.curves.shape[2])}
        assert len(of_seed) == table.curves.shape[2]


@pytest.mark.slow
def test_a_training_of_the_table_gives_the_evaluations_of_an_ordinary_run(tmp_path: Any) -> None:
    from benchmarks.hpo.training import evaluation_curve
    from gymnast.runs.curve import curve_of, read_rows
    from gymnast.training.python_api import train

    settings = settings_of("Pendulum-v1", Configuration(1e-2, 0.98, 0.3), 3)
    settings |= {"stop.env_steps": 4 * EVERY, "eval.confirm_episodes": 1}
    run = train("Pendulum-v1", algo="ppo", overrides=settings, runs_dir=tmp_path, quiet=True)
    steps, returns = curve_of(read_rows(run), "env_steps")
    assert steps == [EVERY, 2 * EVERY, 3 * EVERY, 4 * EVERY]
    assert evaluation_curve("Pendulum-v1", settings) == returns


def test_regret_is_zero_for_the_best_and_one_for_an_average_configuration() -> None:
    values = np.array([[0.0, 0.0, 0.0], [6.0, 6.0, 6.0], [3.0, 3.0, 3.0]])
    assert normalized_regret(values, (2,), 1) == 0
    assert normalized_regret(values, (0, 1), 2) == 1
    assert normalized_regret(values, (0, 1), 0) == 2
    assert value_range(values) == 3


def test_regret_counts_only_fresh_seeds() -> None:
    values = np.array([[0.0, 10.0], [10.0, 6.0], [2.0, 2.0]])  # the second is best over all seeds
    assert normalized_regret(values, (1,), 0) == pytest.approx((6 - 10) / (8 - 5))
    assert normalized_regret(values, (0,), 0) == pytest.approx((10 - 0) / (8 - 5))


def test_a_split_separates_the_seeds_of_search_and_judgment() -> None:
    drawn = {Split.draw(5, np.random.default_rng(number)) for number in range(50)}
    assert len(drawn) == 6  # every order of the three seeds that searches see
    for split in drawn:
        assert sorted(split.search) == [0, 1, 2] == list(CHOSEN_ON)
        assert split.fresh == (3, 4)
    small = Split.draw(3, np.random.default_rng(0))
    assert (sorted(small.search), small.fresh) == ([0, 1], (2,))


@pytest.mark.parametrize(
    ("seeds", "seen", "fresh"), [(5, "0, 1 and 2", "3 and 4"), (3, "0 and 1", "2")]
)
def test_the_page_says_which_seeds_judge(
    stored: dict[str, Any], seeds: int, seen: str, fresh: str
) -> None:
    text = " ".join(page(stored | {"seeds": seeds}).split())
    assert f"Searches train on seeds {seen} only" in text
    assert re.search(f"judged on seeds? {fresh} only", text)
    assert ("may be too good" in text) == (seeds == 3)


def test_the_bootstrap_interval_of_a_mean_is_about_two_standard_errors_wide_on_each_side() -> None:
    samples = np.random.default_rng(1).normal(5, 2, 400)
    low, high = bootstrap_interval(samples, np.random.default_rng(2))
    assert low < samples.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * samples.std() / 20, rel=0.1)


def test_a_trial_that_continues_pays_only_for_the_rest() -> None:
    replay = noiseless(7)
    replay.train(0, 0, until=25_000)
    replay.train(0, 0, since=25_000)
    assert replay.spent == BUDGET
    replay.spent = replay.budget - BUDGET + 1
    with pytest.raises(BudgetSpent):
        replay.train(0, 0)


def test_progress_is_the_objective_of_the_curve_so_far() -> None:
    curve = np.random.default_rng(0).normal(size=(2, 3, POINTS))
    progress = progress_of(curve, Objective("score"))
    points = [((at + 1) * EVERY, float(curve[1, 2, at])) for at in range(8)]
    assert progress[1, 2, 7] == Objective("score").value(points, 8 * EVERY, budget=BUDGET)
    assert np.allclose(progress_of(np.full((1, POINTS), 3.0), Objective("area")), 3)


@pytest.mark.parametrize("name", methods(Objective("area")))
def test_every_method_finds_a_good_configuration_where_there_is_no_noise(name: str) -> None:
    replay = noiseless(best=61)
    chosen = methods(Objective("area"))[name](replay, 4)
    assert abs(chosen - 61) <= 8
    assert replay.spent <= replay.budget
    assert replay.spent > 0.9 * replay.budget


def test_random_search_trains_as_many_configurations_as_the_budget_has_trainings() -> None:
    replay = noiseless(best=3)
    random_search(replay, 0)
    assert replay.spent == 50 * BUDGET


def test_asha_spends_most_env_steps_on_the_better_trials() -> None:
    replay, trained = noiseless(best=50), dict[int, int]()

    def train(configuration: int, seed: int, *, since: int = 0, until: int = BUDGET) -> float:
        value = Replay.train(replay, configuration, seed, since=since, until=until)
        trained[configuration] = max(trained.get(configuration, 0), until)
        return value

    replay.train = train  # type: ignore[method-assign]
    asha(replay, 1)
    whole = [one for one, until in trained.items() if until == BUDGET]
    assert len(trained) > 100
    assert 2 <= len(whole) < len(trained) / 4
    assert np.median(np.abs(np.array(whole) - 50)) < np.median(np.abs(np.array([*trained]) - 50))


def test_the_stored_comparison_follows_from_the_stored_choices(
    table: Table, stored: dict[str, Any]
) -> None:
    assert stored["repetitions"] >= 50
    assert stored["table"] == table.about
    for kind, objective in OBJECTIVES.items():
        for task in TASKS:
            found = stored["objectives"][kind][task]
            assert found["range"] == pytest.approx(facts(table, task, objective)["range"])
            for name, figures in found["methods"].items():
                chosen = [(split_of(table, n), one) for n, one in enumerate(figures["chosen"])]
                assert len(chosen) == stored["repetitions"], name
                again = summary(table, task, objective, chosen)
                del again["chosen"]
                assert again == pytest.approx({key: figures[key] for key in again}), (task, name)


@pytest.mark.parametrize("kind", OBJECTIVES)
@pytest.mark.parametrize("task", TASKS)
def test_searching_again_gives_the_stored_choices(
    table: Table, stored: dict[str, Any], task: str, kind: str
) -> None:
    """One repetition of every method, another one for each task."""
    for name, method in methods(OBJECTIVES[kind]).items():
        number = TASKS.index(task) * 7 % stored["repetitions"]
        found = choices(table, task, OBJECTIVES[kind], method, range(number, number + 1))
        expected = stored["objectives"][kind][task]["methods"][name]["chosen"][number]
        assert found[0][1] == expected, name


def test_the_page_is_that_of_the_stored_figures(stored: dict[str, Any]) -> None:
    assert PAGE.read_text() == page(stored)
