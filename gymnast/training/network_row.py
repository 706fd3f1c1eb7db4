"""What a row says of the network: which of its units still work, and how its outputs are spread."""

from __future__ import annotations

import numpy as np

from gymnast.policy.actions import AnyHead, Bernoulli, Gaussian, MultiCategorical, SquashedGaussian
from gymnast.policy.discrete import EpsilonGreedy, log_softmax
from gymnast.policy.inference import Heard
from gymnast.policy.policy import Policy
from gymnast.rl.statistics import spread
from gymnast.rollout import Rollout

Array = np.ndarray
SAMPLE, DEAR_SAMPLE = 64, 32
"""Steps of a rollout that are shown to the network at most; where acting takes torch, the second."""
SATURATED = 0.97
"""|tanh| above this passes less than 6% of a gradient."""


def network_row(policy: Policy, rollout: Rollout) -> dict[str, float]:
    """The network as it is now, on evenly spaced steps of a rollout."""
    rows = _evenly(rollout.valid, DEAR_SAMPLE if policy.network.needs_torch else SAMPLE)
    features = policy.features(_rows_of(rollout.obs, rows))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is told by what comes out
        heard, output = policy.inference.hear(features)
        mask = None if rollout.mask is None else _rows_of(rollout.mask, rows)
        return _units(heard) | _outputs(policy, output, mask)


def dead_units(x: Array) -> Array:
    """Of ReLU outputs [B, n] or [B, channels, height, width]: which are 0 for the whole batch."""
    return ~x.any(axis=(0, *range(2, x.ndim)))


def saturated(x: Array) -> Array:
    """Of tanh outputs: which are so near its ends that they pass next to no gradient."""
    return np.abs(x) > SATURATED


def _units(heard: list[Heard]) -> dict[str, float]:
    """Nothing where a network has no hidden units, or none that are known."""
    if not heard:
        return {}
    every = spread(np.concatenate([x.ravel() for _, _, x in heard]))
    row = {"network/activation_mean": every.mean, "network/activation_std": every.std}
    dead = [(part, dead_units(x)) for part, kind, x in heard if kind == "relu"]
    if dead:
        row["network/dead_units"] = _share([units for _, units in dead])
        own = {p: [u for part, u in dead if part == p] for p in ("actor", "critic")}
        if all(own.values()):
            row |= {f"network/dead_units_{part}": _share(units) for part, units in own.items()}
    tanh = [saturated(x).ravel() for _, kind, x in heard if kind == "tanh"]
    return row | ({"network/saturated_units": _share(tanh)} if tanh else {})


def _outputs(policy: Policy, output: Array, mask: Array | None) -> dict[str, float]:
    every = spread(output)
    row = {"network/output_mean": every.mean, "network/output_std": every.std}
    head = policy.head
    if isinstance(head, Gaussian | SquashedGaussian):
        return row
    if not isinstance(head, EpsilonGreedy):
        row["network/logit_range"] = float(np.mean(output.max(-1) - output.min(-1)))
    choices = _probabilities(head, policy.dist_from(output, mask))
    most, least = (
        float(np.mean([of(p, axis=-1).mean() for p in choices])) for of in (np.max, np.min)
    )
    return row | {"policy/prob_max_mean": most, "policy/prob_min_mean": least}


def _probabilities(head: AnyHead, dist: Array) -> list[Array]:
    """Of the options of each element, [B, options]."""
    match head:
        case MultiCategorical():
            return [np.exp(log_softmax(logits)) for logits in np.split(dist, head.ends, -1)]
        case Bernoulli():
            return [np.exp(log_softmax(np.stack([dist, np.zeros_like(dist)], -1)))]
        case _:
            return [np.exp(log_softmax(dist))]


def _share(units: list[Array]) -> float:
    return sum(int(np.count_nonzero(u)) for u in units) / sum(u.size for u in units)


def _evenly(valid: Array, most: int) -> Array:
    """Places of valid steps among all of them [T * N]."""
    if valid.all():
        return np.linspace(0, valid.size - 1, min(most, valid.size)).astype(np.int64)
    places = np.flatnonzero(valid)
    return places[np.linspace(0, len(places) - 1, min(most, len(places))).astype(np.int64)]


def _rows_of(x: Array, rows: Array) -> Array:
    return x.reshape(-1, *x.shape[2:])[rows]
