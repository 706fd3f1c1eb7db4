"""Runs with far more of everything than an answer can have."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

N_RUNS, N_ROWS, N_EVENTS, N_LINES = 24, 300, 600, 2000
WORDS = 'a long text about what happened, with ünïcode and "quotes" 🙂 '


def make_large(source: Run, runs_dir: Path) -> list[str]:
    """Makes many runs from a small one, the first of them with long files, and returns their ids."""
    ids = [f"large{i:03d}" for i in range(N_RUNS)]
    for i, name in enumerate(ids):
        shutil.copytree(source.path, runs_dir / name)
        info = json.loads((runs_dir / name / "run.json").read_text())
        info |= {"id": name, "name": f"name-{i}", "created": time.time() + i, "note": WORDS * 60}
        info |= {"tags": [f"tag-{j}-{'x' * 30}" for j in range(40)], "reason": WORDS * 20}
        info["alerts"] = [_alert(j) for j in range(60)]
        (runs_dir / name / "run.json").write_text(json.dumps(info))
    _fill(Run(runs_dir / ids[0]))
    return ids


def _alert(number: int) -> dict[str, object]:
    return {
        "id": f"policy/metric_{number}:high",
        "level": "warning",
        "message": WORDS * 3,
        "advice": WORDS * 3,
        "first": number,
        "last": number + 100,
        "count": number,
        "active": number % 2 == 0,
        "changes": {f"algo.setting_{number}": number / 3},
    }


def _fill(run: Run) -> None:
    with run.metrics() as store:
        row = list(store.rows())[-1]
    with MetricStore(run.path / "metrics.db", "w", attempt=1) as metrics:
        for i in range(1, N_ROWS):
            moved = {
                key: value + i / 7 for key, value in row.items() if not key.startswith("clock/")
            }
            clocks = {
                key: value + 128 * i for key, value in row.items() if key.startswith("clock/")
            }
            metrics.append(moved | clocks | {f"policy/extra_{j}": i / (j + 3) for j in range(40)})
    event = {"kind": "checkpoint", "time": time.time(), "env_steps": 512, "rollouts": 4}
    with (run.path / "events.jsonl").open("a") as file:
        for i in range(N_EVENTS):
            file.write(json.dumps(event | {"detail": f"{i} {WORDS * 4}"}) + "\n")
    with (run.path / "log.txt").open("a") as file:
        for i in range(N_LINES):
            file.write(f"{i} {WORDS * 5}\n")
