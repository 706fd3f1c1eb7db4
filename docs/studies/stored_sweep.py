"""Stores a study of `gymnast sweep` as compact JSON: its trials with settings and values, and the result."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gymnast.api import sweep
from gymnast.records import to_json
from gymnast.runs import store


def store_study(file: Path, name: str, runs_dir: Path, space: str) -> None:
    """Writes the study `name`. `space`: the YAML text of its space."""
    content = {"space": space.splitlines(), **study_content(name, runs_dir)}
    file.write_text(one_line_lists(content) + "\n")
    print(f"wrote {file}")


def study_content(name: str, runs_dir: Path) -> dict[str, Any]:
    """Returns the trials of the study `name`, its best one, the confirmation and the importances."""
    status = sweep.sweep_status(name, runs_dir=runs_dir)
    best = sweep.sweep_best(name, runs_dir=runs_dir)
    importance = sweep.sweep_importance(name, runs_dir=runs_dir)
    summary = status.summary
    info = store.resolve(status.trials[0].seeds[0].run, runs_dir)[0].info
    return {
        "target": summary.target,
        "revision": info["revision"],
        "versions": info["versions"],
        "objective": status.objective,
        "rungs": list(status.rungs),
        "env_steps": summary.env_steps,
        "seconds": round(summary.seconds),
        "reason": summary.reason,
        "trials": [
            {
                "number": trial.number,
                "overrides": to_json(dict(trial.overrides)),
                "rung": trial.rung,
                "value": trial.value,
                "values": [seed.value for seed in trial.seeds],
            }
            for trial in status.trials
        ],
        "best": best.trial.number,
        "command": best.command,
        "confirmation": to_json(best.confirmation),
        "importance": to_json(importance.parameters),
        "caution": importance.caution,
    }


def one_line_lists(content: dict[str, Any]) -> str:
    """Returns JSON in which a list of plain values takes one line."""
    text = json.dumps(content, indent=1)
    return re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found.group().split()), text)
