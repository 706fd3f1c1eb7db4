"""The autotuner: which parameters it searches, where, and how its result is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from gymnast import api
from gymnast.api import sweep_prepare as sweeps
from gymnast.config.check import check
from gymnast.config.config import Config
from gymnast.config.presets import all_presets
from gymnast.config.resolve import resolve
from gymnast.config.schedule import Schedule
from gymnast.errors import UsageError
from gymnast.sweep.autotune import narrowed, shortened
from gymnast.sweep.objective import Objective
from gymnast.sweep.parameter import Range
from gymnast.sweep.shipped import space_text
from gymnast.sweep.space import Space
from gymnast.sweep.space_file import parse_space
from gymnast.sweep.space_writer import write_space
from tests.sweep.table import table_study

TARGETS = [
    name
    for name, preset in all_presets().items()
    if preset.is_builtin and name != "tag" and "pettingzoo" not in name
]


def around(target: str) -> tuple[Space, Config]:
    space = parse_space(space_text(target), validate=False).space
    config = resolve(target).config
    return narrowed(space, config), config


@pytest.mark.parametrize("target", [*TARGETS, "CartPole-v1:dqn", "CartPole-v1:reinforce"])
def test_the_space_around_a_preset_is_valid_and_written_as_it_is_read(target: str):
    space, _ = around(target)
    again = parse_space(write_space(space, Objective()))  # validates every bound and choice
    assert again.space.parameters == space.parameters
    assert again.space.templates == space.templates


@pytest.mark.parametrize("target", TARGETS)
def test_the_learning_rate_of_a_preset_lies_inside_its_range(target: str):
    space, config = around(target)
    lr = next(one for one in space.parameters if one.name.startswith("algo.lr"))
    value = config.algo.lr  # pyright: ignore[reportAttributeAccessIssue]
    peak = value.highest if isinstance(value, Schedule) else value
    assert isinstance(lr, Range)
    assert lr.low < peak < lr.high
    assert lr.high / lr.low == pytest.approx(25, rel=0.05)


def test_the_shape_of_a_schedule_stays_as_it_is():
    space, config = around("CartPole-v1:ppo")
    name = next(iter(space.parameters)).name
    changed = space.overrides({name: 0.004})
    assert changed == {"algo.lr": "0.004 -> 0"}
    assert config.algo.lr == Schedule.parse("1e-3 -> 0")  # pyright: ignore[reportAttributeAccessIssue]


def test_a_short_time_searches_the_most_important_parameters():
    space = parse_space(space_text("CartPole-v1:ppo"), validate=False).space
    names = [one.name for one in shortened(space, 3).parameters]
    assert names == ["algo.lr.peak", "algo.lr.end", "algo.gamma", "algo.epochs"]
    few = shortened(parse_space(space_text("CartPole-v1:reinforce"), validate=False).space, 3)
    assert not any(one.when for one in few.parameters)


@pytest.mark.slow
def test_a_longer_time_plans_more_work(runs_dir: Path):
    short, long = (
        sweeps.plan_tuning("CartPole-v1", minutes=minutes, runs_dir=runs_dir).prepared.estimate
        for minutes in (1.0, 20.0)
    )
    assert short.env_steps < long.env_steps
    assert short.trials < long.trials
    assert len(short.parameters) <= len(long.parameters)
    assert long.minutes < 20
    assert api.sweep_list() == []


@pytest.mark.slow
def test_runs_that_are_judged_by_their_score_train_to_the_end(runs_dir: Path):
    planned = sweeps.plan_tuning("CartPole-v1", minutes=5, objective="score", runs_dir=runs_dir)
    space = planned.prepared.file.space
    config = resolve("CartPole-v1", space.settings).config
    assert planned.prepared.file.objective.kind == "score"
    stop = config.stop
    assert (stop.solved, stop.train_return, stop.eval_return, stop.plateau) == (False, *[None] * 3)
    kept = sweeps.plan_tuning("CartPole-v1", minutes=5, runs_dir=runs_dir).prepared.file
    assert resolve("CartPole-v1", kept.space.settings).config.stop.eval_return == 495


@pytest.mark.parametrize("minutes", [0.0, -1.0, float("inf")])
def test_a_time_that_cannot_be_planned_is_an_error(minutes: float, runs_dir: Path):
    with pytest.raises(UsageError, match="minutes"):
        sweeps.plan_tuning("CartPole-v1", minutes=minutes, runs_dir=runs_dir)


def test_the_patch_is_a_variant_that_trains_with_the_settings_of_the_winner(
    runs_dir: Path, tmp_path: Path
):
    study = table_study(runs_dir, "table")
    best = api.sweep_best("table")
    assert not best.trial.is_baseline
    assert best.confirmation is not None
    file = tmp_path / "CartPole-v1.yaml"
    file.write_text(f"env: {{id: CartPole-v1}}\n{best.patch}")
    assert check([str(file)]) == {str(file): []}
    text = best.patch
    assert f"# {best.confirmation.verdict}" in text
    assert study.name in text
    for value in best.trial.overrides.values():
        assert str(value) in text
    assert f"algo.lr={best.trial.overrides['algo.lr']}" in best.command
