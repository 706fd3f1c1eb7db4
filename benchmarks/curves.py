"""Time and size of curves and charts of many and of long runs, and what the summaries cost the trainer.

python -m benchmarks.curves --out benchmarks/results/curves.json       # about 5 minutes, 6 GB of disk

Curves: 200 runs with 10 metrics and 100,000 rows each, written through the metric store. To save time, only
10 of them are written and the others are copies, each its own file. `first` has an empty cache; a zoom
follows the first chart, as in a browser. The size is that of the packed answer: float64 arrays, equal ones
once, and a JSON header. Long run: 1,000,000 rows of 100 metrics. Writing: two stores with realistic rows of
107 keys, one of them without summaries and index, take turns in one process.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.code_revision import measurement_info
from gymnast import api
from gymnast.api.curves import MetricCurves
from gymnast.clock import CLOCKS
from gymnast.config.resolve import resolve, save
from gymnast.metrics import block_reader
from gymnast.metrics.column_cache import ColumnCache
from gymnast.metrics.store import MetricStore
from gymnast.metrics.summaries import SummaryWriter
from gymnast.records import to_json
from gymnast.runs.run import Run

CURVE_KEYS = (
    "episode/return", "policy/kl", "policy/entropy", "policy/loss", "value/loss",
    "value/explained_variance", "optim/grad_norm", "hyper/lr", "speed/env_steps", "time/update",
)  # fmt: skip
ORIGINALS = 10
"""Number of runs that are written; the others are copies."""
ZOOMS = {"10 %": (0.4, 0.5), "2 %": (0.4, 0.42), "0.2 %": (0.4, 0.402)}
CHUNK = 10_000
ROW_KEYS = 100
TURN = 500
"""Number of rows that one of the two stores is written before the other."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--long-rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    entry: dict[str, Any] = measurement_info("curves")
    with tempfile.TemporaryDirectory() as folder:
        runs_dir = Path(folder) / "runs"
        entry["writing"] = measure_writing(Path(folder))
        entry["curves"] = measure_curves(runs_dir, options)
        shutil.rmtree(runs_dir)
        entry["long run"] = measure_long_run(runs_dir, options)
    print(json.dumps(entry, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(entry, indent=1) + "\n")


def measure_curves(runs_dir: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Returns seconds and bytes of the first chart of all runs, and of zooms."""
    ids = make_runs(runs_dir, options.runs, options.rows)
    end = 128.0 * options.rows

    def chart(low: float | None = None, high: float | None = None) -> MetricCurves:
        return api.curves(ids, ["policy/kl"], low=low, high=high, runs_dir=runs_dir)

    found: dict[str, Any] = {"runs": len(ids), "rows": options.rows, "metrics": len(CURVE_KEYS)}
    first, warm, zooms = [], [], {name: [] for name in ZOOMS}
    for _ in range(options.repetitions):
        _forget_stores()
        first.append(timed(chart))
        warm.append(timed(chart))
        for name, (low, high) in ZOOMS.items():
            zooms[name].append(timed(lambda low=low, high=high: chart(low * end, high * end)))
    whole = chart()
    expected = [(max(s.high), min(s.low)) == extremes(runs_dir / s.run) for s in whole.series[:5]]
    return found | {
        "points": len(whole.series[0].x),
        "bytes": packed_size(whole),
        "extremes are kept": all(expected),
        "first chart": summary(first),
        "again": summary(warm),
        "zoom": {name: summary(samples) for name, samples in zooms.items()},
        "bytes of the store": (runs_dir / ids[0] / "metrics.db").stat().st_size,
    }


def measure_long_run(runs_dir: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Returns seconds of what the page of a run with very many rows needs."""
    run = new_run(runs_dir)
    keys = [*CURVE_KEYS, *(f"rollout/reward_{k}" for k in range(ROW_KEYS - len(CURVE_KEYS)))]
    fill(run, options.long_rows, keys, seed=0, evaluate_every=max(options.long_rows // 1000, 1))
    end = 128.0 * options.long_rows
    run_keys = list(CURVE_KEYS)
    calls: dict[str, Callable[[], object]] = {
        "charts": lambda: api.charts(run.id, runs_dir=runs_dir),
        "show": lambda: api.show(run.id, runs_dir=runs_dir),
        "compare": lambda: api.compare([run.id, run.id], runs_dir=runs_dir),
        "curves of 10 metrics": lambda: api.curves([run.id], run_keys, runs_dir=runs_dir),
        "zoom": lambda: api.curves(
            [run.id], run_keys, low=0.4 * end, high=0.5 * end, runs_dir=runs_dir
        ),
    }
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for _ in range(options.repetitions):
        for name, call in calls.items():
            _forget_stores()
            samples[name].append(timed(call))
    return {
        "rows": options.long_rows,
        "metrics": len(keys),
        "bytes of the store": (run.path / "metrics.db").stat().st_size,
        **{name: summary(of) for name, of in samples.items()},
    }


def measure_writing(folder: Path, rows: int = 20_000) -> dict[str, Any]:
    """Returns microseconds of appending a row, and of appending and committing it, with and without
    summaries."""
    result: dict[str, Any] = {"keys": 100 + len(CLOCKS), "rows": rows}
    keys = [f"policy/metric_{k}" for k in range(100)]
    for kind, flush in (("append", False), ("append and commit", True)):
        spent: dict[str, list[float]] = {"with": [], "without": []}
        cpu = {"with": 0.0, "without": 0.0}
        stores = {
            name: MetricStore(folder / f"{kind} {name}" / "metrics.db", "w") for name in spent
        }
        stores["without"]._summaries = _NoSummaries()
        stores["without"]._database.execute("DROP INDEX rows_by_schema")
        written = [dict(row) for row in make_rows(rows, keys, seed=1)]
        for start in range(0, rows, TURN):
            for name, store in stores.items():
                began = time.process_time()
                for row in written[start : start + TURN]:
                    before = time.perf_counter()
                    store.append(row)
                    if flush:
                        store.flush()
                    spent[name].append(time.perf_counter() - before)
                cpu[name] += time.process_time() - began
        for store in stores.values():
            store.close()
        result[kind] = {
            name: {
                "p50": round(float(np.percentile(of, 50)) * 1e6, 1),
                "p99": round(float(np.percentile(of, 99)) * 1e6, 1),
                "max": round(max(of) * 1e6, 1),
                "cpu per row": round(cpu[name] / rows * 1e6, 1),
            }
            for name, of in spent.items()
        }
        added = (cpu["with"] - cpu["without"]) / rows
        result[kind]["share of a core at 20 rows per second"] = round(20 * added, 6)
    return result


class _NoSummaries(SummaryWriter):
    """Writes no summaries, as the store did before it had any."""

    def add(self, *_args: object, **_kwargs: object) -> None:
        pass


def make_runs(runs_dir: Path, count: int, rows: int) -> list[str]:
    """Creates runs and returns their ids."""
    originals = [new_run(runs_dir) for _ in range(min(count, ORIGINALS))]
    for seed, run in enumerate(originals):
        fill(run, rows, CURVE_KEYS, seed)
    ids = [run.id for run in originals]
    for i in range(count - len(originals)):
        copy = new_run(runs_dir)
        shutil.copy(originals[i % len(originals)].path / "metrics.db", copy.path)
        ids.append(copy.id)
    return ids


def new_run(runs_dir: Path) -> Run:
    resolved = resolve("CartPole-v1:ppo", {})
    run = Run.create(
        runs_dir,
        config_text=save(resolved.config),
        preset=resolved.preset,
        seed=0,
        provenance=resolved.provenance,
        env="CartPole-v1",
        algo="ppo",
        threshold=475.0,
    )
    run.update(status="finished")
    return run


def fill(
    run: Run, rows: int, keys: list[str] | tuple[str, ...], seed: int, evaluate_every: int = 0
) -> None:
    """Writes rows of noise; with `evaluate_every`, an evaluation every that many rows."""
    with MetricStore(run.path / "metrics.db", "w") as store:
        for i, row in enumerate(make_rows(rows, keys, seed), start=1):
            if evaluate_every and i % evaluate_every == 0:
                row["eval:clock/env_steps"] = row["clock/env_steps"]
                row["eval:episode/return"] = i / rows * 400
                row["eval:episode/low"] = i / rows * 390
            store.append(row)


def make_rows(
    rows: int, keys: list[str] | tuple[str, ...], seed: int
) -> Iterator[dict[str, float]]:
    rng = np.random.default_rng(seed)
    names = [*(f"clock/{clock}" for clock in CLOCKS), *keys]
    for start in range(1, rows + 1, CHUNK):
        number = min(CHUNK, rows + 1 - start)
        noise = rng.normal(size=(number, len(keys))).tolist()
        for i, values in enumerate(noise, start=start):
            clocks = (1024.0 * i, 128.0 * i, 1024.0 * i, 4.0 * i, float(i), float(i), i / 50)
            yield dict(zip(names, (*clocks, *values), strict=True))


def extremes(run: Path) -> tuple[float, float]:
    """Returns the largest and the smallest value of the curve, from all rows."""
    with MetricStore(run / "metrics.db") as store:
        values = store.read(["policy/kl"])["policy/kl"]
    return float(values.max()), float(values.min())


def packed_size(curves: MetricCurves) -> int:
    """Returns the size of the packed answer: arrays of float64, each list once, and a JSON header."""
    lists = {id(c): c for s in curves.series for c in (s.x, s.mean, s.low, s.high)}
    header: Any = to_json(curves)
    for series in header["series"]:
        series |= {key: {"$f64": [100_000, 800]} for key in ("x", "mean", "low", "high")}
    text = json.dumps(header, separators=(",", ":"))
    return 8 * sum(map(len, lists.values())) + len(text)


def _forget_stores() -> None:
    """Makes the next chart read everything from the files, as in a new process."""
    block_reader.CACHE = ColumnCache()
    block_reader.POOL.close()


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Returns the wall and the CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def summary(samples: list[tuple[float, float]]) -> dict[str, float]:
    """Returns medians and the fastest sample, in seconds: other programs on the machine only add to it."""
    wall, cpu = zip(*samples, strict=True)
    return {
        "wall": round(median(wall), 4),
        "fastest": round(min(wall), 4),
        "cpu": round(median(cpu), 4),
    }


if __name__ == "__main__":
    main()
