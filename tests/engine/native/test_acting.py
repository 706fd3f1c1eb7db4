"""Acting in compiled code gives the distributions, samples and log-probabilities of the NumPy
heads."""

from __future__ import annotations

import numpy as np
import pytest

from gymnast.policy.discrete import Bernoulli
from tests.engine.native.problems import ACTIONS, OBSERVATIONS, Problem, act_in_place, random_obs
from tests.engine.native.test_gradients import MASKABLE

CASES = [(action, masked) for action in ACTIONS for masked in (False, action in MASKABLE)]


@pytest.mark.parametrize(("action", "masked"), sorted(set(CASES)))
@pytest.mark.parametrize("rows", [1, 8, 150])
def test_acting_matches_the_head_on_the_network_outputs(action: str, masked: bool, rows: int):
    problem = Problem.make("dict", action, rows=rows, masked=masked, seed=rows)
    policy, mask, rng = problem.policy, problem.batch.mask, np.random.default_rng(4)
    policy.use_engine("native")
    head = policy.head
    seen = random_obs(OBSERVATIONS["dict"], rows, rng)
    noise = head.noise(rng, (rows,))
    taken, dist, logprob = act_in_place(policy, seen, noise, mask)
    assert np.array_equal(dist, policy.dist(seen, mask))
    assert np.allclose(logprob, head.logprob(dist, taken), rtol=1e-6, atol=2e-6)
    expected = head.sample(dist, noise)
    if head.action_spec.dtype == np.float32:
        assert np.allclose(taken, expected, rtol=1e-6, atol=1e-6)
    else:
        # noise at the boundary between two options may select either
        close = ~(_at_an_edge(head, dist, noise))
        assert close.mean() > 0.9
        assert np.array_equal(taken.reshape(rows, -1)[close], expected.reshape(rows, -1)[close])
    if masked:
        assert (logprob > -1e8).all()  # masked options are never sampled


def _at_an_edge(head: object, dist: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Returns which rows [B] have noise within rounding of the boundary between two options."""
    rows = len(dist)
    noise = noise.reshape(rows, -1)
    if isinstance(head, Bernoulli):
        on = 0.5 + 0.5 * np.tanh(0.5 * dist.astype(np.float64))
        return (np.abs(noise - on) < 1e-6).any(-1)
    groups = head.ends if hasattr(head, "ends") else []  # type: ignore[attr-defined]
    near = np.zeros(rows, bool)
    for k, logits in enumerate(np.split(dist.astype(np.float64), groups, -1)):
        weight = np.exp(logits - logits.max(-1, keepdims=True))
        edges = np.cumsum(weight, -1) / weight.sum(-1, keepdims=True)
        near |= (np.abs(edges[:, :-1] - noise[:, k : k + 1]) < 1e-6).any(-1)
    return near


@pytest.mark.parametrize("action", MASKABLE)
def test_extreme_noise_never_samples_a_masked_action(action: str):
    problem = Problem.make("vector", action, rows=64, masked=True)
    policy = problem.policy
    policy.use_engine("native")
    seen = problem.batch.features
    shape = policy.head.noise(np.random.default_rng(0), (64,)).shape
    for noise in (0.0, np.nextafter(np.float32(1), np.float32(0))):
        drawn = np.full(shape, noise, np.float32)
        _, _, logprob = act_in_place(policy, seen, drawn, problem.batch.mask)
        assert (logprob > -1e8).all()


def test_sampled_actions_have_the_frequencies_of_their_distribution():
    problem = Problem.make("vector", "choice", rows=1)
    policy, n, rng = problem.policy, 40_000, np.random.default_rng(7)
    policy.use_engine("native")
    seen = np.repeat(problem.batch.features, n, 0)
    taken, dist, _ = act_in_place(policy, seen, policy.head.noise(rng, (n,)), None)
    chance = np.exp(dist[0] - dist[0].max())
    chance /= chance.sum()
    found = np.bincount(taken, minlength=3) / n
    assert np.allclose(found, chance, atol=4 * np.sqrt(0.25 / n))


def test_tanh_and_outputs_are_accurate_to_a_few_ulps():
    """A network of one unit whose output layer is the identity shows the activation itself."""
    problem = Problem.make("vector", "amounts", hidden=(1,))
    policy = problem.policy
    policy.use_engine("native")
    views = policy.parameters.views
    for view in views.values():
        view[...] = 0.0
    views["actor.0.weight"][0, 0] = 1.0
    views["actor.2.weight"][0, 0] = 1.0
    sizes = np.concatenate([np.geomspace(1e-20, 40, 30_001), [0.0, 9.0, 9.1, 9.2, 1e30]])
    x = np.concatenate([sizes, -sizes]).astype(np.float32)
    seen = np.zeros((len(x), 5), np.float32)
    seen[:, 0] = x
    found = policy.inference.actor(seen)[:, 0]
    exact = np.tanh(x.astype(np.float64))
    ulp = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    assert np.abs((found - exact) / ulp).max() < 4
    assert (np.abs(found) <= 1).all()
    assert (np.abs(found[np.abs(x) > 9.1]) == 1).all()
    half = len(sizes)
    assert np.array_equal(found[:half], -found[half:])
