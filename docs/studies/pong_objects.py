"""Makes docs/studies/pong-objects.json and .svg: which settings help to learn Pong from its objects.

One setting at a time is changed from a common base, with the same seeds. A curve is the balance of
points, won minus lost, per 1000 env steps in each tenth of the budget; its area is the mean over
tenths. Areas are compared seed by seed with those of the base.

    python docs/studies/pong_objects.py RUNS_DIR [SEED ...]     # train the missing runs of these seeds
    python docs/studies/pong_objects.py RUNS_DIR store          # compare, store and draw all runs
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gymnast.metrics.store import MetricStore
from gymnast.runs import store as runs
from gymnast.runs.run import Run
from gymnast.training.python_api import train

FILE = Path(__file__).with_name("pong-objects.json")
PICTURE = FILE.with_suffix(".svg")
TARGET = "ALE/Pong-v5:ppo"
BUDGET, PARTS = 147_456, 10
SEEDS = (0, 1, 2)
BASE: dict[str, Any] = {
    "policy.activation": "tanh",
    "env.stack": 1,
    "env.previous_actions": 0,
    "normalize.obs": "static",
    "env.kwargs.repeat_action_probability": 0.25,
}
ARMS: dict[str, dict[str, Any]] = {
    "base": {},
    "relu": {"policy.activation": "relu"},
    "stack-4": {"env.stack": 4},
    "previous-actions": {"env.previous_actions": 4},
    "not-normalized": {"normalize.obs": "off"},
    "deterministic": {"env.kwargs.repeat_action_probability": 0.0},
}
"""Name -> the settings that differ from the base."""
COMMON = {
    "stop.env_steps": BUDGET,
    "stop.eval_return": "off",
    "facts.observations": [],  # the declared bounds fit only the preset's own number of features
    "eval.every": "off",
    "eval.confirm_episodes": 2,  # the study measures learning, not the final score
    "eval.max_episode_steps": 100,
    "traces.eval": "off",
    "traces.film": "off",
}


def curve(run: Run) -> list[float]:
    """Returns the balance of points per 1000 env steps in each of the PARTS parts of the budget."""
    with MetricStore(run.path / "metrics.db") as store:
        points = [1000 * row["rollout/reward_mean"] for row in store.rows()]
    return [float(part.mean()) for part in np.array_split(np.array(points), PARTS)]


def compare_areas(curves: dict[str, list[list[float]]]) -> dict[str, dict[str, Any]]:
    """Returns arm -> mean area, mean last value, and the differences of areas from the base by seed."""
    area = {arm: np.array(found).mean(1) for arm, found in curves.items()}
    return {
        arm: {
            "area": float(area[arm].mean()),
            "last": float(np.array(found)[:, -1].mean()),
            "difference": (area[arm] - area["base"]).tolist(),
            "mean_difference": float((area[arm] - area["base"]).mean()),
        }
        for arm, found in curves.items()
    }


def draw(curves: dict[str, list[list[float]]]) -> str:
    """Returns an SVG with the mean over seeds of each arm, and the range of its seeds behind the line."""
    width, height, left, top, plot = 720, 360, 50, 30, (480, 280)
    inks = ("#1f2933", "#0b6e99", "#c2571a", "#4b8b3b", "#8a4fa3", "#b8860b")

    def point(part: int, value: float) -> str:
        x = left + plot[0] * (part + 0.5) / PARTS
        return f"{x:.1f},{height_of(value):.1f}"

    def height_of(value: float) -> float:
        return top + plot[1] * (5 - value) / 30

    parts: list[str] = []
    for value in (-25, -20, -15, -10, -5, 0, 5):
        y = height_of(value)
        parts.append(f'<path d="M{left} {y:.1f}h{plot[0]}" stroke="#e0e5e9"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{value}</text>')
    for steps in range(0, BUDGET, 50_000):
        x = left + plot[0] * steps / BUDGET
        parts.append(f'<text x="{x:.1f}" y="{top + plot[1] + 16}">{steps:,}</text>')
    for i, (arm, found) in enumerate(curves.items()):
        every = np.array(found)
        upper = [point(k, v) for k, v in enumerate(every.max(0))]
        lower = [point(k, v) for k, v in enumerate(every.min(0))]
        band = " ".join([*upper, *reversed(lower)])
        line = " ".join(point(k, v) for k, v in enumerate(every.mean(0)))
        parts.append(f'<polygon points="{band}" fill="{inks[i]}" opacity="0.08"/>')
        parts.append(f'<polyline points="{line}" fill="none" stroke="{inks[i]}" stroke-width="2"/>')
        y = top + 14 + 22 * i
        parts.append(f'<path d="M550 {y - 4}h18" stroke="{inks[i]}" stroke-width="3"/>')
        parts.append(f'<text x="574" y="{y}">{arm}</text>')
    about = (
        f"Points per 1000 env steps over {BUDGET:,} env steps: mean and range of {len(SEEDS)} seeds"
    )
    parts.append(f'<text x="{left}" y="{height - 18}">{about}</text>')
    style = "font: 13px sans-serif; fill: #1f2933"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
        f'<rect width="100%" height="100%" fill="white"/><g style="{style}">'
        + "".join(parts)
        + "</g></svg>\n"
    )


def finished_runs(runs_dir: Path) -> dict[tuple[str, int], Run]:
    """Returns (arm, seed) -> run, for finished runs."""
    found = (Run(Path(found.path)) for found in runs.list_runs(runs_dir))
    ended = [run for run in found if run.info["status"] == "finished"]
    return {(run.info["tags"][0], run.info["seed"]): run for run in ended}


def train_missing(runs_dir: Path, seeds: list[int]) -> None:
    """Trains every arm with each of these seeds, unless there is a finished run, and prints its curve."""
    for seed in seeds:
        for arm, change in ARMS.items():
            if (arm, seed) not in finished_runs(runs_dir):
                settings = BASE | COMMON | change
                given = {"seed": seed, "tags": (arm,), "runs_dir": runs_dir, "quiet": True}
                print(arm, seed, curve(train(TARGET, overrides=settings, **given)), flush=True)


def store(runs_dir: Path) -> None:
    """Writes FILE and PICTURE from the finished runs, which must exist for every arm and seed."""
    found = finished_runs(runs_dir)
    curves = {arm: [curve(found[arm, seed]) for seed in SEEDS] for arm in ARMS}
    info = found["base", SEEDS[0]].info
    settings = " ".join(f"--set {k}={json.dumps(v)}" for k, v in (BASE | COMMON).items())
    document = {
        "target": TARGET,
        "command": f"gymnast train {TARGET} --seed SEED {settings}",
        "revision": info["revision"],
        "versions": info["versions"],
        "seeds": list(SEEDS),
        "env_steps": BUDGET,
        "arms": ARMS,
        "returns": curves,
        "compared": compare_areas(curves),
    }
    FILE.write_text(json.dumps(document, indent=1) + "\n")
    PICTURE.write_text(draw(curves))


if __name__ == "__main__":
    place, *words = sys.argv[1:]
    if words == ["store"]:
        store(Path(place))
    else:
        train_missing(Path(place), [int(word) for word in words] or list(SEEDS))
