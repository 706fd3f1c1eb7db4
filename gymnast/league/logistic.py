"""Where the posterior of a logistic model with a Gaussian prior is highest, and how wide it is there."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def mode(
    design: Array, offset: Array, score: Array, matches: Array, precision: float
) -> tuple[Array, Array]:
    """x [k] and its covariance [k, k], by Newton's method.

    Of `matches` [m], `score` [m] were won, with log-odds design [m, k] @ x + offset [m]; the prior of
    x is N(0, 1 / precision). The posterior is strictly concave: there is one mode, and steps that do
    not rise are halved.
    """
    x = np.zeros(design.shape[1])
    height = _height(x, design, offset, score, matches, precision)
    for _ in range(100):
        p = sigmoid(design @ x + offset)
        gradient = design.T @ (score - matches * p) - precision * x
        step = np.linalg.solve(_curvature(design, p, matches, precision), gradient)
        size = 1.0
        while size > 1e-9:
            higher = _height(x + size * step, design, offset, score, matches, precision)
            if higher >= height:
                x, height = x + size * step, higher
                break
            size /= 2
        if np.abs(step).max(initial=0.0) * size < 1e-10:
            break
    p = sigmoid(design @ x + offset)
    return x, np.linalg.inv(_curvature(design, p, matches, precision))


def sigmoid(x: Array) -> Array:
    return 0.5 * (1 + np.tanh(x / 2))


def _height(
    x: Array, design: Array, offset: Array, score: Array, matches: Array, precision: float
) -> float:
    """The logarithm of the posterior, up to a constant."""
    odds = design @ x + offset
    likely = -score * np.logaddexp(0, -odds) - (matches - score) * np.logaddexp(0, odds)
    return float(likely.sum() - precision / 2 * (x @ x))


def _curvature(design: Array, p: Array, matches: Array, precision: float) -> Array:
    weight = (matches * p * (1 - p))[:, None]
    return design.T @ (weight * design) + precision * np.eye(design.shape[1])
