"""The learner of one role: its policy, the algorithm that updates it, its shaping terms and its
normalizers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from gymnast.algos.algorithm import Algorithm
from gymnast.algos.staleness import correct_staleness
from gymnast.config.config import Config
from gymnast.config.section import AlgoSection, Hyperparameters
from gymnast.config.sections import ALGORITHMS
from gymnast.engine.choice import choose_engine
from gymnast.measure.network import network_row
from gymnast.policy.normalize import RewardScale
from gymnast.policy.policy import Policy
from gymnast.rollout import Rollout
from gymnast.shaping.shaping import Shaping
from gymnast.spaces.policy_facts import facts_for_policy_obs
from gymnast.spaces.spaces import Action, Observation, with_declared_ranges
from gymnast.step_table import StepTargets

Array = np.ndarray


class PlainState(TypedDict):
    """The part of a learner's state that is stored as JSON."""

    algorithm: dict[str, object]
    """The plain values of `Algorithm.state` and `Algorithm.memory`."""
    reward_count: float
    """Number of returns in the statistics of the reward scale."""


@dataclass(frozen=True)
class LearnerUpdate:
    """The result of one update of a learner."""

    metrics: dict[str, float]
    targets: StepTargets
    """The rewards, values and advantages that the update used, for the step table."""


@dataclass(frozen=True)
class Snapshot:
    """A copy of everything that an update changes in a learner."""

    policy: dict[str, Array]
    arrays: dict[str, Array]
    plain: PlainState


class Learner:
    def __init__(
        self,
        role: str,
        obs: Observation,
        action: Action,
        cfg: Config,
        n_columns: int | None = None,
    ) -> None:
        """`n_columns` is the number of columns N of its rollouts [T, N]; `env.n_envs` if None. Roles with
        several agents have more."""
        self.policy = build_policy(obs, action, cfg)
        self.policy.initialize(cfg.seed, role)
        self.policy.parameters.device = cfg.device
        self.algorithm = load_algorithm(cfg.algo)(self.policy, cfg.algo)
        self.shaping = Shaping(cfg, obs, n_columns)
        self.reward_scale = RewardScale(cfg.normalize.reward, n_columns or cfg.env.n_envs)
        self._vtrace_caps = cfg.collect.vtrace_rho, cfg.collect.vtrace_c
        self._factor, self._bootstraps = cfg.normalize.reward_scale, cfg.algo.bootstraps

    def scale_rewards(self, rollout: Rollout) -> Rollout:
        """Returns the rollout with rewards times `normalize.reward_scale`."""
        if self._factor == 1.0:
            return rollout
        return replace(rollout, reward=rollout.reward * self._factor)

    def correct_staleness(self, rollout: Rollout) -> tuple[Rollout, dict[str, float]]:
        """Returns the rollout with the current critic's values and the weights of V-trace, and metrics of the
        correction, if its staleness is given; otherwise as it is."""
        if rollout.staleness is None:
            return rollout, {}
        max_rho, max_c = self._vtrace_caps
        return correct_staleness(self.policy, rollout, max_rho=max_rho, max_c=max_c)

    def update(
        self,
        rollout: Rollout,
        hparams: Hyperparameters,
        stream: np.random.Generator,
        *,
        network_stats: bool = True,
        max_gradient_steps: int | None = None,
    ) -> LearnerUpdate:
        """Updates the policy with a rollout. `hparams`: the hyperparameters of this rollout; `stream`
        shuffles or samples minibatches; `network_stats` adds statistics of activations and outputs, which
        cost an extra forward pass; `max_gradient_steps`: None for no limit."""
        columns = rollout.reward, rollout.done, rollout.valid
        reward = self.reward_scale(*columns, gamma=hparams.gamma, copies=rollout.copies)
        update = self.algorithm.update(
            replace(rollout, reward=reward), hparams, stream, max_gradient_steps=max_gradient_steps
        )
        metrics, credit, policy = update.metrics, update.credit, self.policy
        # Entropy as a share of the highest possible one can be compared between action spaces.
        highest = policy.action_space.max_entropy
        if highest is not None and rollout.mask is not None:
            highest = policy.action_space.highest_masked_entropy(rollout.mask[rollout.valid])
        if highest and "policy/entropy" in metrics:
            # Clipped: target_kl may skip minibatches, and masks allow more actions in some of them.
            metrics["policy/entropy_share"] = min(metrics["policy/entropy"] / highest, 1.0)
        if network_stats:
            metrics |= network_row(policy, rollout)
        if self.reward_scale.mode == "running":
            metrics["normalize/reward_scale"] = self.reward_scale.scale
        if policy.value_scale.mode != "off":
            metrics["normalize/value_mean"] = policy.value_scale.mean
            metrics["normalize/value_std"] = policy.value_scale.std
        if policy.normalizer is not None and policy.normalizer.mode == "running":
            # Only after the update, which must normalize observations as the policy did when acting.
            policy.normalizer.update(
                policy.features.concat_vectors(np.asarray(rollout.obs[rollout.valid]))
            )
            metrics["normalize/obs_count"] = policy.normalizer.moments.count
        if "actor.log_std" in policy.parameters.views:
            metrics["policy/log_std"] = float(policy.parameters.views["actor.log_std"].mean())
        value = rollout.value if credit is None else credit.value
        targets = StepTargets(
            reward, value, credit, self._raw_units, hparams.gamma, self._bootstraps
        )
        return LearnerUpdate(metrics, targets)

    @property
    def _raw_units(self) -> float | None:
        """The factor from learned to raw rewards; None if shaping or clipping to the sign means that
        no constant factor exists."""
        return None if self.shaping.terms else self.reward_scale.raw_per_unit(self._factor)

    def observe_without_update(self, rollout: Rollout, gamma: float) -> None:
        """Updates only the running reward scale, in rollouts in which another role learns: discounted
        returns must be tracked through every step of the episodes."""
        if self.reward_scale.mode == "running":
            self.reward_scale.accumulate_returns(rollout.reward, rollout.done, gamma=gamma)

    def snapshot(self) -> Snapshot:
        """Returns a copy of everything that an update changes. A replay buffer is left out: it may be
        as large as the machine's memory, and `Algorithm.load` can remove what was appended."""
        arrays, plain = self._with_reward_scale(self.algorithm.state())
        return Snapshot(self.policy.arrays(), {n: a.copy() for n, a in arrays.items()}, plain)

    def roll_back(self, before: Snapshot) -> None:
        """Restores the learner as it was at the snapshot, which must have been taken before the last
        update."""
        self.policy.load(before.policy)
        self._load_reward_scale(before.arrays, before.plain)
        # Without the memory: the algorithm removes what the update appended to it by itself.
        self.algorithm.load({**before.arrays, **before.plain["algorithm"]})

    def state(self) -> tuple[dict[str, Array], PlainState]:
        """Returns (arrays, plain JSON values) of everything except the policy's own parameters."""
        arrays, plain = self._with_reward_scale(
            {**self.algorithm.state(), **self.algorithm.memory()}
        )
        return {**arrays, **self.shaping.state()}, plain

    def _with_reward_scale(
        self, algorithm_state: Mapping[str, object]
    ) -> tuple[dict[str, Array], PlainState]:
        """Splits the algorithm's state into (arrays, plain values) and adds the state of the reward scale to
        both."""
        state = algorithm_state.items()
        arrays = {name: value for name, value in state if isinstance(value, np.ndarray)}
        plain = {name: value for name, value in state if name not in arrays}
        scale = self.reward_scale
        arrays |= {"reward.mean": scale.moments.mean, "reward.var": scale.moments.var}
        arrays |= {"reward.carry": scale.running_return}
        return arrays, {"algorithm": plain, "reward_count": scale.moments.count}

    def load(self, arrays: dict[str, Array], plain: PlainState, *, optimizer: bool) -> None:
        """Restores what `state` returned. Without `optimizer`, the algorithm keeps its initial state."""
        self._load_reward_scale(arrays, plain)
        self.shaping.load(arrays)
        if optimizer:
            self.algorithm.load({**arrays, **plain["algorithm"]})

    def _load_reward_scale(self, arrays: dict[str, Array], plain: PlainState) -> None:
        """Restores the running reward scale and the discounted returns of the running episodes."""
        scale = self.reward_scale
        scale.moments = replace(
            scale.moments,
            count=plain["reward_count"],
            mean=arrays["reward.mean"],
            var=arrays["reward.var"],
        )
        scale.running_return = arrays["reward.carry"].copy()


def build_policy(obs: Observation, action: Action, cfg: Config) -> Policy:
    """Returns an untrained policy for these spaces, without initial weights. Observation ranges that the
    facts of the environment declare replace the bounds of its space."""
    obs = with_declared_ranges(obs, facts_for_policy_obs(cfg.facts, cfg.env, obs).observations)
    policy = Policy(obs, action, cfg.policy, cfg.normalize, cfg.algo.action_selection)
    policy.use_engine(choose_engine(cfg, policy.network).name)
    return policy


def load_algorithm(
    cfg: AlgoSection,
) -> Callable[[Policy, AlgoSection], Algorithm[Hyperparameters]]:
    """Returns the class of the configured algorithm. Its module is imported only now, since some of
    them import torch."""
    module, _, name = ALGORITHMS[cfg.name][1].partition(":")
    return getattr(importlib.import_module(module), name)
