"""Trains the runs that the tasks ask about, with fixed seeds, unless they exist."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from gymnast import api

FILE = Path(__file__).with_name("runs.yaml")


@dataclass(frozen=True)
class PreparedRun:
    name: str
    target: str
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    seed: int = 0
    seeds: int = 1
    """Number of seeds; more than one are a group."""
    fails: bool = False
    """Whether training is meant to fail."""


def planned(*files: Path) -> list[PreparedRun]:
    """Returns the runs of the files, with the common settings of the last file that has some."""
    common: dict[str, Any] = {}
    found: list[PreparedRun] = []
    for file in files:
        data = YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))
        common = data.get("common", common)
        for name, entry in data["runs"].items():
            settings = common | entry.get("settings", {})
            found.append(PreparedRun(name, **entry | {"settings": settings}))
    return found


def prepare(folder: Path, tasks: Path) -> Path:
    """Trains the missing runs, one after the other, and returns the runs directory. `tasks`: the folder of
    the tasks, which may have further runs in a file `runs.yaml`."""
    runs = folder / "runs"
    existing = {run.name for run in api.runs(runs_dir=runs).runs}
    more = tasks / FILE.name
    for run in planned(FILE, *([more] if more.is_file() else [])):
        first = run.name if run.seeds == 1 else f"{run.name}-s{run.seed}"
        if first not in existing:
            print(f"training {run.name}", file=sys.stderr, flush=True)
            _train(run, runs)
    return runs


def _train(run: PreparedRun, runs: Path) -> None:
    settings = [
        w for key, value in run.settings.items() for w in ("--set", f"{key}={_text(value)}")
    ]
    command = [sys.executable, "-m", "gymnast", "train", run.target, *settings, "--quiet"]
    command += ["--name", run.name, "--seed", str(run.seed), "--runs", str(runs)]
    command += ["--seeds", str(run.seeds)] if run.seeds > 1 else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode and not run.fails:
        raise SystemExit(f"{run.name}: {done.stdout}{done.stderr}")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_text(item)}" for key, item in value.items()) + "}"  # pyright: ignore[reportUnknownVariableType]
    return str(value)
