"""Reads the files of one foreign run, whichever format they have."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from gymnast.errors import RunError
from gymnast.foreign.event_file import EventFile, read_events
from gymnast.foreign.hyperparameters import from_markdown, from_model, from_wandb_yaml
from gymnast.foreign.libraries import SUMMED_LENGTH
from gymnast.foreign.log import Logged, RunLog
from gymnast.foreign.table import ForeignTable, read_damaged_csv, read_table
from gymnast.foreign.wandb_file import read_wandb

EVENTS = "TensorBoard event files"
PROGRESS = "progress.csv of Stable-Baselines3"
MONITOR = "episodes of the Monitor wrapper of Stable-Baselines3"
WANDB = "offline run of W&B"
TABLE = "table, read through a column map"
HYPERPARAMETERS = "hyperparameters"
"""Tag of the text with the hyperparameters, which CleanRL logs."""


def read_event_files(files: Sequence[Path]) -> RunLog:
    """Returns the content of the event files of one run, in the order of their names, which begins with their
    time. A file that starts at an earlier step is a later attempt, and replaces what came after that step."""
    logged: list[Logged] = []
    problems: list[str] = []
    texts: dict[str, str] = {}
    for file in sorted(files):
        content = read_events(_bytes(file))
        first = min((entry.step or 0.0 for entry in content.logged), default=math.inf)
        kept = [entry for entry in logged if (entry.step or 0.0) < first]
        if len(kept) < len(logged):
            replaced = f"what earlier files logged from step {first:,.0f} on was replaced"
            problems.append(f"{file.name} starts at step {first:,.0f}: {replaced}")
        logged = [*kept, *content.logged]
        texts |= {tag: text for tag, text in content.texts.items() if tag not in texts}
        problems += _problem(file, content)
    table = next((text for tag, text in texts.items() if tag.startswith(HYPERPARAMETERS)), "")
    return RunLog(
        EVENTS,
        tuple(map(str, sorted(files))),
        tuple(logged),
        hyperparameters=from_markdown(table) | _saved_model(files[0].parent),
        env=_monitored_env(files[0].parent),
        problems=tuple(problems),
    )


def read_progress(file: Path) -> RunLog:
    """Returns the content of `progress.csv`. The hyperparameters come from a model that was saved next to it,
    the environment from a Monitor file."""
    table = read_damaged_csv(file)
    return RunLog(
        PROGRESS,
        (str(file),),
        tuple(Logged(values) for values in _numbers(table)),
        hyperparameters=_saved_model(file.parent),
        env=_monitored_env(file.parent),
        problems=_sentences(table),
    )


def read_monitor_files(files: Sequence[Path]) -> RunLog:
    """Returns the episodes of Monitor files, one per environment copy, in the order of their ends. Env steps
    are the sum of the lengths of all episodes until then."""
    ended: list[tuple[float, Mapping[str, float]]] = []
    problems: list[str] = []
    for file in sorted(files):
        table = read_damaged_csv(file, skip_lines=1)
        start = float(str(_monitor_header(file).get("t_start", 0.0)))
        ended += [(start + row["t"], row) for row in _numbers(table) if {"r", "l", "t"} <= {*row}]
        problems += [f"{file.name}: {text}" for text in _sentences(table)]
    steps, logged = 0.0, list[Logged]()
    for time, row in sorted(ended, key=lambda pair: pair[0]):
        steps += row["l"]
        logged.append(Logged({**row, SUMMED_LENGTH: steps}, time=time))
    env = str(_monitor_header(sorted(files)[0]).get("env_id") or "")
    names = tuple(map(str, sorted(files)))
    return RunLog(MONITOR, names, tuple(logged), env=env, problems=tuple(problems))


def read_wandb_file(file: Path) -> tuple[RunLog, str]:
    """Returns the content of a `.wandb` file, and the name of the run; empty if it has none."""
    content = read_wandb(_bytes(file))
    problems = (f"{file.name}: {content.problem}",) if content.problem else ()
    ended = None if content.exit_code is None else content.exit_code == 0
    log = RunLog(
        WANDB,
        (str(file),),
        content.logged,
        from_wandb_yaml(file.parent / "files" / "config.yaml") | content.config,
        steps_are_calls=True,
        ended=ended,
        problems=problems,
    )
    return log, content.name


def read_mapped_table(file: str) -> RunLog:
    """Returns the content of a CSV file or of JSON lines that a column map describes."""
    table = read_table(file)
    return RunLog(TABLE, (file,), tuple(Logged(values) for values in _numbers(table)))


def is_monitor_file(file: Path) -> bool:
    """Returns whether a file is one of SB3's Monitor wrapper, by its first line."""
    return "t_start" in _monitor_header(file)


def _monitor_header(file: Path) -> dict[str, object]:
    """Returns the first line of a Monitor file, which is JSON after a `#`; empty if there is none."""
    try:
        with file.open(encoding="utf-8", errors="replace") as lines:
            first = lines.readline(10_000)
        content = cast(object, json.loads(first[1:])) if first.startswith("#") else None
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", content) if isinstance(content, dict) else {}


def monitor_files(folder: Path) -> list[Path]:
    """Returns the Monitor files of a folder."""
    return [file for file in sorted(folder.glob("*monitor.csv")) if is_monitor_file(file)]


def _monitored_env(folder: Path) -> str:
    """Returns the environment that a Monitor file of the folder names; empty if there is none."""
    names = (str(_monitor_header(file).get("env_id") or "") for file in monitor_files(folder))
    return next((name for name in names if name != "None" and name), "")


def _saved_model(folder: Path) -> dict[str, object]:
    """Returns the hyperparameters of the first model in the folder; empty if there is none."""
    found = (from_model(file) for file in sorted(folder.glob("*.zip")))
    return next((one for one in found if one), {})


def _numbers(table: ForeignTable) -> list[dict[str, float]]:
    """Returns name -> number for every row; empty cells and texts are left out, NaN is kept."""
    columns = {name: table.texts(name) for name in table.columns}
    rows: list[dict[str, float]] = []
    for i in range(len(table.lines)):
        row: dict[str, float] = {}
        for name, cells in columns.items():
            try:
                row[name] = float(cells[i])
            except ValueError:
                continue
        rows.append(row)
    return rows


def _sentences(table: ForeignTable) -> tuple[str, ...]:
    return (table.problem,) if table.problem else ()


def _problem(file: Path, content: EventFile) -> list[str]:
    return [f"{file.name}: {content.problem}"] if content.problem else []


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise RunError(problem, at=str(file), fix="check the path") from error
