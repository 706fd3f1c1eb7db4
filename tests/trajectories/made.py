"""A trajectory as another program might write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ANY = dict[str, Any]


def foreign_line(**changes: Any) -> ANY:
    """Returns the fields of a match of two steps between a chaser and a runner, with some of them changed."""
    fields: ANY = {
        "format": 1,
        "run": "godot-7",
        "env": "arena3d",
        "kind": "eval",
        "version": 1000,
        "number": 0,
        "seed": None,
        "length": 2,
        "outcome": "tag",
        "winner": "chaser",
        "cast": {"chaser": "learner", "runner": "scripted:weak"},
        "agents": [
            {
                "role": "chaser",
                "steps": 2,
                "action": [[0.5, 1], [0, 1]],
                "reward": [0.1, 1],
                "position": [[0, 0], [1, 0], [2, 0]],
                "heading": [0, 0, 0.5],
            },
            {
                "role": "runner",
                "steps": 2,
                "action": [1, 2],
                "reward": [-0.1, -1],
                "position": [[3, 1], [3, 0.5], [2.5, 0]],
            },
        ],
        "arena": {"x": [-1, 5], "y": [-2, 2], "walls": [[3.5, -2, 4, 0]], "radius": 0.25},
        "distance": [2.0615528128088303, 0.5],
        "tags": [{"step": 2, "agent": 1, "position": [2.5, 0]}],
    }
    return fields | changes


def write_lines(path: Path, *lines: ANY) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
