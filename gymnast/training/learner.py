"""One role's share of training: its policy, the algorithm that improves it, its shaping terms, its
normalisers."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from gymnast.config.config import Config
from gymnast.config.section import AlgoSection
from gymnast.config.sections import ALGORITHMS
from gymnast.engine.choice import choose
from gymnast.measure.network import network_row
from gymnast.policy.normalize import RewardScale
from gymnast.policy.policy import Policy
from gymnast.rl.returns import Credit
from gymnast.rollout import Rollout
from gymnast.shaping.shaping import Shaping
from gymnast.spaces.actions import highest_masked_entropy, max_entropy
from gymnast.spaces.declared import facts_for_policy_obs
from gymnast.spaces.spaces import Action, Observation, with_declared_ranges
from gymnast.steps import Lesson

Array = np.ndarray


class Algorithm(Protocol):
    """How a policy learns. `update` is a deterministic function of state, rollout, values, stream and
    the number of gradient steps that it may take at most."""

    def update(
        self,
        rollout: Rollout,
        values: Any,
        stream: np.random.Generator,
        *,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]: ...
    def credit(self, rollout: Rollout, values: Any) -> Credit | None:
        """Advantages and returns that `update` learns from; None where they are not per rollout."""
        ...

    def state(self) -> dict[str, Any]:
        """Arrays and plain JSON values, by name; saved and restored without being named elsewhere."""
        ...

    def memory(self) -> dict[str, Any]:
        """The same of what updates only add to and never change. It may be large."""
        ...

    def load(self, state: dict[str, Any]) -> None:
        """Without a memory in it: roll back the last update, also what that added to the memory."""
        ...


@dataclass(frozen=True)
class Snapshot:
    """What an update changes of a learner, as it was before it."""

    policy: dict[str, Array]
    arrays: dict[str, Array]
    plain: dict[str, Any]


class Learner:
    def __init__(
        self,
        role: str,
        obs: Observation,
        action: Action,
        cfg: Config[Any],
        columns: int | None = None,
    ) -> None:
        """`columns`: of its rollouts; as many as there are copies, unless said otherwise."""
        self.policy = policy_for(obs, action, cfg)
        self.policy.initialize(cfg.seed, role)
        self.policy.parameters.device = cfg.device
        self.algorithm = load_algorithm(cfg.algo)(self.policy, cfg.algo)
        self.shaping = Shaping(cfg, obs, columns)
        self.reward_scale = RewardScale(cfg.normalize.reward, columns or cfg.env.n_envs)
        self._factor = cfg.normalize.reward_scale

    def scaled(self, rollout: Rollout) -> Rollout:
        """With rewards of the size that the config asks for."""
        if self._factor == 1.0:
            return rollout
        return replace(rollout, reward=rollout.reward * self._factor)

    def update(
        self,
        rollout: Rollout,
        values: Any,
        stream: np.random.Generator,
        *,
        network_stats: bool = True,
        max_gradient_steps: int | None = None,
    ) -> dict[str, float]:
        """What it says of itself; `closely`: and of its network."""
        reward = self.reward_scale(rollout.reward, rollout.done, rollout.valid, gamma=values.gamma)
        metrics = self.algorithm.update(
            replace(rollout, reward=reward), values, stream, max_gradient_steps=max_gradient_steps
        )
        policy = self.policy
        most = max_entropy(policy.action)
        if rollout.mask is not None:
            most = highest_masked_entropy(policy.action, rollout.mask[rollout.valid])
        if most and "policy/entropy" in metrics:
            # not all minibatches may have been used, and masks leave more choice in some
            metrics["policy/entropy_share"] = min(metrics["policy/entropy"] / most, 1.0)
        if network_stats:
            metrics |= network_row(policy, rollout)
        if self.reward_scale.mode == "running":
            metrics["normalize/reward_scale"] = self.reward_scale.scale
        if policy.value_scale.mode != "off":
            metrics["normalize/value_mean"] = policy.value_scale.mean
            metrics["normalize/value_std"] = policy.value_scale.std
        if policy.normalizer is not None and policy.normalizer.mode == "running":
            # only now: the update must see what the policy saw when it acted
            policy.normalizer.update(
                policy.features.vectors(np.asarray(rollout.obs[rollout.valid]))
            )
            metrics["normalize/obs_count"] = policy.normalizer.moments.count
        if "actor.log_std" in policy.parameters.views:
            metrics["policy/log_std"] = float(policy.parameters.views["actor.log_std"].mean())
        return metrics

    def lesson(self, rollout: Rollout, values: Any) -> Lesson:
        """The numbers that the last update computed for this rollout, which `learn` was given."""
        reward = self.reward_scale.scaled(rollout.reward)
        credit = self.algorithm.credit(replace(rollout, reward=reward), values)
        value = rollout.value if credit is None else credit.value
        return Lesson(reward, value, credit, self._raw_units)

    @property
    def _raw_units(self) -> float | None:
        """Raw reward per learned reward; None where no factor leads from one to the other."""
        if self.shaping.terms or self.reward_scale.mode == "sign":
            return None
        scale = self.reward_scale.scale if self.reward_scale.mode == "running" else 1.0
        return scale / self._factor

    def observe_without_update(self, rollout: Rollout, gamma: float) -> None:
        """It is another's turn to learn, and the episodes go on."""
        if self.reward_scale.mode == "running":
            self.reward_scale.observe(rollout.reward, rollout.done, gamma=gamma)

    def snapshot(self) -> Snapshot:
        """All that an update changes, copied. A replay memory is not: it can be as large as the machine's,
        and what was added to it can be taken back."""
        arrays, plain = self._changing(self.algorithm.state())
        return Snapshot(self.policy.arrays(), {n: a.copy() for n, a in arrays.items()}, plain)

    def roll_back(self, before: Snapshot) -> None:
        self.policy.load(before.policy)
        self._load_reward_scale(before.arrays, before.plain)
        self.algorithm.load({**before.arrays, **before.plain["algorithm"]})

    def state(self) -> tuple[dict[str, Array], dict[str, Any]]:
        """Beside the policy's own arrays: further arrays, and plain values."""
        arrays, plain = self._changing({**self.algorithm.state(), **self.algorithm.memory()})
        return {**arrays, **self.shaping.state()}, plain

    def _changing(self, held: dict[str, Any]) -> tuple[dict[str, Array], dict[str, Any]]:
        """What the algorithm holds and the scale of rewards: arrays, and plain values."""
        arrays = {name: value for name, value in held.items() if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in held.items() if name not in arrays}
        scale = self.reward_scale
        arrays |= {"reward.mean": scale.moments.mean, "reward.var": scale.moments.var}
        arrays |= {"reward.carry": scale.carry}
        return arrays, {"algorithm": plain, "reward_count": scale.moments.count}

    def load(self, arrays: dict[str, Array], plain: dict[str, Any], *, optimizer: bool) -> None:
        self._load_reward_scale(arrays, plain)
        self.shaping.load(arrays)
        if optimizer:
            self.algorithm.load({**arrays, **plain["algorithm"]})

    def _load_reward_scale(self, arrays: dict[str, Array], plain: dict[str, Any]) -> None:
        scale = self.reward_scale
        scale.moments = replace(
            scale.moments,
            count=plain["reward_count"],
            mean=arrays["reward.mean"],
            var=arrays["reward.var"],
        )
        scale.carry = arrays["reward.carry"].copy()


def policy_for(obs: Observation, action: Action, cfg: Config[Any]) -> Policy:
    """A policy for these spaces, limited where the environment's facts say more than they do."""
    obs = with_declared_ranges(obs, facts_for_policy_obs(cfg.facts, cfg.env, obs).observations)
    policy = Policy(obs, action, cfg.policy, cfg.normalize, cfg.algo.action_selection)
    policy.use_engine(choose(cfg, policy.network).name)
    return policy


def load_algorithm(cfg: AlgoSection) -> Callable[[Policy, Any], Algorithm]:
    module, _, name = ALGORITHMS[cfg.name][1].partition(":")
    return getattr(importlib.import_module(module), name)
