"""Seconds from the command to a solved environment, compared with SB3 with rl-zoo's hyperparameters.

python -m benchmarks.solving                    # 5 seeds; up to half an hour, most of it SB3's
python -m benchmarks.solving --envs CartPole-v1 # that one anew; the other is kept
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import measurement, sample
from benchmarks.code_revision import ROOT
from benchmarks.libraries import PEERS
from benchmarks.tables import table

ENVS = {"CartPole-v1": ("a", 475, 5_000), "LunarLander-v3": ("c", 200, 50_000)}
"""Environment -> the task with rl-zoo's settings, threshold, env steps between SB3's evaluations (as
often as our preset evaluates)."""


def main() -> None:
    options = _options()
    entry = measurement.new_entry("solving")
    entry["envs"] = (measurement.load_entry("solving") or {}).get("envs", {})
    for env in options.envs:
        samples: dict[str, list[Any]] = {"ours": [], "sb3": []}
        for seed in range(options.first, options.first + options.seeds):
            samples["ours"].append(_ours(env, seed))
            if not options.without_sb3 and PEERS["sb3"].why_missing() is None:
                samples["sb3"].append(_sb3(env, seed))
            for who, of in samples.items():
                print(env, seed, who, of[-1] if of else "", flush=True)
        about = {key: entry[key] for key in ("command", "date", "revision", "hardware")}
        entry["envs"][env] = about | {"samples": samples}
    measurement.save_entry("solving", entry, options.quick)


def _ours(env: str, seed: int) -> dict[str, Any]:
    """Runs the command on all cores to its exit: training, and confirmation on held-out seeds."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["train", env, "--seed", str(seed), "--runs", f"{folder}/runs"]
        # Without films: their process would still run during the next sample.
        command = [sample.OURS, "-m", "gymnast", *words, "--set", "traces.film=off"]
        started = time.time()
        wall, _ = _run_timed(command, folder)
        (run,) = (path.parent for path in Path(f"{folder}/runs").glob("*/run.json"))
        info = json.loads((run / "run.json").read_text())
        confirmed = [event for event in _events(run) if event["kind"] == "confirmed"]
        return {
            "seed": seed,
            "wall": wall,
            "to_confirmed": confirmed[-1]["time"] - started if confirmed else None,
            "solved": info["solved"],
            "score": info["score"]["mean"] if info["score"] else None,
            "env_steps": info["clocks"]["env_steps"],
        }


def _sb3(env: str, seed: int) -> dict[str, Any]:
    letter, threshold, every = ENVS[env]
    words = ["-m", "benchmarks.peers.sb3_solve", letter, str(threshold), str(every), str(seed)]
    with tempfile.TemporaryDirectory() as folder:
        wall, printed = _run_timed([str(PEERS["sb3"].python), *words], folder)
    result = json.loads(printed.splitlines()[-1])
    solved = result.pop("stopped") and result["score"] >= threshold
    return {"seed": seed, "wall": wall, "solved": solved, **result}


def _run_timed(command: list[str], folder: str) -> tuple[float, str]:
    """Runs a command; returns its wall seconds and what it printed."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    completed = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)
    wall = time.perf_counter() - started
    if completed.returncode:
        raise sample.CommandFailed(f"{shlex.join(command)} failed", completed.stderr[-2000:])
    return wall, completed.stdout


def _events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def section(found: dict[str, Any]) -> str:
    rows = []
    for env, entry in found["envs"].items():
        for who, of in entry["samples"].items():
            if not of:
                continue
            seconds = [one["wall"] for one in of]
            rows.append(
                [
                    env,
                    {"ours": f"`gymnast train {env}`", "sb3": "SB3, rl-zoo's settings"}[who],
                    f"{sum(bool(one['solved']) for one in of)} of {len(of)}",
                    f"**{median(seconds):.1f}** ({min(seconds):.1f} to {max(seconds):.1f})",
                    f"{median(one['env_steps'] for one in of):,.0f}",
                    f"{median(one['score'] for one in of):.0f}",
                ]
            )
    head = ("environment", "", "solved", "wall seconds", "env steps", "score")
    surroundings = "\n".join(
        f"{env}: {measurement.info_text(entry)}" for env, entry in found["envs"].items()
    )
    return _SECTION.format(table=table(head, rows), surroundings=surroundings)


_SECTION = """\
Medians (lowest to highest) over seeds, on all cores, from the start of the command to its exit,
including imports. gymnast: `gymnast train ENV` with its preset, evaluation in a separate process, and
confirmation on 100 held-out episodes; without films. SB3: a script with rl-zoo's hyperparameters, which
evaluates 20 episodes in 8 copies as often as our preset, stops when their mean first reaches the
threshold, and then runs 100 episodes on other seeds. Solved: the mean of these 100 episodes reaches the
threshold. Score: that mean.

{table}

{surroundings}"""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--envs", default=list(ENVS), type=lambda text: text.split(","))
    parser.add_argument("--seeds", default=5, type=int)
    parser.add_argument("--first", default=1, type=int, help="the first seed")
    parser.add_argument("--without-sb3", action="store_true")
    parser.add_argument("--quick", action="store_true", help="one seed, nothing written")
    options = parser.parse_args()
    if options.quick:
        options.seeds = 1
    return options


if __name__ == "__main__":
    main()
