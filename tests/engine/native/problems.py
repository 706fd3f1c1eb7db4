"""Random but reproducible minibatches for any spaces and network, without a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.engine.adam import Adam
from gymnast.engine.batch import Batch, MinibatchPlan
from gymnast.engine.engine import Engine, UpdateResult, engine_for
from gymnast.engine.objective import Objective
from gymnast.policy.policy import Policy
from gymnast.spaces.spaces import (
    BoxAction,
    BoxObs,
    CompositeAction,
    CompositeObs,
    DiscreteAction,
    DiscreteObs,
    ImageObs,
    MultiBinaryAction,
    MultiDiscreteAction,
    MultiDiscreteObs,
)

OBSERVATIONS: dict[str, Any] = {
    "vector": BoxObs((5,), (-1.0,) * 5, (1.0,) * 5),
    "wide vector": BoxObs((4, 9), (-1.0,) * 36, (1.0,) * 36),
    "line": BoxObs((16,), (-1.0,) * 16, (1.0,) * 16),
    "category": DiscreteObs(7, 2),
    "categories": MultiDiscreteObs((3,), (2, 5, 3), (0, 1, 0)),
    "dict": CompositeObs(
        "Dict",
        (
            ("gear", DiscreteObs(3, 1)),
            ("speed", BoxObs((2, 2), (-1.0,) * 4, (1.0,) * 4)),
            ("keys", MultiDiscreteObs((2,), (2, 3), (0, 0))),
            (
                "inner",
                CompositeObs(
                    "Tuple", (("0", BoxObs((1,), (0.0,), (1.0,))), ("1", DiscreteObs(4, 0)))
                ),
            ),
        ),
    ),
    "tuple": CompositeObs(
        "Tuple", (("0", BoxObs((3,), (-1.0,) * 3, (1.0,) * 3)), ("1", DiscreteObs(5, 0)))
    ),
}
IMAGES: dict[str, Any] = {
    "image": ImageObs((2, 36, 36), 255, "first"),
    "channels last": ImageObs((37, 41, 3), 255, "last"),
    "many channels": ImageObs((18, 36, 38), 200, "first"),
    "grey": ImageObs((36, 44), 255, "last"),
}
ACTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "choice": (DiscreteAction(3, 0), {}),
    "one of many": (DiscreteAction(37, 0), {}),
    "choices": (MultiDiscreteAction((3,), (2, 5, 3), (0, 0, 0)), {}),
    "switches": (MultiBinaryAction((4,)), {}),
    "amounts": (BoxAction((3,), (-1.0,) * 3, (1.0,) * 3), {"log_std": -0.5}),
    "squashed amounts": (
        BoxAction((2,), (-1.0,) * 2, (1.0,) * 2),
        {"log_std": -0.5, "squash": True},
    ),
    "tuple": (
        CompositeAction(
            "Tuple",
            (
                ("0", BoxAction((2,), (-1.0,) * 2, (1.0,) * 2)),
                ("1", DiscreteAction(3, 1)),
                ("2", BoxAction((), (-3.0,), (1.0,))),
                ("3", MultiBinaryAction((2,))),
            ),
        ),
        {"log_std": -0.5},
    ),
    "squashed dict": (
        CompositeAction(
            "Dict",
            (
                ("gears", MultiDiscreteAction((2,), (2, 4), (0, 1))),
                (
                    "inner",
                    CompositeAction(
                        "Tuple",
                        (
                            ("0", DiscreteAction(2, 0)),
                            ("1", BoxAction((2,), (-1.0,) * 2, (1.0,) * 2)),
                        ),
                    ),
                ),
            ),
        ),
        {"log_std": -0.5, "squash": True},
    ),
    "dict of options": (
        CompositeAction(
            "Dict", (("fire", MultiBinaryAction((3,))), ("move", DiscreteAction(5, 0)))
        ),
        {},
    ),
}
"""Kind of action -> its space, and the policy settings for it."""
PLAIN = Objective(clip=0.2, value_coef=0.5)


@dataclass(frozen=True)
class Problem:
    policy: Policy
    batch: Batch

    @classmethod
    def make(
        cls,
        obs: str = "vector",
        action: str = "choice",
        *,
        rows: int = 96,
        masked: bool = False,
        seed: int = 0,
        weight_noise: float = 0.2,
        **settings: Any,
    ) -> Problem:
        """Returns a policy and a batch of its actions, collected before its weights changed by this
        much."""
        rng = np.random.default_rng(seed)
        space, more = ACTIONS[action]
        cfg = PolicyConfig(**{"hidden": (24, 12), "embedding": 5, **more, **settings})
        seen = (OBSERVATIONS | IMAGES)[obs]
        policy = Policy(seen, space, cfg, NormalizeConfig(obs="off"))
        policy.initialize(seed, "agent")
        for view in policy.parameters.views.values():
            view += rng.normal(0, weight_noise, view.shape).astype(np.float32)
        return cls(policy, _done_by(policy, seen, rows, masked, rng))

    @property
    def units(self) -> int:
        """Number of rows that minibatches are made of; with memory, of sequences."""
        sequences = self.batch.sequences
        return len(self.batch) if sequences is None else sequences.count

    def engine(self, name: str = "native") -> Engine:
        self.policy.use_engine(name)
        return engine_for(self.policy)

    def run_update(
        self,
        objective: Objective = PLAIN,
        plan: MinibatchPlan | None = None,
        *,
        engine: str = "native",
        adam: Adam | None = None,
        lr: float = 0.0,
        max_norm: float | None = None,
    ) -> tuple[np.ndarray, UpdateResult]:
        """Returns the last gradient and the result of the update; a learning rate of 0 keeps the
        weights."""
        adam = adam or Adam(self.policy.parameters.flat.size, eps=1e-5, weight_decay=0.0)
        plan = plan or MinibatchPlan.single_batch(self.units)
        used = self.engine(engine)
        result = used.update(self.batch, objective, plan, adam, lr=lr, max_norm=max_norm)
        return used.gradient.copy(), result

    def with_columns(self, **columns: np.ndarray) -> Problem:
        return Problem(self.policy, replace(self.batch, **columns))


def _done_by(policy: Policy, obs: Any, rows: int, masked: bool, rng: np.random.Generator) -> Batch:
    head = policy.head
    features = policy.features(random_obs(obs, rows, rng))
    mask = _mask(policy, rows, rng) if masked else None
    # with memory, as at the start of an episode
    state = policy.initial_state(rows) if policy.state_size else None
    dist = policy.dist_from_features(features, mask, state)
    free = np.abs(dist) < 1e8  # an element with one allowed option keeps it
    dist = np.where(free, dist + rng.normal(0, 0.1, dist.shape), dist).astype(np.float32)
    action = head.sample(dist, head.noise(rng, (rows,))).astype(head.action_spec.dtype)
    # away from zero and mostly of one sign: sums that nearly cancel would be mostly rounding error
    sign = np.where(np.arange(rows) % 3 == 2, -1, 1)
    advantage, error = (sign * (0.3 + np.abs(rng.normal(size=(2, rows))))).astype(np.float32)
    predicted = policy.inference.critic(features) if state is None else np.zeros(rows, np.float32)
    value = predicted + rng.normal(0, 0.3, rows).astype(np.float32)
    return Batch(
        features=features,
        action=action,
        logprob=head.logprob(dist, action).astype(np.float32),
        dist=dist,
        advantage=advantage,
        value=value,
        target=value + error,
        mask=mask,
    )


def act_in_place(
    policy: Policy, features: np.ndarray, noise: np.ndarray, mask: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns actions, the parameters of their distributions, and their log-probabilities."""
    head, rows = policy.head, len(features)
    action = np.empty((rows, *head.action_spec.shape), head.action_spec.dtype)
    dist = np.empty((rows, head.dist_size), np.float32)
    logprob, value = np.empty((2, rows), np.float32)
    policy.act_into(features, noise, mask, action, dist, logprob, value)
    return action, dist, logprob


def random_obs(obs: Any, rows: int, rng: np.random.Generator) -> np.ndarray:
    seen = np.zeros((rows, *obs.shape), obs.dtype)
    for name, leaf in (obs.leaves if isinstance(obs, CompositeObs) else {"": obs}).items():
        part: Any = seen[name] if name else seen
        if isinstance(leaf, BoxObs):
            part[:] = rng.normal(size=part.shape)
        elif isinstance(leaf, ImageObs):
            part[:] = rng.integers(leaf.top + 1, size=part.shape)
        else:
            first = np.reshape(leaf.first, leaf.shape)
            part[:] = first + rng.integers(np.reshape(leaf.n, leaf.shape), size=part.shape)
    return seen


def _mask(policy: Policy, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Returns random masks that rule out about a third of the options, but never all of an element."""
    mask = rng.random((rows, policy.action_space.mask_width)) < 0.65
    start = 0
    for n in policy.action_space.options:
        keep = rng.integers(n, size=rows)
        mask[np.arange(rows), start + keep] = True
        start += n
    return mask
