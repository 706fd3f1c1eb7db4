"""The band of numbers below a frame shows every value and never covers the frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete

from gymnast.config.facts import Facts
from gymnast.film.actions import ActionLabels
from gymnast.film.band_canvas import HIGHLIGHT
from gymnast.film.episode_frame import EpisodeFrame
from gymnast.film.overlay import Band
from gymnast.play.keys import KeyBindings
from gymnast.spaces.spaces import convert_action_space

PICTURE = np.random.default_rng(0).integers(0, 255, (400, 600, 3), np.uint8)
SHOT = EpisodeFrame(
    PICTURE, 3, 12.5, 1.0, action=1, value=4.0, action_probs=np.array([0.2, 0.7, 0.1])
)
THREE = ActionLabels(convert_action_space(Discrete(3)), Facts(actions=("left", "stay", "right")))


def test_the_picture_above_the_band_is_unchanged():
    band = Band(600, THREE, length=10)
    frame = band.attach_below(SHOT)
    assert frame.shape == (400 + band.height, 600, 3)
    assert np.array_equal(frame[:400], PICTURE)


@pytest.mark.parametrize(
    "change",
    [
        {"step": 4},
        {"total": 13.5},
        {"reward": -1.0},
        {"value": None},
        {"action": 2},
        {"action_probs": np.array([0.3, 0.6, 0.1])},
        {"action": None, "ending": "terminated"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_change_of_a_shot_changes_the_band(change: dict):
    band = Band(600, THREE, length=10)
    assert not np.array_equal(band.draw(SHOT), band.draw(replace(SHOT, **change)))


def test_bars_are_as_long_as_their_probability_and_the_chosen_one_is_marked():
    band = Band(600, THREE)
    drawn = band.draw(SHOT)
    row = drawn[band.height - 13]  # through the bars
    marked = (row == HIGHLIGHT).all(-1)
    columns = np.flatnonzero(marked)
    assert len(columns) == pytest.approx(0.7 * 186, abs=2)
    assert 200 < columns.min() < columns.max() < 400  # the middle one of three


def test_actions_are_named_by_facts_or_by_number():
    assert THREE.action_text(1) == "stay"
    assert (
        ActionLabels(
            convert_action_space(Discrete(3, start=5)), Facts(actions=("a", "b", "c"))
        ).action_text(6)
        == "b"
    )
    assert ActionLabels(convert_action_space(Discrete(3))).action_text(2) == "2"
    assert (
        ActionLabels(
            convert_action_space(Box(-1, 1, (2,))), Facts(actions=("main", "side"))
        ).action_text([0.5, -1.0])
        == "main +0.50, side -1.00"
    )


def test_options_of_elements_are_named_by_facts_or_by_number():
    space = convert_action_space(MultiDiscrete([3, 2], start=[0, 5]))
    facts = Facts(actions=("turn", "dash"), options={"turn": ("left", "straight", "right")})
    assert space.option_names(facts) == (
        *("turn.left", "turn.straight", "turn.right"),
        *("dash.0", "dash.1"),
    )
    labels = ActionLabels(space, facts)
    assert labels.action_text([2, 5]) == "turn right, dash 5"
    shot = replace(SHOT, action=[0, 6], action_probs=np.array([0.2, 0.7, 0.1, 0.4, 0.6]))
    assert [(bar.label, bar.high) for bar in labels.bars(shot)] == [
        ("turn left", 0.2),
        ("dash 6", 0.6),
    ]
    keys = {"left": (0.0, 5.0), "space": (1.0, 6.0)}
    bindings = KeyBindings(
        MultiDiscrete([3, 2], start=[0, 5]),
        facts.model_copy(update={"keys": keys, "idle": (1.0, 5.0)}),
    )
    assert bindings.key_names() == {"left": "turn left", "space": "dash 6"}
    wrong = facts.model_copy(update={"options": {"turn": ("left", "right")}})
    assert space.action_text([2, 5], wrong) == "turn 2, dash 5"


def test_bars_of_continuous_actions_start_at_zero_within_their_range():
    bars = ActionLabels(
        convert_action_space(Box(np.array([-2, 0, -np.inf]), np.array([2, 1, np.inf])))
    ).bars(replace(SHOT, action=np.array([1.0, 0.25, 0.0]), action_probs=None))
    assert [(bar.low, bar.high) for bar in bars] == [(0.5, 0.75), (0.0, 0.25), (0.5, 0.5)]


@pytest.mark.parametrize("n", [1, 8, 9, 200])
@pytest.mark.parametrize("width", [400, 600, 1920])
def test_any_number_of_actions_fits_any_width(n: int, width: int):
    band = Band(
        width,
        ActionLabels(
            convert_action_space(Discrete(n)),
            Facts(actions=tuple(f"a rather long name {i}" for i in range(n))),
        ),
    )
    shot = replace(SHOT, action=0, action_probs=np.full(n, 1 / n))
    assert band.draw(shot).shape == (band.height, width, 3)
