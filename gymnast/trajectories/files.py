"""The trajectory files of a data directory: DATA/trajectories/RUN/KIND-VERSION.jsonl, a line per episode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gymnast.errors import GymnastError
from gymnast.runs import durable
from gymnast.trajectories.lines import parse_line, to_line
from gymnast.trajectories.trajectory import Trajectory

FOLDER = "trajectories"
"""Folder of the data directory."""
SUFFIX = ".jsonl"


def run_folder(data: Path, run: str) -> Path:
    """Returns the folder with the trajectory files of a run."""
    return data / FOLDER / run


def trajectory_file(folder: Path, kind: str, version: int) -> Path:
    """Returns the file for episodes of this kind and policy version."""
    return folder / f"{kind}-{version:012d}{SUFFIX}"


def write_file(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Writes or replaces a file, atomically."""
    text = "".join(f"{to_line(one)}\n" for one in trajectories)
    with durable.explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(path, text.encode())


def read_file(path: Path) -> list[Trajectory]:
    """Returns the trajectories of a file. Raises GymnastError with file, line and field of the first mistake;
    a file without lines is one."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise GymnastError("is not UTF-8 text", at=str(path), fix="write it as UTF-8") from None
    except OSError as error:
        raise GymnastError(f"cannot be read: {error.strerror}", at=str(path)) from error
    if not any(line.strip() for line in lines):
        fix = "delete it, or write it again"
        raise GymnastError("is empty (expected a JSON object per line)", at=str(path), fix=fix)
    found: dict[tuple[str, str, int, int], int] = {}
    trajectories: list[Trajectory] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        one = parse_line(line, f"{path}:{number}")
        key = (one.run, one.kind, one.version, one.number)
        if (first := found.setdefault(key, number)) != number:
            problem = (
                f"number: {one.number} is that of line {first} too (expected every number once)"
            )
            raise GymnastError(problem, at=f"{path}:{number}", fix="number the episodes from 0")
        trajectories.append(one)
    return trajectories


def find_files(path: Path) -> list[Path]:
    """Returns the trajectory files of a directory and the folders in it, sorted, or the file itself. Raises
    GymnastError if there are none."""
    files = [path] if path.is_file() else sorted(path.rglob(f"*{SUFFIX}"))
    if not files:
        fix = f"name a directory with *{SUFFIX} files, or a run"
        raise GymnastError("has no trajectory files", at=str(path), fix=fix)
    return files
