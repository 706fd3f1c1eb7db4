"""Bounds that depend on the task. The docs and `gymnast metrics` display the docstrings of the functions."""

from __future__ import annotations

import math

from gymnast.metrics.metric import ANY, INF, Limits, Range


def entropy(limits: Limits) -> Range:
    """0 to ln n for n discrete actions, summed over the elements of the action"""
    highest = _max_entropy(limits)
    return ANY if highest is None else (0.0, highest)


def max_probability(limits: Limits) -> Range:
    """1 / n to 1 for n discrete actions, else 0 to 1"""
    # the largest of n probabilities is at least their mean
    return (1 / limits.n_actions if limits.n_actions else 0.0, 1.0)


def min_probability(limits: Limits) -> Range:
    """0 to 1 / n for n discrete actions, else 0 to 1"""
    return (0.0, 1 / limits.n_actions if limits.n_actions else 1.0)


def action(limits: Limits) -> Range:
    """the action space: low to high, or 0 to n - 1 for n discrete actions"""
    if limits.n_actions:
        return (0.0, limits.n_actions - 1.0)
    return _known(limits.action_low, limits.action_high)


def action_spread(limits: Limits) -> Range:
    """0 to half the width of the action space"""
    return _spread(
        action(limits), 2.0
    )  # the standard deviation of values in [a, b] is at most (b - a) / 2


def obs(limits: Limits) -> Range:
    """the observation space: smallest low to largest high"""
    return _known(limits.obs_low, limits.obs_high)


def obs_spread(limits: Limits) -> Range:
    """0 to half the width of the observation space"""
    return _spread(obs(limits), 2.0)


def reward(limits: Limits) -> Range:
    """the environment's reward range"""
    return limits.reward or ANY


def reward_spread(limits: Limits) -> Range:
    """0 to half the width of the reward range"""
    return _spread(reward(limits), 2.0)


def returns(limits: Limits) -> Range:
    """the environment's return range"""
    return limits.returns or ANY


def return_spread(limits: Limits) -> Range:
    """0 to the width of the return range divided by the square root of 2"""
    # unbiased standard deviation of two samples, one at each end of the range
    return _spread(returns(limits), math.sqrt(2.0))


def length(limits: Limits) -> Range:
    """1 to the longest possible episode"""
    return (1.0, limits.episode_steps or INF)


def epochs(limits: Limits) -> Range:
    """0 to algo.epochs"""
    return (0.0, limits.epochs or INF)


def _max_entropy(limits: Limits) -> float | None:
    return math.log(limits.n_actions) if limits.n_actions else limits.entropy


def _known(low: float | None, high: float | None) -> Range:
    return (-INF if low is None else low, INF if high is None else high)


def _spread(span: Range, divisor: float) -> Range:
    """Returns the bounds of the standard deviation of values in `span`: 0 to its width / `divisor`. The
    divisor is 2 for the population standard deviation (Popoviciu's inequality)."""
    return (0.0, (span[1] - span[0]) / divisor)
