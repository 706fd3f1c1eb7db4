"""Trains every configuration of the table, one after the other on one core, and stores the evaluation curves.

python -m benchmarks.hpo.build --seeds 5        # about 75 minutes; continues where an earlier call ended
python -m benchmarks.hpo.build --table          # only writes the table from the journal
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.code_revision import ROOT, measurement_info, revision
from benchmarks.hpo.grid import CONFIGURATIONS, POINTS, TASKS, settings_of
from benchmarks.hpo.table import TABLE, Table

JOURNAL = ROOT / "build" / "hpo.jsonl"
"""One line per training, so that a killed call loses at most one; not in the repository."""

Key = tuple[str, int, int]
"""Task, index of the configuration, seed."""


def main() -> None:
    options = _options()
    if not options.table:
        train_missing(options.journal, options.seeds)
    store_table(options.journal)


def train_missing(journal: Path, seeds: int) -> None:
    """Trains what the journal does not have yet, seed by seed, so that a table of few seeds is complete
    before the next seed starts."""
    # imported here: writing the table from a journal needs no engine
    from benchmarks.hpo.training import evaluation_curve

    journal.parent.mkdir(parents=True, exist_ok=True)
    done, code = read_journal(journal).keys(), revision()
    for task, index, seed in _keys(seeds):
        if (task, index, seed) in done:
            continue
        began = time.process_time()
        curve = evaluation_curve(task, settings_of(task, CONFIGURATIONS[index], seed))
        cpu = round(time.process_time() - began, 3)
        line = {"task": task, "configuration": index, "seed": seed, "curve": curve}
        with journal.open("a") as file:
            file.write(json.dumps(line | {"cpu": cpu, "revision": code}) + "\n")


def read_journal(journal: Path) -> dict[Key, dict[str, Any]]:
    """Returns the finished trainings. A last line that was cut off by a kill is left out."""
    found: dict[Key, dict[str, Any]] = {}
    for text in journal.read_text().splitlines() if journal.exists() else ():
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        found[line["task"], line["configuration"], line["seed"]] = line
    return found


def store_table(journal: Path) -> None:
    """Writes the seeds that the journal has of all tasks and configurations."""
    found = read_journal(journal)
    seeds = _complete_seeds(found)
    curves = np.empty((len(TASKS), len(CONFIGURATIONS), seeds, POINTS), np.float32)
    cpu, revisions = 0.0, Counter[str]()
    for task, index, seed in _keys(seeds):
        line = found[task, index, seed]
        curves[TASKS.index(task), index, seed] = line["curve"]
        cpu += line["cpu"]
        revisions[line["revision"]] += 1
    (main_revision, trained), *_ = revisions.most_common()
    about = measurement_info("hpo.build") | {
        "command": f"python -m benchmarks.hpo.build --seeds {seeds}",
        "revision": main_revision,
        "trained_at_others": revisions.total() - trained,
        "cpu_seconds": round(cpu),
    }
    Table(curves, about).save(TABLE)
    print(f"{TABLE.name}: {seeds} seeds, {cpu:,.0f} CPU seconds")


def _keys(seeds: int) -> Iterator[Key]:
    for seed in range(seeds):
        for index in range(len(CONFIGURATIONS)):
            for task in TASKS:
                yield task, index, seed


def _complete_seeds(found: dict[Key, dict[str, Any]]) -> int:
    """Returns the number of seeds, from 0 on, that all tasks and configurations have."""
    seeds = 0
    while all(key in found for key in _keys(seeds + 1)):
        seeds += 1
    return seeds


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", default=5, type=int)
    parser.add_argument("--journal", default=JOURNAL, type=Path)
    parser.add_argument("--table", action="store_true", help="train nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
