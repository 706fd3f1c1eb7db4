"""Planted faults in files that are monitored: each is one error with file, column, expectation and remedy."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gymnast import api
from gymnast.errors import GymnastError, RunError
from gymnast.metrics.store import MetricStore
from gymnast.monitor.schema import PPO_DIAGNOSTICS, check_columns, required_columns
from tests.monitor.runs import made_run

CSV, CSV_MAP = "foreign/arena-updates.csv", "maps/arena-updates.yaml"
JSONL, JSONL_MAP = "foreign/arena-matches.jsonl", "maps/arena-matches.yaml"
METRICS = "runs/selfplay1/metrics.db"

Row = dict[str, float]
Rows = Callable[[list[Row]], list[Row]]
Lines = Callable[[list[str]], list[str]]


def without(column: str) -> Rows:
    return lambda rows: [{k: v for k, v in row.items() if k != column} for row in rows]


def renamed(column: str, name: str) -> Rows:
    return lambda rows: [{name if k == column else k: v for k, v in row.items()} for row in rows]


def constant(column: str, value: float) -> Rows:
    return lambda rows: [{k: value if k == column else v for k, v in row.items()} for row in rows]


def reversed_steps(rows: list[Row]) -> list[Row]:
    steps = [row["clock/env_steps"] for row in rows]
    return [row | {"clock/env_steps": step} for row, step in zip(rows, steps[::-1], strict=True)]


def in_cell(line: int, column: str, text: str) -> Lines:
    """Returns an edit that writes `text` into a cell of a CSV file. `line`: from 1, the header."""

    def edit(lines: list[str]) -> list[str]:
        cells = lines[line - 1].split(",")
        cells[lines[0].split(",").index(column)] = text
        return [*lines[: line - 1], ",".join(cells), *lines[line:]]

    return edit


def in_column(column: str, text: str) -> Lines:
    def edit(lines: list[str]) -> list[str]:
        for line in range(2, len(lines) + 1):
            lines = in_cell(line, column, text)(lines)
        return lines

    return edit


def in_header(old: str, new: str) -> Lines:
    return lambda lines: [lines[0].replace(old, new), *lines[1:]]


def swapped(lines: list[str]) -> list[str]:
    return [*lines[:3], lines[4], lines[3], *lines[5:]]


@dataclass(frozen=True)
class Fault:
    file: str
    edit: Rows | Lines
    at: str
    """Place that the error names."""
    words: tuple[str, ...]
    """Parts of the message: the column and what was expected."""
    fix: str
    """Part of the remedy."""


FAULTS = {
    "a missing reward": Fault(
        METRICS,
        without("hider:episode/return"),
        "selfplay1/metrics.db",
        ("column 'hider:episode/return' is missing", "every run has a return: "),
        "restore the file",
    ),
    "a missing win rate": Fault(
        METRICS,
        lambda rows: without("eval/seeker:match/win_rate")(without("seeker:league/win_rate")(rows)),
        "selfplay1/metrics.db",
        ("'seeker:league/win_rate' or 'eval/seeker:match/win_rate' is missing", "seeker wins"),
        "restore the file",
    ),
    "a renamed diagnostic": Fault(
        METRICS,
        renamed("seeker:policy/entropy", "seeker:policy/entropy_mean"),
        "selfplay1/metrics.db",
        (
            "column 'seeker:policy/entropy' is missing",
            "the algorithm is ppo: ",
            "did you mean seeker:policy/entropy_mean?",
        ),
        "restore the file",
    ),
    "a diagnostic without a value": Fault(
        METRICS,
        constant("seeker:value/loss", float("nan")),
        "selfplay1/metrics.db",
        ("column 'seeker:value/loss' has no value in any of its", "the algorithm is ppo: "),
        "restore the file",
    ),
    "a run without rows": Fault(
        METRICS,
        lambda rows: rows[:0],
        "selfplay1/metrics.db",
        ("the run has no rows", "'clock/env_steps'"),
        "wait for its first rollout",
    ),
    "env steps of a run that decrease": Fault(
        METRICS,
        reversed_steps,
        "selfplay1/metrics.db",
        ("column 'clock/env_steps' decreases from", "expected increasing env steps"),
        "restore it",
    ),
    "rows with another number of cells": Fault(
        CSV,
        lambda lines: [*lines[:5], lines[5] + ",7", *lines[6:]],
        f"{CSV}:6",
        ("the row has 20 cells", "expected 19, as in the header"),
        "split the file where its columns changed",
    ),
    "an empty CSV": Fault(
        CSV, lambda lines: lines[:0], CSV, ("is empty", "a header and at least one row"), "export"
    ),
    "a CSV with only a header": Fault(
        CSV, lambda lines: lines[:1], CSV, ("is empty", "at least one row"), "export"
    ),
    "a foreign column without a value": Fault(
        CSV,
        in_column("hider_reward", "nan"),
        CSV,
        ("column 'hider_reward' has no value in any of its", "expected 'hider:episode/return': "),
        "map 'hider:episode/return' to a column with values",
    ),
    "env steps that do not increase": Fault(
        CSV,
        swapped,
        f"{CSV}:5",
        ("column 'total_timesteps' is", "expected increasing env steps"),
        "`run: {column: NAME}`",
    ),
    "text in a numeric column": Fault(
        CSV,
        in_cell(4, "seeker_policy_kl", "n/a"),
        f"{CSV}:4",
        ("column 'seeker_policy_kl' has the text 'n/a'", "expected a number: KL divergence"),
        "leave it empty",
    ),
    "a column that is twice in the header": Fault(
        CSV,
        in_header("hider_reward", "seeker_reward"),
        f"{CSV}:1",
        ("column 'seeker_reward' is in the header twice", "one column per name"),
        "rename one of them",
    ),
    "a map that names an absent column": Fault(
        CSV,
        in_header("seeker_win_rate", "seeker_winrate"),
        CSV,
        (
            "column 'seeker_win_rate' is missing",
            f"expected for 'seeker:league/win_rate', as {CSV_MAP} says",
            "did you mean seeker_winrate?",
        ),
        f"correct {CSV_MAP}",
    ),
    "a truncated JSON line": Fault(
        JSONL,
        lambda lines: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]],
        f"{JSONL}:",
        ("the line is not JSON", "one whole object per line"),
        "complete the line, or delete it",
    ),
    "a JSON line that is no object": Fault(
        JSONL, lambda lines: [*lines, "[1, 2]"], f"{JSONL}:", ("a list", "expected an object"), ""
    ),
    "an empty file of JSON lines": Fault(
        JSONL, lambda lines: lines[:0], JSONL, ("is empty", "a JSON object per line"), "export"
    ),
    "a win flag that is none": Fault(
        JSONL,
        lambda lines: [re.sub('"seeker_won": \\w+', '"seeker_won": 3', lines[0]), *lines[1:]],
        f"{JSONL}:1",
        ("column 'seeker_won' has the win flag 3", "expected 1 won, 0 lost, 0.5 drawn"),
        "leave it empty if the outcome is unknown",
    ),
}


def plant(copy: Path, fault: Fault) -> None:
    file = copy / fault.file
    if file.suffix == ".db":
        with MetricStore(file) as store:
            rows = list(store.rows())
        file.unlink()
        with MetricStore(file, "w") as store:
            for row in fault.edit(rows):  # pyright: ignore[reportArgumentType]
                store.append(row)  # pyright: ignore[reportArgumentType]
    else:
        lines = fault.edit(file.read_text().splitlines())  # pyright: ignore[reportArgumentType]
        file.write_text("".join(f"{line}\n" for line in lines))


def selection(fault: Fault) -> dict[str, Any]:
    """Returns what to monitor: a run without a fault, and the run or the file that has it."""
    maps = {CSV: CSV_MAP, JSONL: JSONL_MAP}
    if fault.file not in maps:
        return {"refs": ["selfplay1", "selfplay2"]}
    return {"refs": ["selfplay2"], "files": [fault.file], "column_map": maps[fault.file]}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=list(FAULTS))
def test_a_planted_fault_is_one_error_with_file_column_expectation_and_remedy(
    copy: Path, fault: Fault
):
    plant(copy, fault)
    with pytest.raises(RunError) as refusal:
        api.write_monitor(**selection(fault), out="out")
    assert not (copy / "out").exists(), "nothing is written"
    error = refusal.value
    assert error.at.startswith(fault.at)
    for words in fault.words:
        assert words in error.message
    assert fault.fix in error.fix
    assert "\n" not in error.message, "one problem"
    report = api.monitor(**selection(fault), skip_broken=True)
    assert [row.run for row in report.overview] == ["selfplay2"]
    (skipped,) = report.skipped
    assert (skipped.at, skipped.problem) == (error.at, error.message)


def test_without_a_planted_fault_nothing_is_broken(copy: Path):
    for file in (METRICS, CSV, JSONL):
        fault = Fault(file, lambda rows: rows, "", (), "")
        plant(copy, fault)
        assert len(api.monitor(**selection(fault)).overview) == 2


def with_rung(rows: list[Row]) -> list[Row]:
    return [row | {"ghost:league/rung": 1.0} for row in rows]


def test_a_scripted_role_needs_no_columns(copy: Path):
    no_fault = Fault(METRICS, with_rung, "", (), "")
    plant(copy, no_fault)
    for row in api.monitor(**selection(no_fault)).overview:
        assert [role.role for role in row.roles] == ["seeker", "hider"]


def test_all_broken_runs_are_named_in_one_error(copy: Path):
    shutil.copytree(copy / "runs" / "broken01", copy / "runs" / "broken02")
    with pytest.raises(RunError) as refusal:
        api.monitor(all_runs=True)
    assert "broken01" in str(refusal.value)
    assert "broken02" in str(refusal.value)


def test_several_problems_of_a_run_are_reported_together(copy: Path):
    for metric in ("policy/kl", "policy/entropy"):
        plant(copy, Fault(METRICS, without(f"seeker:{metric}"), "", (), ""))
    with pytest.raises(RunError) as refusal:
        api.monitor(refs=["selfplay1"])
    assert "'seeker:policy/kl' is missing" in refusal.value.message
    assert "'seeker:policy/entropy' is missing" in refusal.value.message


def test_a_damaged_database_and_an_unreadable_run_are_explained(copy: Path):
    (copy / METRICS).write_bytes(b"no database")
    with pytest.raises(RunError, match="metric store"):
        api.monitor(refs=["selfplay1"])
    (copy / "runs" / "selfplay1" / "run.json").write_text("{")
    with pytest.raises(RunError) as refusal:
        api.monitor(all_runs=True, approaches=["selfplay"])
    assert "selfplay1" in str(refusal.value)
    report = api.monitor(all_runs=True, skip_broken=True)
    assert {run.run for run in report.skipped} == {"broken01", "selfplay1"}


MAP_FAULTS = {
    "no file": (None, "cannot be read"),
    "no YAML": ("a: [", "is not YAML"),
    "no columns": ("approach: a", "columns: is missing"),
    "no env steps": ("columns: {episode/return: r}", "has no clock/env_steps"),
    "an unknown metric": (
        "columns: {clock/env_steps: s, episode/retrun: r}",
        "'episode/retrun' is not a metric; did you mean episode/return",
    ),
    "an unknown key": ("columns: {clock/env_steps: s}\naproach: a", "did you mean approach"),
    "an unknown role": (
        "roles: [seeker]\ncolumns: {clock/env_steps: s, hider:episode/return: r}",
        "'hider:episode/return' names the role 'hider', which is not in `roles`",
    ),
    "a key that is given twice": (
        "columns: {clock/env_steps: s}\nenv: a\nenv: b",
        "is given twice",
    ),
    "a column of roles in a file of matches": (
        "rows: matches\nrole: {column: side}\ncolumns: {clock/env_steps: s}",
        "a row per match cannot have a column `role`",
    ),
}


@pytest.mark.parametrize(("text", "words"), MAP_FAULTS.values(), ids=list(MAP_FAULTS))
def test_a_mistake_in_the_column_map_is_explained(copy: Path, text: str | None, words: str):
    if text is not None:
        (copy / "map.yaml").write_text(text)
    with pytest.raises(GymnastError) as refusal:
        api.monitor(files=[CSV], column_map="map.yaml", skip_broken=True)
    assert words in str(refusal.value)
    assert "map.yaml" in str(refusal.value)


def test_required_columns_depend_on_the_kind_of_run():
    def names(**fields: object) -> set[str]:
        run = made_run([1.0], {}, **fields)  # pyright: ignore[reportArgumentType]
        return {name for requirement in required_columns(run) for name in requirement.columns}

    single = names(roles=())
    assert single == {"episode/return", *PPO_DIAGNOSTICS}
    both = names(roles=("seeker", "hider"))
    assert {"seeker:league/win_rate", "hider:policy/kl", "seeker:episode/return"} <= both
    assert "episode/return" not in both, "no mean over the roles"


def test_a_game_without_winners_needs_no_win_rate_and_a_role_without_updates_no_diagnostics():
    columns = {"match/unknown_share": [1.0], "a:episode/return": [0.0], "b:episode/return": [0.0]}
    columns |= {f"a:{metric}": [0.1] for metric in PPO_DIAGNOSTICS} | {"a:optim/epochs": [1.0]}
    columns |= {"a:rollout/episodes": [1.0], "b:rollout/episodes": [1.0]}
    check_columns(made_run([1.0], columns, roles=("a", "b")))
    with pytest.raises(RunError, match="'a:league/win_rate'"):
        check_columns(made_run([1.0], columns | {"match/unknown_share": [0.9]}, roles=("a", "b")))
    with pytest.raises(RunError, match="'b:policy/kl'"):
        check_columns(made_run([1.0], columns | {"b:optim/epochs": [1.0]}, roles=("a", "b")))


def test_json_lines_may_have_different_keys(copy: Path):
    lines = [json.loads(line) for line in (copy / JSONL).read_text().splitlines()]
    for line in lines[::2]:
        line["more"] = 1
    (copy / JSONL).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert api.monitor(files=[JSONL], column_map=JSONL_MAP).overview
