"""Speed of the tag environment alone: random actions, with observations and resets.

python -m benchmarks.tag                        # about half a minute; writes JSON and the page
python -m benchmarks.tag --quick                # one short round, nothing written
"""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from benchmarks import measurement, sample
from benchmarks.tables import rounded, table
from benchmarks.timing import measure_time

ARENAS = (1, 16, 64, 256)
REPETITIONS = 5
SECONDS = 1.5
"""CPU seconds per sample."""
_DRAWN = 200
"""Number of steps whose actions are drawn beforehand and reused in turn."""


def main() -> None:
    options = measurement.parse_options(__doc__, REPETITIONS)
    entry: dict[str, Any] = measurement.new_entry("tag") | {"samples": {str(n): [] for n in ARENAS}}
    with sample.pin_to_cores({measurement.benchmark_core()}):
        for number in range(options.repetitions):
            for arenas in ARENAS:
                one = _sample(arenas, SECONDS / 4 if options.quick else SECONDS)
                entry["samples"][str(arenas)].append(one)
                speed = one["agent_steps"] / one["cpu"]
                print(f"{number + 1} {arenas} arenas: {speed:,.0f} agent steps/s", flush=True)
    measurement.save_entry("tag", entry, options.quick)


def _sample(arenas: int, seconds: float) -> dict[str, float]:
    from gymnast.envs.matches.tag import TagMatches

    matches = TagMatches(arenas)
    matches.reset(range(arenas), range(arenas))
    # [steps, roles, arenas, seats, 3], for the action space MultiDiscrete([3, 3, 2])
    drawn = np.random.default_rng(0).integers(0, (3, 3, 2), (_DRAWN, 2, arenas, 1, 3))
    steps, seed, cpu, wall = 0, arenas, 0.0, 0.0
    while cpu < seconds:
        with measure_time() as spent:
            for seeker, hider in drawn:
                result = matches.step({"seeker": seeker, "hider": hider})
                if result.over.any():
                    over = np.flatnonzero(result.over)
                    matches.reset(over.tolist(), range(seed, seed + len(over)))
                    seed += len(over)
        steps, cpu, wall = steps + _DRAWN, cpu + spent.cpu, wall + spent.wall
    return {"agent_steps": steps * arenas * 2, "cpu": cpu, "wall": wall}


def section(found: dict[str, Any]) -> str:
    rows = [
        [arenas, rounded(median(one["agent_steps"] / one["cpu"] for one in samples))]
        for arenas, samples in found["samples"].items()
    ]
    head = ("arenas", "agent steps per CPU second")
    return _SECTION.format(table=table(head, rows), surroundings=measurement.info_text(found))


_SECTION = """\
One seeker and one hider per arena, stepped together with random actions on one core: motion, walls, line of
sight, rewards, and resets of finished matches. There is no policy.

{table}

{surroundings}"""


if __name__ == "__main__":
    main()
