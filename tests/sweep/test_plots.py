"""The plots of a study: their data, and the picture that is drawn from it."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
from PIL import Image

from gymnast.records import from_json, to_json
from gymnast.sweep.history import History, Measurement
from gymnast.sweep.parameter import Choices
from gymnast.sweep.plot_data import StudyPlots, study_plots
from gymnast.sweep.plot_picture import study_png
from gymnast.sweep.state import StudyState
from tests.sweep.synthetic import PLAN, SPACE, quality, synthetic_study


@pytest.fixture(scope="module")
def state() -> StudyState:
    return synthetic_study()


@pytest.fixture(scope="module")
def plots(state: StudyState) -> StudyPlots:
    return study_plots("mine", SPACE, PLAN, state)


def test_every_trial_is_plotted_with_its_status(state: StudyState, plots: StudyPlots):
    assert [one.number for one in plots.trials] == [*range(len(state.search.trials))]
    for one, trial in zip(plots.trials, state.search.trials, strict=True):
        if one.number == len(plots.trials) - 1:
            expected = "training"
        elif one.number and one.number % 7 == 0:
            expected = "failed"
        elif trial.assignment is None or quality(dict(trial.assignment)) > 250:
            expected = "complete"
        else:
            expected = "waiting"
        assert one.state == expected
        assert (one.value is None) == (expected in ("failed", "training"))
    assert [one.is_baseline for one in plots.trials] == [True, *[False] * 40]


def test_the_history_has_the_best_complete_value_so_far(plots: StudyPlots):
    best = -math.inf
    for one in plots.trials:
        if one.state == "complete" and one.value is not None:
            best = max(best, one.value)
        assert one.best == best
    complete = [one for one in plots.trials[1:] if one.state == "complete"]
    assert plots.best == max(complete, key=lambda one: one.value or 0.0).number


def test_positions_on_the_axes_lead_back_to_the_values(state: StudyState, plots: StudyPlots):
    for one, trial in zip(plots.trials, state.search.trials, strict=True):
        for parameter, position, text in zip(
            SPACE.parameters, one.positions, one.texts, strict=True
        ):
            used = trial.assignment is not None and parameter.name in trial.assignment
            assert (position is not None) == bool(text) == used
            if trial.assignment is None or position is None or not used:
                continue
            value = trial.assignment[parameter.name]
            if isinstance(parameter, Choices):
                assert parameter.choices[round(position * (parameter.size - 1))] == value
            elif parameter.log:
                exponent = -5 + 4 * position  # from 1e-5 to 1e-1
                assert float(str(value)) == pytest.approx(10**exponent, rel=1e-5)
            else:
                span = parameter.high - parameter.low
                assert float(str(value)) == pytest.approx(parameter.low + position * span, rel=1e-5)


def test_learning_curves_are_the_means_of_the_fresh_seeds(state: StudyState, plots: StudyPlots):
    assert [(one.trial, one.is_baseline) for one in plots.curves] == [
        (plots.best, False),
        (0, True),
    ]
    for one in plots.curves:
        units = [unit for unit in state.confirm.units if unit.trial == one.trial]
        runs = [state.confirm.results[unit.number].points for unit in units]
        assert (one.seeds, one.is_confirmed) == (5, True)
        assert one.curve.x == [x for x, _ in runs[0]]
        assert one.curve.y == pytest.approx(np.mean([[y for _, y in run] for run in runs], axis=0))


def test_without_a_confirmation_the_curves_are_those_of_the_search():
    plots = study_plots("mine", SPACE, PLAN, synthetic_study(confirmed=False))
    assert [(one.seeds, one.is_confirmed) for one in plots.curves] == [(1, False), (1, False)]


def test_the_record_survives_json(plots: StudyPlots):
    assert from_json(StudyPlots, to_json(plots)) == plots


def test_the_picture_has_all_plots_and_grows_with_the_parameters(plots: StudyPlots):
    picture = Image.open(io.BytesIO(study_png("a study", plots)))
    colors = {count for count, _ in picture.convert("RGB").getcolors(1 << 20) or ()}
    assert picture.width == 1320
    assert len(colors) > 10  # not an empty page


@pytest.mark.parametrize("kind", ["empty", "failed", "infinite"])
def test_studies_without_a_usable_result_can_be_plotted(kind: str):
    def result(*_: object) -> Measurement:
        if kind == "failed":
            return Measurement("failed", problem="no")
        return Measurement("reached", [(2000.0, math.inf)], env_steps=2000)

    state = StudyState() if kind == "empty" else synthetic_study(5, confirmed=False, result=result)
    plots = study_plots("mine", SPACE, PLAN, state)
    assert plots.best is None
    assert all(one.value is None for one in plots.trials)
    assert study_png("a study", plots).startswith(b"\x89PNG")
    to_json(plots)


def test_a_study_whose_journal_has_no_baseline_has_only_its_best_curve():
    state = synthetic_study(8, confirmed=False)
    trials = tuple(state.search.trials[1:])
    shifted = History(
        tuple(type(t)(t.number - 1, t.assignment, t.settings) for t in trials),
        tuple(
            type(u)(u.number - 1, u.trial - 1, u.seed, u.env_steps) for u in state.search.units[1:]
        ),
        {number - 1: one for number, one in state.search.results.items() if number},
    )
    plots = study_plots("mine", SPACE, PLAN, StudyState(shifted))
    assert [one.is_baseline for one in plots.curves] == [False]
