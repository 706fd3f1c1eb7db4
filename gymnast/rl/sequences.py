"""Divides the steps of a rollout into the sequences that a policy with memory is trained on."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def plan_sequences(steps: int, bptt: int, burn_in: int) -> Array:
    """Returns (step of the stored state, first step to learn from) of each sequence of a rollout of `steps`
    steps, [K, 2]. There are as few sequences as `bptt` allows, of nearly equal length; each also has up to
    `burn_in` steps before the first to learn from, within the rollout."""
    count = -(-steps // bptt)  # rounded up
    first = np.arange(count) * steps // count
    return np.stack([np.maximum(first - burn_in, 0), first], 1)
