"""Foreign files: matches are averaged over windows; roles and runs of one file are separated."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gymnast.errors import RunError
from gymnast.foreign.column_map import read_column_map
from gymnast.foreign.table import read_table
from gymnast.monitor.foreign import read_foreign_runs
from gymnast.monitor.match_rows import outcome_shares, rolling_mean, rolling_wins
from gymnast.monitor.monitored_run import MonitoredRun
from gymnast.rl.statistics import wilson_interval

WINDOW = 5


@pytest.fixture
def values() -> np.ndarray:
    """Random values, a quarter of them missing."""
    random = np.random.default_rng(0)
    values = random.normal(size=60)
    values[random.random(60) < 0.25] = math.nan
    return values


def read(
    place: Path, header: str, rows: Sequence[Sequence[object]], column_map: str
) -> list[MonitoredRun]:
    """Returns the runs of a CSV file with these rows."""
    file, map_file = place / "log.csv", place / "map.yaml"
    with file.open("w", newline="") as stream:
        csv.writer(stream).writerows([header.split(), *rows])
    map_file.write_text(column_map)
    return read_foreign_runs(str(file), read_column_map(map_file), str(map_file))


def test_a_rolling_mean_is_that_of_the_last_known_values(values: np.ndarray):
    means = rolling_mean(values, WINDOW)
    for i in range(len(values)):
        known = [value for value in values[: i + 1] if not math.isnan(value)][-WINDOW:]
        expected = sum(known) / len(known) if known else math.nan
        assert means[i] == pytest.approx(expected, nan_ok=True)


def test_a_rolling_win_rate_ignores_unknown_outcomes_and_old_matches():
    random = np.random.default_rng(1)
    scores = random.choice([0.0, 0.5, 1.0, math.nan], size=80)
    found = rolling_wins(scores, "seeker", WINDOW)
    for i in range(len(scores)):
        known = [score for score in scores[: i + 1] if not math.isnan(score)][-WINDOW:]
        if known:
            expected = wilson_interval(sum(known), len(known))
            assert found["seeker:league/win_rate"][i] == pytest.approx(np.mean(known))
            assert found["seeker:league/win_low"][i] == pytest.approx(expected.low)
            assert found["seeker:league/win_high"][i] == pytest.approx(expected.high)
        else:
            assert math.isnan(found["seeker:league/win_rate"][i])


def test_the_shares_of_outcomes_add_up_to_one_with_the_unknown_ones():
    outcomes = ["tag", "timeout", "unknown", "tag", "tag", "timeout"]
    shares = outcome_shares(outcomes, 3)
    assert set(shares) == {"match/tag_share", "match/timeout_share", "match/unknown_share"}
    assert np.allclose(sum(shares.values()), 1.0)
    assert shares["match/tag_share"][-1] == pytest.approx(2 / 3)


def test_rows_that_are_matches_become_windows_and_single_matches(tmp_path: Path):
    rows = [
        [10 * i, 7 + i, i % 2, 1 - i % 2, ["caught", "Time Out"][i % 2], i, -i] for i in range(1, 9)
    ]
    rows[3][2:5] = ["", "", ""]
    (run,) = read(
        tmp_path,
        "step len s h end rs rh",
        rows,
        "rows: matches\nwindow: 4\nroles: [seeker, hider]\ncolumns:\n"
        "  clock/env_steps: step\n  match/duration: len\n  match/outcome: end\n"
        "  seeker:match/won: s\n  hider:match/won: h\n"
        "  seeker:episode/return: rs\n  hider:episode/return: rh\n",
    )
    assert run.run == "log"
    assert run.column("seeker:episode/return")[-1] == np.mean([5, 6, 7, 8])
    assert run.column("seeker:episode/count").tolist() == [1, 2, 3, 4, 4, 4, 4, 4]
    assert run.column("match/unknown_share")[-1] == 0.0
    assert run.column("match/unknown_share")[4] == 0.25
    assert run.column("seeker:league/win_rate")[-1] + run.column("hider:league/win_rate")[-1] == 1.0
    assert run.matches is not None
    assert run.matches.length.tolist() == [7 + i for i in range(1, 9)]
    assert run.matches.outcome[3] == "unknown"
    assert run.matches.outcome[0] == "time_out"
    assert run.matches.returns["hider"].tolist() == [-i for i in range(1, 9)]


def test_a_file_with_several_runs_is_split_by_their_column(tmp_path: Path):
    rows = [
        [name, seed, step, step * seed] for step in (1, 2, 3) for name, seed in (("a", 1), ("b", 2))
    ]
    runs = read(
        tmp_path,
        "id seed step reward",
        rows,
        "run: {column: id}\nseed: {column: seed}\ncolumns: {clock/env_steps: step, episode/return: reward}",
    )
    assert [(run.run, run.seed, run.roles) for run in runs] == [("a", 1, ()), ("b", 2, ())]
    assert [run.column("episode/return").tolist() for run in runs] == [[1, 2, 3], [2, 4, 6]]


def test_a_file_with_a_row_per_role_is_joined_on_its_env_steps(tmp_path: Path):
    rows = [
        ["hider", 1, 5, 0.1],
        ["seeker", 1, -5, 0.9],
        ["seeker", 2, -4, 0.8],
        ["hider", 3, 6, 0.2],
    ]
    (run,) = read(
        tmp_path,
        "agent step reward won",
        rows,
        "role: {column: agent}\ncolumns:\n  clock/env_steps: step\n  episode/return: reward\n"
        "  league/win_rate: won\n",
    )
    assert run.roles == ("hider", "seeker")
    assert run.env_steps.tolist() == [1, 2, 3]
    assert run.points("seeker:episode/return")[1].tolist() == [-5, -4]
    assert run.points("hider:league/win_rate")[0].tolist() == [1, 3]
    assert math.isnan(run.column("hider:episode/return")[1])


def test_a_file_about_one_role(tmp_path: Path):
    (run,) = read(
        tmp_path,
        "step reward won eval",
        [[1, 2, 0.5, 0.4]],
        "role: seeker\ncolumns:\n  clock/env_steps: step\n  episode/return: reward\n"
        "  league/win_rate: won\n  eval:match/win_rate: eval\n",
    )
    assert run.roles == ("seeker",)
    assert run.column("eval/seeker:match/win_rate").tolist() == [0.4]
    assert run.column("seeker:league/win_rate").tolist() == [0.5]


def test_a_run_with_two_approaches_is_refused(tmp_path: Path):
    with pytest.raises(RunError, match="one approach per run"):
        read(
            tmp_path,
            "a step r",
            [["x", 1, 1], ["y", 2, 1]],
            "approach: {column: a}\ncolumns: {clock/env_steps: step, episode/return: r}",
        )


def test_texts_of_spreadsheets_are_read(tmp_path: Path):
    """A byte order mark, Windows line ends, a quoted cell with a line break, a flag in words."""
    (tmp_path / "map.yaml").write_text(
        "rows: matches\nrole: a\ncolumns: {clock/env_steps: step, episode/return: r, match/won: won}"
    )
    file = tmp_path / "log.csv"
    file.write_bytes('\ufeffstep,r,won,note\r\n1,2,TRUE,"x\r\ny"\r\n2,4,False,\r\n'.encode())
    column_map = read_column_map(tmp_path / "map.yaml")
    (run,) = read_foreign_runs(str(file), column_map, "map.yaml")
    assert run.column("a:episode/return").tolist() == [2, 3]
    assert run.column("a:league/win_rate").tolist() == [1, 0.5]
    file.write_bytes(b'step,r,won,note\n1,2,1,"x\ny"\n2,z,0,\n')
    with pytest.raises(RunError) as refusal:
        read_foreign_runs(str(file), column_map, "map.yaml")
    assert refusal.value.at == f"{file}:4", "the line in the file"


@pytest.mark.parametrize("field", ["seed", "approach"])
def test_a_constant_of_a_run_needs_a_value(tmp_path: Path, field: str):
    with pytest.raises(RunError, match=f"the {field} of the run"):
        read(
            tmp_path,
            "a step r",
            [["", 1, 1], ["", 2, 1]],
            f"{field}: {{column: a}}\ncolumns: {{clock/env_steps: step, episode/return: r}}",
        )


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("log.txt", b"step\n1\n", "expected .csv or .jsonl"),
        ("log.csv", b"\xff\xfe\x00", "is not UTF-8 text"),
        ("log.csv", None, "No such file"),
    ],
)
def test_a_file_that_cannot_be_read_is_explained(
    tmp_path: Path, name: str, content: bytes | None, words: str
):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(RunError) as refusal:
        read_table(str(tmp_path / name))
    assert words in str(refusal.value)
