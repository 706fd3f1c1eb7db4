"""The same series as runs of gymnast, as event files of TensorBoard and as a project of trackio."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gymnast.clock import CLOCKS
from gymnast.config.resolve import resolve, save
from gymnast.metrics.store import MetricStore
from gymnast.runs.run import Run

METRICS = (
    "episode/return",
    "policy/kl",
    "policy/entropy",
    "policy/clip_fraction",
    "value/explained_variance",
    "loss/policy",
    "loss/value",
    "optim/grad_norm",
    "speed/env_steps",
    "episode/length",
)


@dataclass(frozen=True)
class Size:
    runs: int
    metrics: int
    points: int


def series(size: Size) -> Iterator[tuple[int, np.ndarray]]:
    """Yields the number of each run and its values [points, metrics]: noise around a learning curve, with
    single spikes that a chart must keep."""
    for run in range(size.runs):
        rng = np.random.default_rng(run)
        rise = 1 - np.exp(-np.linspace(0, 5, size.points))
        values = rise[:, None] * (1 + run % 7) + rng.normal(0, 0.1, (size.points, size.metrics))
        values[rng.integers(size.points, size=3)] += 5.0
        yield run, values


def write_gymnast(runs_dir: Path, size: Size) -> list[str]:
    """Writes the series as finished runs and returns their ids."""
    resolved = resolve("CartPole-v1:ppo", {})
    config_text = save(resolved.config)
    names = METRICS[: size.metrics]
    ids: list[str] = []
    for number, values in series(size):
        run = Run.create(
            runs_dir,
            config_text=config_text,
            preset=resolved.preset,
            seed=number,
            provenance=resolved.provenance,
            env="CartPole-v1",
            algo="ppo",
            threshold=475.0,
        )
        with MetricStore(run.path / "metrics.db", "w") as metrics:
            for i, row in enumerate(values.tolist(), start=1):
                clocks = {f"clock/{clock}": float(i) for clock in CLOCKS}
                metrics.append(clocks | dict(zip(names, row, strict=True)))
        clocks = dict.fromkeys(CLOCKS, size.points)
        run.update(status="finished", reason="budget used", clocks=clocks)
        ids.append(run.id)
    return ids


TENSORBOARD = """
import struct, sys
import numpy as np
from pathlib import Path
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
folder, data = Path(sys.argv[1]), np.load(sys.argv[2], mmap_mode="r")
for run in range(data.shape[0]):
    path = folder / f"run-{run:03d}" / "events.out.tfevents.0"
    path.parent.mkdir(parents=True)
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=0.0, file_version="brain.Event:2").SerializeToString())
        for step, values in enumerate(data[run].tolist()):
            for k, value in enumerate(values):
                summary = Summary(value=[Summary.Value(tag=f"metric/{k}", simple_value=value)])
                writer.write(Event(wall_time=float(step), step=step, summary=summary).SerializeToString())
"""

TRACKIO = """
import sys
import numpy as np
from trackio.sqlite_storage import SQLiteStorage
data = np.load(sys.argv[2], mmap_mode="r")
for run in range(data.shape[0]):
    rows = [{f"metric/{k}": value for k, value in enumerate(row)} for row in data[run].tolist()]
    SQLiteStorage.bulk_log("bench", f"run-{run:03d}", rows, steps=list(range(len(rows))))
"""


def write_peer(script: str, python: Path, folder: Path, size: Size) -> None:
    """Writes the series with a peer's own code, in its own Python."""
    folder.mkdir(parents=True)
    packed = folder.with_suffix(".npy")
    np.save(packed, np.stack([values for _, values in series(size)]))
    environment = {**os.environ, "TRACKIO_DIR": str(folder)}
    words = [str(python), "-c", script, str(folder), str(packed)]
    subprocess.run(words, check=True, env=environment)
