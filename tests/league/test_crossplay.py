"""The cross-play matrix as data, text and heat map."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from gymnast.errors import GymnastError
from gymnast.league import heatmap
from gymnast.league.matrix import CrossPlayMatrix, CrossPlayReport
from gymnast.league.results import Results, Tally
from gymnast.records import from_json, to_json
from gymnast.rl.statistics import wilson_interval

PAIRS = {
    ("1000", "scripted:easy"): Tally(90, 10),
    ("200", "scripted:easy"): Tally(3, 5, draws=2, unknown=1),
    ("200", "0"): Tally(0, 7, unknown=2),
    ("1000", "7"): Tally(unknown=4),
}


def matrix() -> CrossPlayMatrix:
    return CrossPlayMatrix.from_results(Results("seeker", "hider", dict(PAIRS)))


def test_each_cell_is_the_win_rate_of_its_row_and_empty_without_known_outcomes():
    found = matrix().report("a run", "a file")
    assert from_json(CrossPlayReport, to_json(found)) == found
    assert (found.row_role, found.column_role) == ("seeker", "hider")
    assert (found.rows, found.columns) == (("200", "1000"), ("0", "7", "scripted:easy"))
    for row, line in zip(found.rows, found.cells, strict=True):
        for column, cell in zip(found.columns, line, strict=True):
            tally = PAIRS.get((row, column), Tally())
            known = tally.row_wins + tally.column_wins + tally.draws
            assert (cell.matches, cell.unknown) == (known, tally.unknown)
            if known:
                expected = wilson_interval(tally.row_wins + tally.draws / 2, known)
                ends = (expected.mean, expected.low, expected.high)
                assert (cell.rate, cell.low, cell.high) == ends
            else:
                assert (cell.rate, cell.low, cell.high) == (None, 0, 1)


def test_rows_and_columns_can_be_chosen():
    found = CrossPlayMatrix.from_results(
        Results("seeker", "hider", dict(PAIRS)), ["1000", "new"], ["scripted:easy"]
    )
    assert found.rows == ("1000", "new")
    assert found.cells == ((Tally(90, 10),), (Tally(),))


def test_an_empty_matrix_has_no_cells():
    empty = CrossPlayMatrix.from_results(Results("seeker", "hider"))
    assert empty.report().cells == ()


def test_the_heat_map_is_red_where_the_row_loses_and_blue_where_it_wins():
    """One seeker that always loses and one that always wins: half of the cells each."""
    pairs = {("0", name): Tally(0, 50) for name in "xyz"}
    pairs |= {("1", name): Tally(50, 0) for name in "xyz"}
    png = heatmap.heatmap_png(
        CrossPlayMatrix.from_results(Results("seeker", "hider", pairs)).report()
    )
    assert len(png) < 30_000
    pixel = np.asarray(Image.open(io.BytesIO(png)).convert("RGB")).astype(int)
    red, _, blue = np.moveaxis(pixel, 2, 0)
    of_red, of_blue = (np.argwhere(mask) for mask in (red - blue > 60, blue - red > 60))
    left = slice(0, int(0.8 * pixel.shape[1]))  # without the color bar
    cells_red, cells_blue = (part[part[:, 1] < left.stop] for part in (of_red, of_blue))
    assert len(cells_red) == pytest.approx(len(cells_blue), rel=0.1)
    assert cells_red[:, 0].max() <= cells_blue[:, 0].min() + 2, "the first row is on top"


@pytest.mark.parametrize("pairs", [{}, PAIRS], ids=["nothing", "some never met"])
def test_a_heat_map_can_be_drawn_of_any_table(pairs: dict[tuple[str, str], Tally]):
    png = heatmap.heatmap_png(
        CrossPlayMatrix.from_results(Results("seeker", "hider", dict(pairs))).report()
    )
    assert Image.open(io.BytesIO(png)).format == "PNG"


def test_without_matplotlib_the_error_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(GymnastError, match=r"matplotlib.*\n.*gymnast\[report\]"):
        heatmap.heatmap_png(matrix().report())


def test_matplotlib_is_imported_only_to_draw():
    code = """
import sys
import gymnast.league.heatmap, gymnast.league.pool, gymnast.league.ratings
assert not {"matplotlib", "torch", "gymnasium"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
