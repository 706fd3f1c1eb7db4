"""Compares three ways to train a seeker of tag: docs/studies/tag-approaches.json, its pictures in docs/images
and the section "Approaches compared" of docs/self-play.md.

    python docs/studies/tag_approaches.py RUNS_DIR        # train missing runs, monitor, play matches, store

A run that exists in RUNS_DIR by its name (selfplay-s1, ...) is reused. The curves are the monitor's.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np

from gymnast import api
from gymnast.rl.statistics import mean_interval
from gymnast.runs import store
from gymnast.runs.run import Run
from gymnast.selfplay.crossplay import open_tournament, play_cast
from gymnast.training.python_api import train

HERE = Path(__file__)
FILE = HERE.with_name("tag-approaches.json")
PAGE = HERE.parents[1] / "self-play.md"
IMAGES = HERE.parents[1] / "images"
BEGIN, END = "<!-- made by docs/studies/tag_approaches.py -->", "<!-- end of approaches -->"
APPROACHES = ("selfplay", "seeker-vs-scripted", "curriculum")
SEEDS = (1, 2, 3)
BUDGET = "8M"
MATCHES = 200
"""Held-out matches per pair of players."""
SCRIPTED = ("weak", "medium", "strong")
LEARNED = "learned hiders"
PICTURES = ("tag-evaluation-win-rate", "tag-match-lengths")


class Result(TypedDict):
    """The results of one run's best seeker."""

    run: str
    seed: int
    cpu_minutes: float
    """CPU time of the training process, without its evaluations."""
    env_steps: int
    revision: str
    win_rates: dict[str, float]
    """Opponent -> share of the matches that the seeker wins."""


def find_or_train(approach: str, seed: int, runs_dir: Path) -> Run:
    """Returns the run of an approach and a seed; trains it if it does not exist."""
    name = f"{approach}-s{seed}"
    if (found := store.find_run(name, runs_dir)) is None:
        overrides = {"seed": seed, "stop.env_steps": BUDGET}
        found = train(f"tag:{approach}", overrides=overrides, name=name, runs_dir=runs_dir)
    return found


def win_rate(run: Run, hider: str, runs_dir: Path) -> float:
    """Returns the win rate of a run's best seeker against a hider, on held-out seeds."""
    tournament = open_tournament(run.id, n_matches=64, runs_dir=runs_dir)
    try:
        played = play_cast(tournament, {"hider": hider}, MATCHES)
    finally:
        tournament.close()
    rate = played.roles["seeker"].win_rate
    assert rate is not None  # tag reports every outcome
    return rate


def cpu_seconds(run: Run, runs_dir: Path) -> float:
    """Returns the CPU time of the training process."""
    rows = [row for row in api.rows(run.id, runs_dir=runs_dir).rows if "system/cpu" in row]
    seconds = np.diff([0.0, *(row["clock/seconds"] for row in rows)])
    return float(seconds @ [row["system/cpu"] for row in rows])


def measure(approach: str, seed: int, runs: dict[str, Run], runs_dir: Path) -> Result:
    """Plays the best seeker of a run against the scripted hiders, and against the hiders that the self-play
    runs of the other seeds have trained, which no seeker has met before."""
    run = runs[f"{approach}-s{seed}"]
    rates = {name: win_rate(run, f"scripted:{name}", runs_dir) for name in SCRIPTED}
    strangers = [runs[f"selfplay-s{other}"] for other in SEEDS if other != seed]
    rates[LEARNED] = float(
        np.mean([win_rate(run, f"{other.id}:best", runs_dir) for other in strangers])
    )
    return {
        "run": run.id,
        "seed": seed,
        "cpu_minutes": round(cpu_seconds(run, runs_dir) / 60, 1),
        "env_steps": int(run.info["clocks"]["env_steps"]),
        "revision": str(run.info["revision"]),
        "win_rates": rates,
    }


def draw(runs: Sequence[Run], runs_dir: Path) -> None:
    """Draws the monitor's comparison of the approaches."""
    with tempfile.TemporaryDirectory() as folder:
        written = api.write_monitor(
            refs=[run.id for run in runs], out=folder, runs_dir=str(runs_dir)
        )
        for name in PICTURES:
            file = next(path for path in written.files if Path(path).stem == name)
            shutil.copy(
                Path(folder) / file, IMAGES / f"{name.replace('tag', 'tag-approaches')}.png"
            )


def page(results: dict[str, list[Result]]) -> str:
    """Returns the section as Markdown."""
    opponents = (*SCRIPTED, LEARNED)
    head = ["approach", *(f"against {name}" for name in opponents), "CPU minutes"]
    lines = [head, ["---"] * len(head)]
    for approach, seeds in results.items():
        cells = [f"`tag:{approach}`"]
        for name in opponents:
            rates = [result["win_rates"][name] for result in seeds]
            mean = mean_interval(np.array(rates))
            low, high = max(0.0, mean.low), min(1.0, mean.high)
            each = ", ".join(f"{rate:.0%}" for rate in rates)
            cells.append(f"{mean.mean:.0%} [{low:.0%}, {high:.0%}] ({each})")
        cells.append(", ".join(f"{result['cpu_minutes']:.0f}" for result in seeds))
        lines.append(cells)
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    names = " ".join(f"--approach {approach}" for approach in APPROACHES)
    return "\n".join(
        [
            f"Three ways to train a seeker, {BUDGET} env steps each, seeds "
            f"{', '.join(map(str, SEEDS))}. Win rates of the best version of each run on {MATCHES} held-out "
            "matches per opponent: mean over the seeds, its 95 % interval (Student's t, three seeds) and "
            "each seed. The learned hiders are the best ones of the self-play runs of the other seeds, which "
            "no seeker has met before.",
            "",
            table,
            "",
            f"The charts are those of `gymnast monitor {names}` ([monitor](monitor.md)). "
            "Only self-play trains a hider.",
            "",
            *(
                f"![{title}](images/{name.replace('tag', 'tag-approaches')}.png)\n"
                for name, title in zip(
                    PICTURES, ("Win rates in evaluations", "Lengths of matches"), strict=True
                )
            ),
        ]
    )


def main(runs_dir: Path) -> None:
    """Trains the missing runs, plays all matches, and writes the JSON file, the pictures and the page."""
    runs = {
        f"{approach}-s{seed}": find_or_train(approach, seed, runs_dir)
        for approach in APPROACHES
        for seed in SEEDS
    }
    draw(list(runs.values()), runs_dir)
    results = {
        approach: [measure(approach, seed, runs, runs_dir) for seed in SEEDS]
        for approach in APPROACHES
    }
    command = "python docs/studies/tag_approaches.py RUNS_DIR"
    document = {"command": command, "matches": MATCHES, "approaches": results}
    FILE.write_text(json.dumps(document, indent=1) + "\n")
    text = PAGE.read_text()
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(results)}\n{END}{after}")


if __name__ == "__main__":
    main(store.runs_dir(sys.argv[1]))
