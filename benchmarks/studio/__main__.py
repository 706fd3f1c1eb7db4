"""Speed of the studio in Chromium, and of TensorBoard and trackio on the same data.

python -m venv /tmp/trackers && /tmp/trackers/bin/pip install tensorboard trackio
python -m benchmarks.studio --trackers /tmp/trackers --out benchmarks/results/studio.json     # 15 minutes

Sizes: `shared` is the same for all three (100 runs x 5 metrics x 5,000 points), `large` only for the studio
(200 runs x 10 metrics x 100,000 points), because TensorBoard needs hours to read it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Browser

from benchmarks.code_revision import measurement_info
from benchmarks.reading import make_runs
from benchmarks.studio import data, ours
from benchmarks.studio.browser import chromium, free_port, measure_loading, server
from benchmarks.studio.data import CLOCKS, METRICS, Size, write_gymnast, write_peer
from gymnast.metrics.store import MetricStore
from tests.browser.studio import WIDE, serving

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
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    large = Size(options.large_runs, LARGE.metrics, LARGE.points)
    result: dict[str, Any] = {"shared": vars(SHARED), "large": vars(large)}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        root = Path(folder)
        if options.trackers is not None:
            result |= measure_trackers(browser, root, options.trackers)
        result["studio"] = measure_studio(browser, root, large, options.long_run)
    print(json.dumps(result, indent=1))
    if options.out is not None:
        options.out.write_text(json.dumps(measurement_info("studio") | result, indent=1) + "\n")


def measure_trackers(browser: Browser, root: Path, venv: Path) -> dict[str, Any]:
    """Opens one chart of all runs in TensorBoard and in trackio."""
    python, port = venv / "bin/python", free_port()
    write_peer(data.TENSORBOARD, python, root / "tensorboard", SHARED)
    write_peer(data.TRACKIO, python, root / "trackio", SHARED)
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


def measure_studio(browser: Browser, root: Path, large: Size, long_run: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, size in (("shared", SHARED), ("large", large)):
        runs = root / f"gymnast-{name}"
        started = time.perf_counter()
        ids = write_gymnast(runs, size)
        print(f"{name}: written in {time.perf_counter() - started:.0f} s", file=sys.stderr)
        with serving(runs) as studio:
            page = ours.sign_in(browser, studio)
            view = f"/compare?runs={quote(','.join(ids))}&metrics={quote(METRICS[0])}&group=none"
            url = f"{studio.address}{view}"
            result[name] = {"chart": [ours.open_chart(page, url) for _ in range(REPETITIONS)]}
            result[name]["zoom"] = ours.zoom(browser, page)
            page.context.close()
    runs = root / "long"
    (long_id,) = write_long_run(runs, long_run)
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
    make_runs(runs, 1000)
    with serving(runs) as studio:
        page = ours.sign_in(browser, studio)
        result["1000 runs"] = ours.list_runs(page, studio, 1000)
        page.context.close()
    return result


def write_long_run(runs_dir: Path, rows: int, metrics: int = 100) -> list[str]:
    """Writes one run with many rows and metrics, and returns its id in a list."""
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
    return [run_id]


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
