"""The table: evaluation curves of every configuration, task and seed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.hpo.grid import TASKS

TABLE = Path(__file__).parent / "table.npz"


@dataclass(frozen=True)
class Table:
    curves: np.ndarray
    """Mean return over the episodes of an evaluation, float32, [task, configuration, seed, point]."""
    about: dict[str, Any]
    """How it was made: command, date, revision, hardware, CPU seconds."""

    @classmethod
    def load(cls, path: Path = TABLE) -> Table:
        with np.load(path) as stored:
            return cls(stored["curves"], json.loads(str(stored["about"])))

    def save(self, path: Path) -> None:
        np.savez_compressed(path, curves=self.curves, about=np.array(json.dumps(self.about)))

    def of(self, task: str) -> np.ndarray:
        """Returns the curves of one task, [configuration, seed, point]."""
        return self.curves[TASKS.index(task)]
