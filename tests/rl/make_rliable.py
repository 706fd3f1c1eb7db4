"""Writes rliable.json: scores, and the results of the package rliable for them. It needs its own environment:

python -m venv /tmp/rliable && /tmp/rliable/bin/pip install rliable==1.2.0 "pandas<3"
/tmp/rliable/bin/python tests/rl/make_rliable.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rliable import library, metrics

SEED, RESAMPLES = 0, 10_000
CURVE_RESAMPLES = 2_000
AGGREGATES: dict[str, Callable[[np.ndarray], float]] = {
    "iqm": metrics.aggregate_iqm,
    "mean": metrics.aggregate_mean,
    "median": metrics.aggregate_median,
    "optimality_gap": metrics.aggregate_optimality_gap,
}
PAIRS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "improvement_probability": metrics.probability_of_improvement,
    "iqm_difference": lambda x, y: metrics.aggregate_iqm(x) - metrics.aggregate_iqm(y),
}


def estimate(scores, statistic, resamples: int = RESAMPLES) -> dict[str, float]:
    """Returns the value and the 95 % interval of a statistic of one or more arrays [seeds, environments]."""
    # rliable draws from NumPy's global generator, whatever random_state it is given.
    np.random.seed(SEED)
    points, intervals = library.get_interval_estimates(
        {"scores": scores}, lambda *x: np.array([statistic(*x)]), reps=resamples
    )
    low, high = intervals["scores"].ravel()
    return {"value": float(points["scores"][0]), "low": float(low), "high": float(high)}


def group(scores: np.ndarray) -> dict[str, object]:
    found = {name: estimate(scores, statistic) for name, statistic in AGGREGATES.items()}
    return {"scores": scores.T.tolist(), **found}


def pair(x: np.ndarray, y: np.ndarray) -> dict[str, object]:
    found = {name: estimate([x, y], statistic) for name, statistic in PAIRS.items()}
    return {"first": x.T.tolist(), "second": y.T.tolist(), **found}


def curves(values: np.ndarray) -> dict[str, object]:
    """The mean of curves [seeds, points] and its interval, point by point."""
    columns = [values[:, [i]] for i in range(values.shape[1])]
    band = [estimate(column, metrics.aggregate_mean, CURVE_RESAMPLES) for column in columns]
    return {"curves": values.tolist(), "band": band}


def main() -> None:
    rng = np.random.default_rng(2021)
    few = rng.normal(480, 25, (5, 1)).clip(max=500).round(2)  # ties at the maximum
    better = rng.normal(495, 15, (5, 1)).clip(max=500).round(2)
    constant = np.full((4, 1), 0.1)
    many = rng.gamma(2.0, 0.3, (10, 6))  # several environments
    other = many[:7] * rng.uniform(0.8, 1.3, (7, 6))
    ties = rng.integers(0, 3, (6, 3)).astype(float)
    tied = rng.integers(0, 3, (9, 3)).astype(float)
    steps = np.arange(8)
    curve = 500 * (1 - np.exp(-np.outer(rng.uniform(0.2, 0.6, 6), steps)))
    record = {
        "made_by": "tests/rl/make_rliable.py",
        "versions": {name: version(name) for name in ("rliable", "arch", "numpy", "scipy")},
        "seed": SEED,
        "resamples": RESAMPLES,
        "curve_resamples": CURVE_RESAMPLES,
        "groups": [group(x) for x in (few, better[:2], better[:3], constant, many, ties, tied)],
        "pairs": [
            pair(*xy)
            for xy in (
                (few, better),
                (better, few[:3]),
                (few, few),
                (few[:1], better),
                (many, other),
                (ties, tied),
                (constant, constant[:2] + 1),
            )
        ],
        "curves": [curves(curve), curves(curve[:2]), curves(np.repeat(curve[:1], 3, axis=0))],
    }
    path = Path(__file__).with_name("rliable.json")
    path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
