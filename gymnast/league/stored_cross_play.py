"""The stored results of cross-play: matches between the players of a run, on held-out seeds."""

from __future__ import annotations

from pathlib import Path

from gymnast.errors import RunError
from gymnast.league.matrix import CrossPlayMatrix, CrossPlayReport
from gymnast.league.results import Results
from gymnast.runs import document, durable, files, layout
from gymnast.runs.run import Run

Cells = dict[str, list[tuple[str | None, int]]]
"""`ROW COLUMN`, the names of two players -> (winner, count) of each result."""


def file(run_dir: Path) -> Path:
    return layout.LEAGUE.path(run_dir) / "crossplay.json"


def picture(run_dir: Path) -> Path:
    return layout.LEAGUE.path(run_dir) / "matrix.png"


def load_cells(run_dir: Path) -> dict[str, Cells]:
    """Returns the results of each combination of settings that they depend on; empty if nothing was played.
    Raises RunError if the file is damaged."""
    path = file(run_dir)
    try:
        return document.parse(dict[str, Cells], files.read(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        fix = "delete it, and play the matrix again: gymnast league RUN --matrix"
        raise RunError(f"cannot be read: {error}", at=str(path), fix=fix) from error


def save_cells(run_dir: Path, stored: dict[str, Cells]) -> None:
    durable.replace(file(run_dir), document.dumps(stored, indent=1).encode())


def read_cross_play(run: Run, evaluated: Results) -> CrossPlayReport | None:
    """Returns the stored matrix of a run; None if none was played. Of several, with other seeds or numbers of
    matches, the one with the most matches. `evaluated`: the results of its evaluations, which name the
    roles."""
    stored = load_cells(run.path)
    if not stored:
        return None
    tables = [_results(cells, evaluated) for cells in stored.values()]
    largest = max(tables, key=_count_matches)
    drawn = picture(run.path)
    path = str(drawn) if drawn.exists() else ""
    return CrossPlayMatrix.from_results(largest).report(run.id, path)


def _count_matches(results: Results) -> int:
    return sum(tally.n_known + tally.unknown for _, _, tally in results.sorted_pairs())


def _results(cells: Cells, evaluated: Results) -> Results:
    results = Results(evaluated.row_role, evaluated.column_role)
    for pair, counts in cells.items():
        row, _, column = pair.partition(" ")
        for winner, count in counts:
            results.add(row, column, winner, count)
    return results
