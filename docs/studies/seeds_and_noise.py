"""Measures how often `exceeds_noise` is true for two groups of seeds, and writes seeds-and-noise.json:

    python docs/studies/seeds_and_noise.py

Scores are drawn from a normal distribution, with the same standard deviation on both sides; the difference of
the means is given in standard deviations.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from gymnast.insight.improvement import SideScores, improvement

SEEDS = (2, 3, 5, 10, 20)
DIFFERENCES = (0.0, 1.0, 2.0, 3.0)
COMPARISONS = 1_000


def fraction_exceeding(seeds: int, difference: float) -> float:
    """Returns the fraction of comparisons whose difference exceeds noise."""
    rng = np.random.default_rng([seeds, int(10 * difference)])
    exceeding = 0
    for _ in range(COMPARISONS):
        first, second = rng.normal(difference, 1, seeds), rng.normal(0, 1, seeds)
        a, b = SideScores("a", {"env": first.tolist()}), SideScores("b", {"env": second.tolist()})
        exceeding += improvement(a, b).exceeds_noise is True
    return exceeding / COMPARISONS


def main() -> None:
    rows = [
        {"seeds": seeds, "difference": difference, "exceeds": fraction_exceeding(seeds, difference)}
        for seeds in SEEDS
        for difference in DIFFERENCES
    ]
    record = {"comparisons": COMPARISONS, "distribution": "normal", "rows": rows}
    path = Path(__file__).with_name("seeds-and-noise.json")
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
