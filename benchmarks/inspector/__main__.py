"""Speed of the episode inspector in Chromium: opening an episode, and scrubbing through a long one.

python -m benchmarks.inspector --data /tmp/inspector --out benchmarks/results/inspector.json   # 3 minutes

The episodes have 400 x 600 pictures and 55 columns: 1,000 steps to open, 5,000 steps to scrub. The runs are
trained once and kept in `--data`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.code_revision import measurement_info
from benchmarks.inspector import scrub
from benchmarks.studio.browser import chromium
from gymnast import api
from tests.browser.studio import Studio, open_page, serving

ENVIRONMENT = "py:benchmarks.inspector.long_env:LongEnv"
OPEN_STEPS, SCRUB_STEPS = 1_000, 5_000
REPETITIONS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the runs, kept")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    runs: Path = options.data
    ids = {steps: trained(runs, steps) for steps in (OPEN_STEPS, SCRUB_STEPS)}
    with chromium() as browser, serving(runs, "--allow-code") as studio:
        result: dict[str, Any] = {
            "open": measure_open(browser, studio, episode_path(runs, ids[OPEN_STEPS])),
            "scrub": measure_scrub(browser, studio, episode_path(runs, ids[SCRUB_STEPS])),
        }
    print(json.dumps(result, indent=1))
    if options.out is not None:
        info = measurement_info("inspector")
        options.out.write_text(json.dumps(info | result, indent=1) + "\n")


def trained(runs: Path, steps: int) -> str:
    """Returns the id of a run whose evaluation episodes have this length; trains it if there is none."""
    name = f"steps-{steps}"
    found = [run.id for run in api.runs(runs_dir=runs).runs if run.name == name]
    if found:
        return found[0]
    settings = [f"env.max_episode_steps={steps}", f"env.kwargs.length={steps}", "eval.episodes=2"]
    settings += ["stop.env_steps=4096", "eval.confirm_episodes=2"]
    words = [word for setting in settings for word in ("--set", setting)]
    command = [sys.executable, "-m", "gymnast", "train", ENVIRONMENT, *words]
    subprocess.run([*command, "--name", name, "--runs", str(runs)], check=True)
    return trained(runs, steps)


def episode_path(runs: Path, run_id: str) -> str:
    episode = api.episodes(run_id, kind="eval", runs_dir=runs).episodes[-1]
    return f"/run/{run_id}/episodes/{episode.kind}-{episode.version}-{episode.number}"


def measure_open(browser: Browser, studio: Studio, path: str) -> dict[str, Any]:
    """Opens an episode several times: first in a studio that has just started, then with the process that
    opens episodes at hand. Milliseconds from the click on a link to the table, and to the first picture."""
    page, _ = open_page(browser, studio, path.rpartition("/")[0])
    page.get_by_role("table", name="Stored episodes").wait_for()
    first = scrub.open_episode(page, path)
    later = [scrub.open_episode(page, path) for _ in range(REPETITIONS)]
    page.context.close()
    return {
        "first": first,
        "later": later,
        "milliseconds_to_table_median": round(median(one["table"] for one in later), 1),
        "milliseconds_to_picture_median": round(median(one["picture"] for one in later), 1),
    }


def measure_scrub(browser: Browser, studio: Studio, path: str) -> dict[str, Any]:
    """Scrubs over the whole episode with the mouse, with keys, and plays it; the tasks of the main thread
    meanwhile."""
    page, _ = open_page(browser, studio, path)
    scrub.wait_for_episode(page)
    scrub.show_all_columns(page)
    page.wait_for_timeout(1500)  # frames around the first step are loaded
    columns = int(page.get_by_role("table", name="Steps").get_attribute("aria-colcount") or 0)
    result: dict[str, Any] = {"columns": columns}
    for name, move in (("mouse", scrub.drag), ("keys", scrub.press), ("playback", scrub.play)):
        tasks = scrub.tasks_during(browser, page, move)
        result[name] = {
            "task_ms_p95": round(quantiles(tasks.wall, n=20)[-1], 2),
            "task_ms_max": round(max(tasks.wall), 2),
            "task_cpu_ms_p95": round(quantiles(tasks.cpu, n=20)[-1], 2),
            "task_cpu_ms_max": round(max(tasks.cpu), 2),
            "tasks": len(tasks.wall),
            "steps_shown": scrub.steps_shown(page),
        }
    result["heap_bytes"] = heap_bytes(page)
    page.context.close()
    return result


def heap_bytes(page: Page) -> int:
    """Returns the size of the page's JavaScript heap after a collection of garbage."""
    client = page.context.new_cdp_session(page)
    client.send("HeapProfiler.collectGarbage")
    return int(client.send("Runtime.getHeapUsage")["usedSize"])


if __name__ == "__main__":
    main()
