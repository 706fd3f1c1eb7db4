from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gymnast.text.chart import BLOCKS, line_chart, short_number, sparkline

NAN = math.nan


def test_a_sparkline_rises_with_its_values():
    assert sparkline(range(8)) == BLOCKS
    assert sparkline([3, 2, 1]) == "█▅▁"


def test_a_missing_value_is_a_gap_and_not_a_zero():
    assert sparkline([10, NAN, 20, math.inf]) == "▁ █ "
    assert sparkline([NAN, NAN]) == "  "
    assert sparkline([]) == ""


def test_many_values_are_averaged_into_few_bars():
    assert sparkline([0, 0, 1, 1, NAN, 2], width=3) == "▁▅█"
    assert len(sparkline(range(1000), width=13)) == 13


def test_equal_values_are_flat():
    assert sparkline([5, 5, 5]) == "▁▁▁"


@given(st.lists(st.floats(), max_size=50), st.integers(1, 30))
def test_any_values_fit_the_width(values: list[float], width: int):
    assert len(sparkline(values, width)) == min(len(values), width)
    line_chart({"a": (range(len(values)), values)}, width=10, height=4)


def cells(chart: str, mark: str) -> set[tuple[int, int]]:
    lines = chart.splitlines()
    edge = lines[0].index("┤")
    drawn = [line for line in lines if len(line) > edge and line[edge] in "┤│"]
    return {
        (x - edge - 1, y)
        for y, line in enumerate(drawn)
        for x, c in enumerate(line)
        if c == mark and x > edge
    }


def test_every_series_is_drawn_at_its_own_x_values():
    chart = line_chart({"long": ([0, 100], [0, 0]), "short": ([0, 50], [1, 1])}, width=21, height=3)
    assert cells(chart, "●") == {(x, 2) for x in range(21)}
    assert cells(chart, "○") == {(x, 0) for x in range(11)}  # half as long, not stretched
    assert "● long   ○ short" in chart


def test_points_are_joined_and_missing_values_are_skipped():
    chart = line_chart({"a": ([0, 5, 10], [0, NAN, 10])}, width=11, height=11)
    assert cells(chart, "●") == {(i, 10 - i) for i in range(11)}


def test_a_single_point_and_an_empty_series_can_be_drawn():
    assert cells(line_chart({"a": ([3], [7])}, width=9, height=3), "●") == {(0, 2)}
    assert line_chart({"a": ([], [])}) == "(nothing to draw yet)"


def test_axes_are_labeled_at_their_ends():
    chart = line_chart({"a": ([0, 120_000], [-200, 1.5])}, x_label="env_steps")
    assert "120k" in chart
    assert "-200" in chart
    assert "env_steps" in chart


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999.9, "1k"), (1500, "1.5k"), (-2e6, "-2M"), (0.12345, "0.123"), (999_990, "1M")],
)
def test_axis_labels_are_short(value: float, text: str):
    assert short_number(value) == text
