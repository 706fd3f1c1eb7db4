"""Reads CSV files and JSON lines that other programs wrote: columns of cells, each with its line number."""

from __future__ import annotations

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from gymnast.errors import RunError

Array = np.ndarray
Cell = object
"""A text of a CSV file, or a JSON value; None where a row has none."""
NO_VALUE = ("", "nan")
"""Texts of a cell without a value."""
TRUTHS = {"true": 1.0, "false": 0.0}
"""Texts of a cell with a flag, and the number that it counts as."""


@dataclass(frozen=True)
class ForeignTable:
    """The rows of a file by column."""

    file: str
    """The path as the user typed it."""
    columns: Mapping[str, Sequence[Cell]]
    """Column -> [rows] its cells."""
    lines: Sequence[int]
    """[rows] The line of each row in the file, from 1."""
    problem: str = ""
    """The reason why the last lines of a damaged file are missing, as a clause; empty if none are."""

    def numbers(self, column: str, meaning: str) -> Array:
        """Returns a column as float64, [rows], NaN where a row has no value. `meaning`: what it is, for the
        message. Raises RunError at a cell that is no number."""
        return np.array(
            [self._number(column, meaning, row) for row in range(len(self.lines))], dtype=float
        )

    def texts(self, column: str) -> list[str]:
        """Returns a column as texts, [rows], empty where a row has no value."""
        return ["" if cell is None else str(cell).strip() for cell in self.columns[column]]

    def part(self, rows: Sequence[int]) -> ForeignTable:
        """Returns some of the rows, by index."""
        columns = {name: [cells[i] for i in rows] for name, cells in self.columns.items()}
        return ForeignTable(self.file, columns, [self.lines[i] for i in rows], self.problem)

    def _number(self, column: str, meaning: str, row: int) -> float:
        cell = self.columns[column][row]
        text = "" if cell is None else str(cell).strip()
        if text.lower() in NO_VALUE:
            return math.nan
        if text.lower() in TRUTHS:
            return TRUTHS[text.lower()]
        try:
            return float(text)
        except ValueError:
            raise RunError(
                f"column {column!r} has the text {text!r} (expected a number: {meaning})",
                at=f"{self.file}:{self.lines[row]}",
                fix="correct the cell, or leave it empty if there is no value",
            ) from None


def read_table(file: str) -> ForeignTable:
    """Returns the rows of a .csv or .jsonl file. Raises RunError if it cannot be read, is empty, or if its
    rows do not have the columns of its header."""
    path = Path(file).expanduser()
    readers = {".csv": _read_csv, ".jsonl": _read_json_lines}
    if path.suffix.lower() not in readers:
        problem = f"is no foreign file that can be read (expected {' or '.join(readers)})"
        raise RunError(problem, at=file, fix="convert it to CSV or to JSON lines")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise RunError(
            f"cannot be read: {error.strerror}", at=file, fix="check the path"
        ) from error
    except UnicodeDecodeError as error:
        raise RunError("is not UTF-8 text", at=file, fix="save it as UTF-8") from error
    table = readers[path.suffix.lower()](file, text)
    if not table.lines:
        problem = "is empty (expected a header and at least one row)"
        if path.suffix.lower() == ".jsonl":
            problem = "is empty (expected a JSON object per line)"
        raise RunError(problem, at=file, fix="export it again")
    return table


def read_damaged_csv(file: Path, skip_lines: int = 0) -> ForeignTable:
    """Returns the rows of a CSV file that a killed training may have left: a last line without an end is left
    out, and reading stops at a row that does not have the columns of the header. `skip_lines`: the number of
    lines before the header."""
    try:
        text = file.read_bytes().decode("utf-8-sig", "replace")
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise RunError(problem, at=str(file), fix="check the path") from error
    lines = text.split("\n")
    cut = lines.pop()  # empty if the last line has an end
    problem = f"line {len(lines) + 1} is cut, and was left out" if cut.strip() else ""
    table = _read_csv(str(file), "\n".join(lines[skip_lines:]), stop_at_damage=True)
    shifted = [line + skip_lines for line in table.lines]
    return ForeignTable(table.file, table.columns, shifted, table.problem or problem)


def _read_csv(file: str, text: str, stop_at_damage: bool = False) -> ForeignTable:
    """Returns the rows of a CSV file. `stop_at_damage`: whether the rows before one with another number of
    cells are returned; otherwise such a row raises RunError."""
    reader = csv.reader(io.StringIO(text, newline=""))
    header = [name.strip() for name in next(reader, [])]
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise RunError(
            f"column {twice[0]!r} is in the header twice (expected one column per name)",
            at=f"{file}:1",
            fix="rename one of them",
        )
    rows: list[list[str]] = []
    numbers: list[int] = []
    damage = ""
    for cells in reader:
        if not cells:  # a blank line
            continue
        if len(cells) != len(header):
            problem = f"the row has {len(cells)} cells (expected {len(header)}, as in the header)"
            if stop_at_damage:
                damage = f"line {reader.line_num}: {problem}; what follows was not read"
                break
            raise RunError(
                problem,
                at=f"{file}:{reader.line_num}",
                fix="split the file where its columns changed, or correct the row",
            )
        rows.append(cells)
        numbers.append(reader.line_num)
    columns = {name: [r[i] for r in rows] for i, name in enumerate(header)}
    return ForeignTable(file, columns, numbers, damage)


def _read_json_lines(file: str, text: str) -> ForeignTable:
    rows: list[dict[str, Cell]] = []
    numbers: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        at = f"{file}:{number}"
        try:
            row: object = json.loads(line)
        except ValueError as error:
            raise RunError(
                f"the line is not JSON: {error} (expected one whole object per line)",
                at=at,
                fix="complete the line, or delete it if the program that wrote it was killed",
            ) from None
        if not isinstance(row, dict):
            raise RunError(f"the line is a {type(row).__name__} (expected an object)", at=at)
        rows.append(cast("dict[str, Cell]", row))
        numbers.append(number)
    names = dict.fromkeys(name for row in rows for name in row)
    # Rows may have different keys: a key that a row lacks is a cell without a value.
    return ForeignTable(file, {name: [row.get(name) for row in rows] for name in names}, numbers)
