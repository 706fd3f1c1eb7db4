"""Makes gymnast/guide/images/charts/*.png: charts of a healthy and an unhealthy run, as in a report.

PYTHONPATH=. python docs/images/charts.py RUNS_DIR [NAME ...]     # trains missing runs
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docs.studies.health import CART, FAULTS, LANDER, QUIET, finished_runs, train_if_missing
from gymnast import api
from gymnast.insight.report.pictures import chart_png

FOLDER = Path(__file__).parents[2] / "gymnast" / "guide" / "images" / "charts"
CARTPOLE, LANDING = "CartPole-v1:ppo", "LunarLander-v3:ppo"
BUDGET = {CARTPOLE: 60_000, LANDING: 150_000}
MAX_BYTES = 40_000
"""Largest size of a picture."""


@dataclass(frozen=True)
class ChartPair:
    """The two runs of a picture, and the chart of them that it shows."""

    chart: str
    """Name of a chart in gymnast/insight/charts.py."""
    unhealthy: str
    """Name of the run on the right: a fault of docs/studies/health.py, or a run of `OWN` in this file."""
    caption: str
    """Describes the fault, in the title of the picture."""
    healthy: str = "base"
    """Name of the run on the left, in `OWN`. base: the same preset without a fault."""
    x: str = "vec_steps"
    """Clock on the x axis."""


@dataclass(frozen=True)
class PlantedFault:
    """A preset, and the settings that are changed in it."""

    target: str
    planted: dict[str, Any] = field(default_factory=dict[str, Any])


OWN = {
    "cart": PlantedFault(CARTPOLE),
    "lander": PlantedFault(LANDING),
    "relu": PlantedFault(CARTPOLE, {"policy.activation": "relu"}),
    "often-evaluated": PlantedFault(CARTPOLE, {"eval.every": "2%", "eval.episodes": 200}),
}
PAIRS = {
    "score": ChartPair("score", "lr-times-0.001", "learning rate 1000 times too small"),
    "actions": ChartPair("actions", "lr-times-100", "learning rate 100 times too large"),
    "entropy": ChartPair("certainty", "entropy-times-100", "entropy bonus 100 times too large"),
    "kl": ChartPair("kl", "lr-times-100", "learning rate 100 times too large"),
    "losses": ChartPair("losses", "reward-times-10000", "rewards of 10,000 per step"),
    "gradients": ChartPair("gradients", "reward-times-10000", "rewards of 10,000 per step"),
    "value": ChartPair("explained", "frozen-critic", "a critic that does not learn"),
    "dead-units": ChartPair(
        "dead-units", "dead-relus", "two updates that are far too large", "relu"
    ),
    "experience": ChartPair("effect", "reward-flipped", "rewards with the wrong sign"),
    "schedules": ChartPair("schedules", "dead-relus", "a learning rate of 0.1 at the start"),
    "timing": ChartPair("timing", "often-evaluated", "evaluated too often"),
}


def train(runs_dir: Path, name: str) -> str:
    """Returns the id of the run of that name; trains it if it is missing."""
    if name in OWN:
        target, settings = OWN[name].target, OWN[name].planted
    else:
        target, settings = FAULTS[name].target, FAULTS[name].planted
    base = LANDER if target == LANDING else CART
    budget = {"stop.env_steps": BUDGET[target]}
    train_if_missing(runs_dir, name, target, QUIET | base | budget | settings, 0)
    return finished_runs(runs_dir)[name, 0].id


def draw(runs_dir: Path, name: str, pair: ChartPair) -> None:
    """Writes NAME.png: the chart of the healthy run, and next to it that of the unhealthy run."""
    unhealthy = train(runs_dir, pair.unhealthy)
    target = api.show(unhealthy, runs_dir=runs_dir).preset
    base = {CARTPOLE: "cart", LANDING: "lander"}[target]
    healthy = train(runs_dir, base if pair.healthy == "base" else pair.healthy)
    drawn = [
        next(c for c in api.charts(id, pair.x, runs_dir=runs_dir) if c.name == pair.chart)
        for id in (healthy, unhealthy)
    ]
    title = drawn[0].title
    if not title[:2].isupper():  # an abbreviation, such as KL, stays as it is
        title = title[0].lower() + title[1:]
    data = chart_png(*drawn, titles=(f"healthy: {title}", f"unhealthy: {pair.caption}"))
    if len(data) > MAX_BYTES:
        raise SystemExit(f"{name}.png takes {len(data):,} bytes, more than {MAX_BYTES:,}")
    (FOLDER / f"{name}.png").write_bytes(data)
    print(name, len(data), flush=True)


if __name__ == "__main__":
    place, *wanted = sys.argv[1:]
    FOLDER.mkdir(exist_ok=True)
    for name, pair in PAIRS.items():
        if not wanted or name in wanted:
            draw(Path(place), name, pair)
