"""Random but reproducible sequences for policies with memory, without a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gymnast.engine.sequences import Sequences
from tests.engine.native.problems import Problem


def make(
    obs: str = "vector",
    action: str = "choice",
    *,
    memory: str = "lstm:12",
    length: int = 9,
    count: int = 5,
    starts: float = 0.2,
    unlearned: float = 0.2,
    burn_in: int = 0,
    seed: int = 0,
    **settings: Any,
) -> Problem:
    """Returns a policy with memory and a batch of `count` sequences of up to `length` steps, in which
    episodes start at a share `starts` of the steps. A share `unlearned` of the steps has no weight, nor have
    the first `burn_in` steps and the padding of shorter sequences."""
    problem = Problem.make(obs, action, rows=length * count, memory=memory, seed=seed, **settings)
    rng = np.random.default_rng((seed, length, count))
    start = rng.random((length, count)) < starts
    weight = rng.random((length, count)) >= unlearned
    steps = np.arange(length)[:, None]
    weight &= (steps >= burn_in) & (steps < rng.integers(burn_in + 1, length + 1, count))
    weight[burn_in, 0] = True  # at least one row is learned from
    state = rng.normal(0, 0.5, (count, problem.policy.state_size))
    sequences = Sequences(
        length=length,
        count=count,
        start=start.ravel(),
        weight=weight.ravel().astype(np.float32),
        state=state.astype(np.float32),
    )
    return Problem(problem.policy, replace(problem.batch, sequences=sequences))


def unroll(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the outputs of actor [L * M, k] and critic [L * M] for all rows of a batch, and the states
    after the last step, [M, S], computed step by step as while acting."""
    policy, batch = problem.policy, problem.batch
    assert batch.sequences is not None
    shape = batch.sequences.length, batch.sequences.count
    state, outputs, values = batch.sequences.state.copy(), [], []
    for rows in np.arange(len(batch)).reshape(shape):
        state[batch.sequences.start[rows]] = 0
        output, value, state = policy.inference.step(np.asarray(batch.features[rows]), state)
        outputs.append(output)
        values.append(value)
    return np.concatenate(outputs), np.concatenate(values), state
