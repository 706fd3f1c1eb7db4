"""The posterior mode of a logistic model with a Gaussian prior, and the covariance of its Laplace
approximation."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def posterior_mode(
    design: Array, offset: Array, score: Array, matches: Array, precision: float
) -> tuple[Array, Array]:
    """Returns the mode x [k] and its covariance [k, k], found by Newton's method.

    Of `matches` [m], `score` [m] were won; the log-odds of a win are design [m, k] @ x + offset [m]; the
    prior of x is N(0, 1 / precision). The log posterior is strictly concave, so there is one mode. Newton
    steps that would decrease it are halved.
    """
    x = np.zeros(design.shape[1])
    log_posterior = _log_posterior(x, design, offset, score, matches, precision)
    for _ in range(100):
        p = sigmoid(design @ x + offset)
        # gradient and curvature of the log posterior, [k] and [k, k]
        gradient = design.T @ (score - matches * p) - precision * x
        step = np.linalg.solve(_curvature(design, p, matches, precision), gradient)
        # Full Newton steps can overshoot where the sigmoid is flat, so they are halved if necessary.
        size = 1.0
        while size > 1e-9:
            candidate = _log_posterior(x + size * step, design, offset, score, matches, precision)
            if candidate >= log_posterior:
                x, log_posterior = x + size * step, candidate
                break
            size /= 2
        if np.abs(step).max(initial=0.0) * size < 1e-10:
            break
    p = sigmoid(design @ x + offset)
    return x, np.linalg.inv(_curvature(design, p, matches, precision))


def sigmoid(x: Array) -> Array:
    return 0.5 * (1 + np.tanh(x / 2))  # 1 / (1 + exp(-x)) would overflow for very negative x


def _log_posterior(
    x: Array, design: Array, offset: Array, score: Array, matches: Array, precision: float
) -> float:
    """Returns the logarithm of the posterior at x [k], up to a constant. The other arguments are those of
    `posterior_mode`."""
    log_odds = design @ x + offset
    # log sigmoid(z) = -log(1 + exp(-z)), computed without overflow
    likelihood = -score * np.logaddexp(0, -log_odds) - (matches - score) * np.logaddexp(0, log_odds)
    return float(likelihood.sum() - precision / 2 * (x @ x))


def _curvature(design: Array, p: Array, matches: Array, precision: float) -> Array:
    """Returns the negative Hessian of the log posterior, [k, k]. `p` [m]: the probabilities of a win; the
    other arguments are those of `posterior_mode`."""
    weight = (matches * p * (1 - p))[:, None]
    return design.T @ (weight * design) + precision * np.eye(design.shape[1])
