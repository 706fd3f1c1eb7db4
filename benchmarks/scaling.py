"""Speed of gymnast by number of env copies, network width and minibatch size.

python -m benchmarks.scaling                    # about 5 minutes; writes JSON and the page
python -m benchmarks.scaling sample BACKEND N_ENVS WIDTH BATCH ENV_STEPS RUNS_DIR
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from statistics import median
from typing import Any

from benchmarks import measurement, sample
from benchmarks.tables import rounded, table
from benchmarks.tasks import HIDDEN, TASKS

COPIES = (1, 8, 64, 256, 1024)
WIDTHS = (64, 256)
BATCHES = (64, 256, 1024)
REPETITIONS = 3
BASE = dataclasses.replace(TASKS["b"], env_steps=0)
"""PPO as in task b: 4 epochs, rollouts of at least 4096 steps and at least 16 per copy."""
_EXPECTED = {64: 40_000, 256: 8_000}
"""Estimated env steps per second, for budgets of a few seconds."""

Point = tuple[str, int, int, int]
"""Backend, copies, width, batch."""


def points() -> list[Point]:
    copies = [(backend, n, WIDTHS[0], 256) for backend in ("inprocess", "vector") for n in COPIES]
    return copies + [("inprocess", 8, width, batch) for width in WIDTHS for batch in BATCHES]


def main() -> None:
    if sys.argv[1:2] == ["sample"]:
        backend, *numbers, runs_dir = sys.argv[2:]
        _sample(backend, *map(int, numbers), runs_dir=runs_dir)
        return
    options = measurement.parse_options(__doc__, REPETITIONS)
    entry = measurement.new_entry("scaling") | {"points": []}
    chosen = list(dict.fromkeys(points()))
    entry["points"] = [{"point": point, "samples": []} for point in chosen]
    for number in range(options.repetitions):
        for of in entry["points"]:
            of["samples"].append(one := _measure(of["point"], options.quick))
            print(f"{number + 1} {of['point']}: {one['env_steps'] / one['cpu']:,.0f}/s", flush=True)
    measurement.save_entry("scaling", entry, options.quick)


def _measure(point: Point, quick: bool) -> dict[str, Any]:
    backend, n_envs, width, batch = point
    rollout = n_envs * _n_steps(n_envs)
    seconds = 0.5 if quick else 3.0
    # Whole rollouts, so that the last update is a full one.
    env_steps = max(1, round(_EXPECTED[width] * seconds / rollout)) * rollout
    with tempfile.TemporaryDirectory() as runs, sample.pin_to_cores({measurement.benchmark_core()}):
        words = [backend, n_envs, width, batch, env_steps, runs]
        command = [sample.OURS, "-m", "benchmarks.scaling", "sample", *map(str, words)]
        one = sample.run_json(command)
    return {key: one[key] for key in ("env_steps", "cpu", "wall")}


def _sample(
    backend: str, n_envs: int, width: int, batch: int, env_steps: int, *, runs_dir: str
) -> None:
    from benchmarks.ours import overrides, train
    from benchmarks.timing import measure_time, print_sample

    task = dataclasses.replace(BASE, n_envs=n_envs, n_steps=_n_steps(n_envs), batch_size=batch)

    def settings(of: Any, steps: int) -> dict[str, Any]:
        chosen = overrides(of, steps)
        chosen["env"]["backend"], chosen["policy"]["hidden"] = backend, [width] * len(HIDDEN)
        return chosen

    train(task, settings(task.warm_up, task.warm_up.env_steps), runs_dir)
    with measure_time() as spent:
        train(task, settings(task, env_steps), runs_dir)
    print_sample("gymnast", env_steps, spent)


def _n_steps(n_envs: int) -> int:
    return max(16, 4096 // n_envs)


def section(found: dict[str, Any]) -> str:
    speeds = {
        tuple(of["point"]): median(one["env_steps"] / one["cpu"] for one in of["samples"])
        for of in found["points"]
    }

    def cell(*point: Any) -> str:
        return rounded(speeds[point]) if point in speeds else ""

    copies = [
        [n, *(cell(backend, n, WIDTHS[0], 256) for backend in ("inprocess", "vector"))]
        for n in COPIES
    ]
    widths = [
        [batch, *(cell("inprocess", 8, width, batch) for width in WIDTHS)] for batch in BATCHES
    ]
    return _SECTION.format(
        copies=table(("copies", "`inprocess`", "`vector`"), copies),
        widths=table(("minibatch", *(f"2 x {width} units" for width in WIDTHS)), widths),
        surroundings=measurement.info_text(found),
    )


_SECTION = """\
Env steps per CPU second of gymnast on CartPole with PPO, 4 epochs, one core and one thread. By the
number of copies, at two layers of 64 units and minibatches of 256:

{copies}

By minibatch and width, at 8 copies in this process:

{widths}

{surroundings}"""


if __name__ == "__main__":
    main()
