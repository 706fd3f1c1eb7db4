"""Speed of the studio in Chromium, and of TensorBoard and trackio on the same data.

python -m venv /tmp/trackers && /tmp/trackers/bin/pip install tensorboard trackio
python -m benchmarks.studio --data /tmp/data --trackers /tmp/trackers --write   # 10 minutes
python -m benchmarks.studio --data /tmp/data --trackers /tmp/trackers --out benchmarks/results/studio.json

Sizes: `shared` is the same for all three (100 runs x 5 metrics x 5,000 points), `large` only for the studio
(200 runs x 10 metrics x 100,000 points), because TensorBoard needs hours to read it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser

from benchmarks.code_revision import measurement_info
from benchmarks.reading import make_runs
from benchmarks.studio import data, ours
from benchmarks.studio.browser import chromium, measure_loading, server
from benchmarks.studio.data import METRICS, Size, write_gymnast, write_peer
from gymnast import api
from gymnast.clock import CLOCKS
from gymnast.metrics.store import MetricStore
from tests.browser.studio import WIDE, free_port, serving

SHARED, LARGE = Size(100, 5, 5_000), Size(200, 10, 100_000)
LONG_RUN = 1_000_000
REPETITIONS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trackers", type=Path, help="virtual environment of TensorBoard and trackio"
    )
    parser.add_argument("--large-runs", type=int, default=LARGE.runs)
    parser.add_argument("--long-run", type=int, default=LONG_RUN)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data, kept")
    parser.add_argument("--write", action="store_true", help="only write the data that is missing")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    large = Size(options.large_runs, LARGE.metrics, LARGE.points)
    root: Path = options.data
    write_data(root, large, options.long_run, options.trackers)
    if options.write:
        return
    result: dict[str, Any] = {"shared": vars(SHARED), "large": vars(large)}
    with chromium() as browser:
        if options.trackers is not None:
            result |= measure_trackers(browser, root, options.trackers)
        result["studio"] = measure_studio(browser, root, options.long_run)
    print(json.dumps(result, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(measurement_info("studio") | result, indent=1) + "\n")


def write_data(root: Path, large: Size, long_run: int, venv: Path | None) -> None:
    """Writes the data that is not there yet."""
    root.mkdir(parents=True, exist_ok=True)
    writers: dict[str, Callable[[Path], object]] = {
        "shared": lambda folder: write_gymnast(folder, SHARED),
        "large": lambda folder: write_gymnast(folder, large),
        "long": lambda folder: write_long_run(folder, long_run),
        "many": lambda folder: make_runs(folder, 1000),
    }
    if venv is not None:
        python = venv / "bin/python"
        writers["tensorboard"] = lambda folder: write_peer(data.TENSORBOARD, python, folder, SHARED)
        writers["trackio"] = lambda folder: write_peer(data.TRACKIO, python, folder, SHARED)
    for name, write in writers.items():
        if not (root / name).exists():
            started = time.perf_counter()
            write(root / f"{name}.part")
            (root / f"{name}.part").rename(root / name)
            print(f"{name}: written in {time.perf_counter() - started:.0f} s", file=sys.stderr)


def measure_trackers(browser: Browser, root: Path, venv: Path) -> dict[str, Any]:
    """Opens one chart of all runs in TensorBoard and in trackio."""
    python, port = venv / "bin/python", free_port()
    words = [f"{venv}/bin/tensorboard", "--logdir", f"{root}/tensorboard", "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    with server([*words, "--load_fast=false"], f"{address}/data/runs", {**os.environ}):
        _wait_for_tensorboard(address)
        url = f"{address}/?tagFilter=metric%2F0&smoothing=0#timeseries"
        tensorboard = [_peer_page(browser, url) for _ in range(REPETITIONS)]
    port = free_port()
    show = f"import trackio; trackio.show('bench', open_browser=False, block_thread=True, server_port={port})"
    environment = {**os.environ, "TRACKIO_DIR": f"{root}/trackio", "HF_HUB_OFFLINE": "1"}
    address = f"http://127.0.0.1:{port}"
    with server([str(python), "-c", show], address, environment):
        trackio = [_peer_page(browser, f"{address}/?project=bench") for _ in range(REPETITIONS)]
    return {"tensorboard": tensorboard, "trackio": trackio}


def measure_studio(browser: Browser, root: Path, long_run: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name in ("shared", "large"):
        runs = root / name
        ids = [run.id for run in api.runs(runs_dir=runs).runs]
        with serving(runs) as studio:
            page = ours.sign_in(browser, studio)
            view = f"/compare?runs={quote(','.join(ids))}&metrics={quote(METRICS[0])}&group=none"
            url = f"{studio.address}{view}"
            result[name] = {"chart": [ours.open_chart(page, url) for _ in range(REPETITIONS)]}
            result[name]["zoom"] = ours.zoom(browser, page)
            page.context.close()
    runs = root / "long"
    long_id = api.runs(runs_dir=runs).runs[0].id
    with serving(runs) as studio:
        page = ours.sign_in(browser, studio)
        url = f"{studio.address}/run/{long_id}"
        result["long run"] = {
            "rows": long_run,
            "open": [ours.open_chart(page, url) for _ in range(REPETITIONS)],
            "row to pixel": ours.new_rows(page, runs / long_id),
            "server share of a core at 20 rows/s": ours.server_cpu(page, studio, runs / long_id),
            "idle bytes in 20 s": ours.idle_bytes(page),
        }
        page.context.close()
    runs = root / "many"
    with serving(runs) as studio:
        page = ours.sign_in(browser, studio)
        result["1000 runs"] = ours.list_runs(page, studio, 1000)
        page.context.close()
    return result


def write_long_run(runs_dir: Path, rows: int, metrics: int = 100) -> None:
    """Writes one run with many rows and metrics."""
    import numpy as np

    (run_id,) = write_gymnast(runs_dir, Size(1, len(METRICS), 1))
    names = [*METRICS, *(f"rollout/action_share.{k}" for k in range(metrics - len(METRICS)))]
    rng = np.random.default_rng(0)
    with MetricStore(runs_dir / run_id / "metrics.db", "w") as store:
        for first in range(2, rows + 1, 10_000):
            block = rng.random((min(10_000, rows + 1 - first), metrics)).tolist()
            for i, values in enumerate(block, start=first):
                clocks = {f"clock/{clock}": float(i) for clock in CLOCKS}
                store.append(clocks | dict(zip(names, values, strict=True)))


def _peer_page(browser: Browser, url: str) -> dict[str, Any]:
    page = browser.new_context(viewport=WIDE).new_page()  # pyright: ignore[reportArgumentType]
    traffic = measure_loading(page, url)
    page.context.close()
    return {
        "seconds_to_data": round(traffic.seconds, 4),
        "bytes": traffic.bytes,
        "requests": traffic.requests,
    }


def _wait_for_tensorboard(address: str) -> None:
    """Waits until TensorBoard has read the event files of all runs."""
    points = -1
    for _ in range(600):
        answer = urllib.request.urlopen(f"{address}/data/plugin/scalars/tags").read()
        if len(json.loads(answer)) == SHARED.runs:
            last = f"{address}/data/plugin/scalars/scalars?tag=metric%2F0&run=run-{SHARED.runs - 1:03d}"
            points = len(json.loads(urllib.request.urlopen(last).read()))
            if points:
                return
        time.sleep(0.5)
    raise SystemExit(f"TensorBoard did not read the runs: {points} points")


if __name__ == "__main__":
    main()
