"""Distributions: the samples have the mean and the spread that the text describes."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from gymnast.config.distribution import Distribution
from gymnast.config.resolve import load, resolve, save
from gymnast.errors import ConfigError

DRAWS = 20_000


def drawn(text: str, seed: int = 0) -> np.ndarray:
    distribution, rng = Distribution.parse(text), np.random.default_rng(seed)
    return np.array([distribution.sample(rng) for _ in range(DRAWS)])


def truncated_normal(mean: float, deviation: float, low: float, high: float) -> tuple[float, float]:
    """Returns mean and standard deviation of a truncated normal distribution, by the closed formula."""
    usual = NormalDist()
    a, b = (low - mean) / deviation, (high - mean) / deviation
    share = usual.cdf(b) - usual.cdf(a)
    shift = (usual.pdf(a) - usual.pdf(b)) / share
    variance = 1 + (a * usual.pdf(a) - b * usual.pdf(b)) / share - shift**2
    return mean + deviation * shift, deviation * math.sqrt(variance)


@pytest.mark.parametrize(
    ("text", "mean", "deviation"),
    [
        ("uniform(-12, -4)", -8.0, 8 / math.sqrt(12)),
        ("loguniform(0.1, 10)", 9.9 / math.log(100), None),
        ("log-uniform(1e-1, 10)", 9.9 / math.log(100), None),
        ("normal(3, 0.5)", 3.0, 0.5),
        ("normal(0, 1, -0.5, 2)", *truncated_normal(0, 1, -0.5, 2)),
        ("normal(0, 1, 3, 9)", *truncated_normal(0, 1, 3, 9)),
        ("choice(1, 2, 6)", 3.0, math.sqrt(14 / 3)),
        ("0.25", 0.25, 0.0),
    ],
)
def test_samples_have_the_expected_mean_and_standard_deviation(text, mean, deviation):
    numbers = drawn(text)
    assert numbers.mean() == pytest.approx(mean, abs=0.04 * (numbers.std() + 1e-9))
    if deviation is not None:
        assert numbers.std() == pytest.approx(deviation, rel=0.03)
    low, high = Distribution.parse(text).bounds()
    assert low <= numbers.min()
    assert numbers.max() <= high
    assert np.array_equal(drawn(text), numbers)


def test_the_logarithm_of_log_uniform_samples_is_uniform():
    quarters = np.histogram(np.log(drawn("loguniform(0.1, 10)")), 4)[0]
    assert quarters.min() > 0.23 * DRAWS


@pytest.mark.parametrize(
    "text",
    [
        "uniform(-12, -4)",
        "loguniform(0.1, 10)",
        "normal(0, 1, -2, 2)",
        "choice(1)",
        "normal(0, 0.1)",
    ],
)
def test_a_distribution_survives_a_round_trip_through_text(text: str):
    assert str(Distribution.parse(text)) == text
    cfg = resolve("CartPole-v1", {"env.randomize": {"gravity": text}}).config
    assert load(save(cfg)) == cfg


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unifrm(1, 2)", "unifrm is not a distribution"),
        ("heavy", "is not a distribution"),
        ("uniform(2, 1)", "reversed"),
        ("uniform(1)", "incomplete"),
        ("normal(1, 0)", "deviation above 0"),
        ("normal(0, 1, 50, 60)", "almost no probability"),
        ("normal(0, 1, 2)", "incomplete"),
        ("loguniform(0, 1)", "above 0"),
        ("choice()", "incomplete"),
        ("uniform(a, b)", "not a number"),
        ("uniform(0, inf)", "not finite"),
    ],
)
def test_a_mistake_is_reported_with_its_key(text: str, message: str):
    with pytest.raises(ConfigError) as refused:
        resolve("CartPole-v1", {"env.randomize": {"gravity": text}})
    assert "env.randomize.gravity" in str(refused.value)
    assert message in str(refused.value)


def test_a_user_metric_may_not_have_the_name_of_a_randomized_parameter():
    metrics = {"env/gravity": {"source": "g", "description": "Mine."}}
    with pytest.raises(ConfigError, match=r"metrics\.env/gravity"):
        resolve("CartPole-v1", {"env.randomize": {"gravity": 9}, "metrics": metrics})
