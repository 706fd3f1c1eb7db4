"""The plots of a stored study through the API."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from gymnast import api
from gymnast.errors import RunError
from gymnast.sweep.plot_data import study_plots
from tests.sweep.synthetic import PLAN, SPACE, synthetic_study, write_study


def test_a_stored_study_has_the_plots_of_its_state(runs_dir: Path):
    state = synthetic_study()
    write_study(runs_dir, state=state)
    assert api.sweep_plots("mine") == study_plots("mine", SPACE, PLAN, state)


def test_the_picture_is_drawn_if_it_is_asked_for(runs_dir: Path):
    write_study(runs_dir)
    assert api.sweep_plots("@last").png == ""
    png = base64.b64decode(api.sweep_plots("@last", picture=True).png)
    assert png.startswith(b"\x89PNG")


def test_an_unknown_study_is_an_error():
    with pytest.raises(RunError, match="no study 'other'"):
        api.sweep_plots("other")
