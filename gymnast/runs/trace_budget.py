"""The disk budget of traces, in bytes: the most interesting episodes are kept.

If the trace files of a run exceed the budget, this is removed, in this order:
1. from evaluations, oldest first, all episodes except the first (whose seed is the same in every
   evaluation), the best, the worst and the median;
2. files of training episodes, oldest first;
3. whole evaluations, starting with those closest to their neighbors, so that the remaining ones still
   show how the run learned.
The evaluation of the best checkpoint, the newest evaluation and confirmations are never touched.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from gymnast.runs.files import refuse_link
from gymnast.runs.trace import KEPT_INDICES, read_meta, read_traces, write_traces

REMOVED_LIST = "removed.txt"
"""File in a trace folder with the names of the files that were removed, one per line."""


def trim_to_budget(folder: Path, max_bytes: int, protected: Collection[int]) -> None:
    """Removes traces until the folder has at most `max_bytes` bytes, or nothing more may be removed.
    Evaluations whose version is in `protected`, and the newest one, are kept.

    Match files are not thinned, only removed: they have only a few matches per pairing anyway.
    """
    files = {file: file.stat().st_size for file in sorted(folder.glob("*-*.safetensors"))}
    if sum(files.values()) <= max_bytes:
        return
    evaluations = {version_from_name(file): file for file in files if file.name.startswith("eval-")}
    untouchable = {*protected, max(evaluations, default=0)}
    older = [version for version in sorted(evaluations) if version not in untouchable]
    for version in older if folder.name == "traces" else ():
        if sum(files.values()) <= max_bytes:
            return
        thin_evaluation(evaluations[version])
        files[evaluations[version]] = evaluations[version].stat().st_size
    training = [file for file in files if file.name.startswith("train-")]
    for file in training[:-1]:
        if sum(files.values()) <= max_bytes:
            return
        _remove(file, files)
    while older and sum(files.values()) > max_bytes:
        version = _most_crowded(older, sorted(evaluations))
        older.remove(version)
        _remove(evaluations.pop(version), files)


def thin_evaluation(file: Path) -> None:
    """Reduces an evaluation to its first, best, worst and median episode, and records this in its meta. A
    file that was thinned before is not changed."""
    meta = read_meta(file)
    if KEPT_INDICES in meta:
        return
    episodes = read_traces(file)
    order = np.argsort([e.raw_return for e in episodes], kind="stable").tolist()
    kept = sorted({0, order[0], order[len(order) // 2], order[-1]}) if order else []
    mean = float(np.mean([e.raw_return for e in episodes])) if episodes else 0.0
    meta = {**meta, KEPT_INDICES: kept, "episodes": len(episodes), "mean": mean}
    write_traces(file, [episodes[i] for i in kept], meta)


def version_from_name(file: Path) -> int:
    """Returns the policy version (env steps) in a trace file's name, KIND-VERSION.safetensors."""
    return int(file.stem.rpartition("-")[2])


def _most_crowded(among: list[int], every: list[int]) -> int:
    """Returns the version in `among` whose two neighbors in `every` (ascending, with all of `among`) are
    closest to each other."""

    def gap(version: int) -> int:
        at = every.index(version)
        # the first version has a large gap, so that it is removed last
        return every[min(at + 1, len(every) - 1)] - (every[at - 1] if at else -every[-1])

    return min(among, key=gap)


def _remove(file: Path, files: dict[Path, int]) -> None:
    """Deletes a trace file, and removes it from `files` (file -> bytes). Its name is added to the folder's
    list of removed files."""
    with refuse_link(file.parent / REMOVED_LIST).open("a") as names:
        names.write(f"{file.name}\n")
    file.unlink(missing_ok=True)
    del files[file]
