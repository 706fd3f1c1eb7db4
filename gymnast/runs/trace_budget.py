"""Traces within a number of bytes: the interesting ones stay.

Where the files of a run take more, in this order: evaluations lose all episodes but the first (whose seed is
the same in every evaluation), the best, the worst and the median, the oldest evaluation first; files of
training episodes go, the oldest first; then whole evaluations, those first whose neighbors are nearest, so
that the rest still shows how the run learned. The evaluation of the best version, the newest one and
confirmations stay whole.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from gymnast.runs.trace import KEPT_PLACES, read_meta, read_traces, write_traces

REMOVED = "removed.txt"
"""File in a folder of traces: the names of those that are gone, a line each."""


def trim(folder: Path, most: int, protected: Collection[int]) -> None:
    """`most` bytes; `protected`: versions whose evaluations stay whole. Files of matches hold a few of every
    pair already, and are only removed."""
    files = {file: file.stat().st_size for file in sorted(folder.glob("*-*.safetensors"))}
    if sum(files.values()) <= most:
        return
    evaluations = {version_in(file): file for file in files if file.name.startswith("eval-")}
    spared = {*protected, max(evaluations, default=0)}
    older = [version for version in sorted(evaluations) if version not in spared]
    for version in older if folder.name == "traces" else ():
        if sum(files.values()) <= most:
            return
        thin(evaluations[version])
        files[evaluations[version]] = evaluations[version].stat().st_size
    training = [file for file in files if file.name.startswith("train-")]
    for file in training[:-1]:
        if sum(files.values()) <= most:
            return
        _remove(file, files)
    while older and sum(files.values()) > most:
        version = _most_crowded(older, sorted(evaluations))
        older.remove(version)
        _remove(evaluations.pop(version), files)


def thin(file: Path) -> None:
    """Keep the first, the best, the worst and the median episode of an evaluation, and say so in its meta."""
    meta = read_meta(file)
    if KEPT_PLACES in meta:
        return
    episodes = read_traces(file)
    order = np.argsort([e.raw_return for e in episodes], kind="stable").tolist()
    kept = sorted({0, order[0], order[len(order) // 2], order[-1]}) if order else []
    mean = float(np.mean([e.raw_return for e in episodes])) if episodes else 0.0
    meta |= {KEPT_PLACES: kept, "episodes": len(episodes), "mean": mean}
    write_traces(file, [episodes[place] for place in kept], meta)


def version_in(file: Path) -> int:
    return int(file.stem.rpartition("-")[2])


def _most_crowded(among: list[int], every: list[int]) -> int:
    """The version whose neighbors on both sides are nearest to each other."""

    def gap(version: int) -> int:
        at = every.index(version)
        return every[min(at + 1, len(every) - 1)] - (every[at - 1] if at else -every[-1])

    return min(among, key=gap)


def _remove(file: Path, files: dict[Path, int]) -> None:
    with (file.parent / REMOVED).open("a") as names:
        names.write(f"{file.name}\n")
    file.unlink(missing_ok=True)
    del files[file]
