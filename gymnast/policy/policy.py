"""A policy: observation preprocessing, a network, its flat parameter vector, and an action head.

Everything here is NumPy, so that a stored policy acts without torch. The exceptions are images without
compiled kernels, and torch modules of the user.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.policy import weights
from gymnast.policy.actions import ActionSelection, Head, head_for
from gymnast.policy.architecture import network_for
from gymnast.policy.features import Features
from gymnast.policy.health import Health, network_health
from gymnast.policy.inference import Inference, inference_for
from gymnast.policy.normalize import ObsNormalizer, ValueScale
from gymnast.policy.parameters import Parameters
from gymnast.policy.refusals import (
    refuse_memory_without_support,
    refuse_popart_without_its_layer,
)
from gymnast.rl.running import Moments
from gymnast.spaces import spaces
from gymnast.spaces.observations import Observation, as_box
from gymnast.spaces.spaces import Action

Array = np.ndarray


class Policy:
    """Maps observations to action distributions and values; owns the parameters and the statistics of
    normalization.
    """

    def __init__(
        self,
        obs_space: Observation,
        action_space: Action,
        cfg: PolicyConfig,
        normalize: NormalizeConfig,
        action_selection: ActionSelection = "sample",
    ) -> None:
        self.obs_space = spaces.with_image_channels(obs_space, cfg.image_channels)
        self.action_space, self.cfg, self.normalize, self.action_selection = (
            action_space,
            cfg,
            normalize,
            action_selection,
        )
        self.head: Head = head_for(
            action_space, cfg.log_std, squash=cfg.squash, action_selection=action_selection
        )
        has_critic = action_selection == "sample"  # Q-values are values themselves
        refuse_memory_without_support(cfg, has_critic)
        refuse_popart_without_its_layer(cfg, normalize, has_critic)
        extra_parameters = self.head.extra_parameters
        self.network = network_for(
            self.obs_space,
            self.head.n_outputs,
            cfg,
            extra_parameters=extra_parameters,
            critic=has_critic,
        )
        self.state_size = self.network.state_size
        """Number of floats in the policy state of one copy; 0 without memory."""
        self.parameters = Parameters(weights.shapes_of(self.network))
        # A view: it always has the current values of log_std or epsilon.
        extra = [self.parameters.views[f"actor.{name}"] for name, *_ in extra_parameters]
        self._extra = extra[0] if extra else None
        vector = as_box(self.obs_space)  # None if there is nothing to normalize
        self.normalizer = vector and ObsNormalizer(normalize.obs, vector, normalize.clip)
        self.features = Features(self.obs_space, self.normalizer)
        """Preprocesses observations [B, ...] into the features that the network reads."""
        self.value_scale = ValueScale(normalize.value)
        self.use_engine("torch")  # until the training session selects one

    def use_engine(self, engine: str) -> None:
        """Selects the engine that acts and updates from now on. All engines share the parameters."""
        self.engine = engine
        self.__dict__.pop("inference", None)  # clears the cached property

    @cached_property
    def inference(self) -> Inference:
        """Forward passes of the network. Created on first use, so that torch is imported only if needed."""
        return inference_for(self.network, self.parameters, self.head, self.engine)

    def initialize(self, seed: int, role: str) -> None:
        """Sets the initial weights, a function of the seed and the role."""
        weights.initialize_weights(self.network, self.parameters, seed, role)

    def initial_state(self, n: int) -> Array:
        """Returns the policy states at the start of n episodes, [n, S]: zeros. Empty without memory."""
        return np.zeros((n, self.state_size), np.float32)

    def dist(self, obs: Array, mask: Array | None = None, state: Array | None = None) -> Array:
        """Returns the parameters of the action distribution for observations, shape [B, k]. `state`: the
        policy states before these observations, [B, S]; only a policy without memory needs none."""
        return self.dist_from_features(self.features(obs), mask, state)

    def dist_from_features(
        self, features: Array, mask: Array | None = None, state: Array | None = None
    ) -> Array:
        """Returns the parameters of the action distribution for features, shape [B, k]."""
        return self.dist_from_output(self.actor_output(features, state), mask)

    def actor_output(self, features: Array, state: Array | None = None) -> Array:
        """Returns the outputs of the actor's last layer for features, [B, k]."""
        if self.state_size:
            return self._step(features, state)[0]
        return self.inference.actor(features)

    def step(
        self, obs: Array, state: Array, mask: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Returns the distribution parameters [B, k], the values [B] and the policy states after these
        observations, [B, S]. `state`: the states before them, which are not changed. Without memory, states
        are empty."""
        if not self.state_size:
            return self.dist(obs, mask), self.value(obs), state
        output, value, following = self._step(self.features(obs), state)
        dist = self.dist_from_output(output, mask)
        return dist, self.value_scale.denormalized(value), following

    def unroll(self, obs: Array, state: Array | None = None) -> Array:
        """Returns the policy state before each observation of one episode, and after the last, [T + 1, S].
        `obs`: the observations from the start of the episode on, [T, ...]; `state`: the state before the
        first, [S], zeros if None."""
        states = np.zeros((len(obs) + 1, self.state_size), np.float32)
        if state is not None:
            states[0] = state
        if self.state_size:
            features = self.features(obs)
            for t in range(len(obs)):
                states[t + 1] = self._step(features[t : t + 1], states[t : t + 1])[2][0]
        return states

    def _step(self, features: Array, state: Array | None) -> tuple[Array, Array, Array]:
        """Returns the outputs of actor and critic and the states after the step, for a policy with memory.
        Raises ValueError without a state of the right shape: a forgotten state would go unnoticed."""
        expected = (len(features), self.state_size)
        if state is None or state.shape != expected:
            given = "none" if state is None else f"one of shape {state.shape}"
            raise ValueError(
                f"this policy has memory: it needs a state of shape {expected}, not {given}"
            )
        return self.inference.step(features, state)

    def dist_from_output(self, output: Array, mask: Array | None) -> Array:
        """Returns the distribution parameters for the actor's outputs, shape [B, k]."""
        return self.head.dist_parameters(output, self._extra, mask)

    def act(
        self,
        obs: Array,
        noise: Array | None,
        mask: Array | None = None,
        state: Array | None = None,
    ) -> tuple[Array, Array]:
        """Returns actions for observations [B, ...] and the parameters of their distribution [B, k]; the mode
        if `noise` is None. `mask`: allowed options, [B, options], or None; `state`: see `dist`."""
        dist = self.dist(obs, mask, state)
        return self.head.mode(dist) if noise is None else self.head.sample(dist, noise), dist

    def act_into(
        self,
        obs: Array,
        noise: Array,
        mask: Array | None,
        action: Array,
        dist: Array,
        logprob: Array,
        value: Array,
        state: Array | None = None,
    ) -> None:
        """Samples actions for observations [B, ...] and writes them into the given arrays. `noise`: that of
        the head for B actions; `mask`: allowed options, [B, options], or None.

        `action` is [B, ...], `dist` [B, k], `logprob` [B]. `value` [B] is written only if
        `values_while_acting`. `state` [B, S], the policy states, is replaced by the states after the step;
        only a policy without memory needs none.
        """
        features = self.features(obs)
        # 1. Compiled kernels do everything in one call.
        with_state = self.inference.act_into_with_state if self.state_size else None
        if with_state is not None and state is not None:
            with_state(features, noise, mask, state, action, dist, logprob, value)
            value[:] = self.value_scale.denormalized(value)
            return
        if self.inference.act_into is not None and not self.state_size:
            normalized = np.empty(len(value), np.float32) if self.values_while_acting else None
            self.inference.act_into(features, noise, mask, action, dist, logprob, normalized)
            if normalized is not None:
                value[:] = self.value_scale.denormalized(normalized)
            return
        # 2. Otherwise run the actor, together with the critic if they share an expensive encoder or have
        # memory.
        if self.state_size:
            output, normalized, following = self._step(features, state)
            assert state is not None
            state[:], value[:] = following, self.value_scale.denormalized(normalized)
        elif self.values_while_acting and self.inference.actor_and_critic is not None:
            output, normalized = self.inference.actor_and_critic(features)
            value[:] = self.value_scale.denormalized(normalized)
        else:
            output = self.inference.actor(features)
        dist[:] = self.head.dist_parameters(output, self._extra, mask)
        action[:] = self.head.sample(dist, noise)
        logprob[:] = self.head.logprob(dist, action)

    @property
    def values_while_acting(self) -> bool:
        """Whether `act_into` computes values; otherwise one call of `value` per rollout is cheaper."""
        return self.inference.values_while_acting and not self.head.has_q_values

    def value(self, obs: Array, state: Array | None = None) -> Array:
        """Returns the values of observations [B, ...] in units of the (scaled) reward, [B]. `state`: see
        `dist`.

        With Q-values, that is their mean under the epsilon-greedy policy.
        """
        features = self.features(obs)
        if self.state_size:
            return self.value_scale.denormalized(self._step(features, state)[1])
        if self.head.has_q_values:
            q = self.inference.actor(features)
            # the distribution parameters are log-probabilities here
            return (np.exp(self.head.dist_parameters(q, self._extra, None)) * q).sum(-1)
        return self.value_scale.denormalized(self.inference.critic(features))

    def evaluate_actions(
        self, obs: Array, action: Array, mask: Array | None = None
    ) -> tuple[Array, Array]:
        """Returns the log-probabilities of actions and the values for observations [B, ...], [B] each, of a
        policy without memory. Layers that actor and critic share run only once."""
        features, inference = self.features(obs), self.inference
        if inference.actor_and_critic is not None:
            output, value = inference.actor_and_critic(features)
        else:
            output, value = inference.actor(features), inference.critic(features)
        dist = self.dist_from_output(output, mask)
        return self.head.logprob(dist, action), self.value_scale.denormalized(value)

    def health(self, obs: Array, mask: Array | None, state: Array | None = None) -> Health:
        """Returns the health of the network (dead units, output range) on observations [B, ...]. `state`: see
        `dist`."""
        features = self.features(obs)
        if self.inference.health is not None:
            return self.inference.health(features, mask, state)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is visible in the metrics
            activations, output = self.inference.activations(features, state)
            return network_health(
                activations, output, self.head, self.dist_from_output(output, mask)
            )

    def copy_from(self, other: Policy) -> None:
        """Copies the parameters and the normalization statistics of a policy with the same network."""
        self.parameters.flat[:] = other.parameters.flat
        if self.normalizer is not None and other.normalizer is not None:
            self.normalizer.load(other.normalizer.moments)
        self.value_scale.moments = other.value_scale.moments

    # ---- stored form -------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Returns copies of all parameters and normalization statistics by name, for a checkpoint."""
        arrays = {name: view.copy() for name, view in self.parameters.views.items()}
        for name, moments in self._moments().items():
            arrays[f"{name}.mean"], arrays[f"{name}.var"] = moments.mean, moments.var
            arrays[f"{name}.count"] = np.array([moments.count])
        return arrays

    def load(self, arrays: dict[str, Array]) -> None:
        """Restores the state that `arrays` returned."""
        for name, view in self.parameters.views.items():
            view[...] = arrays[name]
        stored = {
            name: Moments(
                float(arrays[f"{name}.count"][0]), arrays[f"{name}.mean"], arrays[f"{name}.var"]
            )
            for name in self._moments()
        }
        if self.normalizer is not None:
            self.normalizer.load(stored["normalize.obs"])
        self.value_scale.moments = stored["normalize.value"]

    def load_compatible(self, arrays: dict[str, Array]) -> tuple[list[str], list[str]]:
        """Loads every layer and normalizer whose arrays all have the same names and shapes as here.

        Returns the names of the loaded arrays and of the arrays that were left as they are.
        """
        own = self.arrays()
        misfits = {n for n in own if n not in arrays or arrays[n].shape != own[n].shape}
        # A layer is loaded as a whole or not at all: a foreign bias would not fit its weights.
        skipped = {_owner(name) for name in misfits}
        loaded = [name for name in own if _owner(name) not in skipped]
        self.load(own | {name: arrays[name] for name in loaded})
        return loaded, [name for name in own if name not in loaded]

    def spec(self) -> dict[str, Any]:
        """Returns a JSON description from which `from_spec` builds this policy without its environment."""
        return {
            "obs": spaces.to_json(self.obs_space),
            "action": spaces.to_json(self.action_space),
            "policy": self.cfg.model_dump(mode="json"),
            "normalize": self.normalize.model_dump(mode="json"),
            "acts": self.action_selection,
            "engine": self.engine,
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Policy:
        """Returns a policy with the network that `spec` described, with weights still to be loaded."""
        policy = cls(
            spaces.from_json(spec["obs"]),
            spaces.from_json(spec["action"]),
            PolicyConfig.model_validate(spec["policy"]),
            NormalizeConfig.model_validate(spec["normalize"]),
            spec.get("acts", "sample"),
        )
        policy.use_engine(spec.get("engine", "torch"))
        return policy

    def _moments(self) -> dict[str, Moments]:
        """Returns the statistics of the normalizers by the prefix of their stored names."""
        moments = {"normalize.value": self.value_scale.moments}
        if self.normalizer is not None:
            moments["normalize.obs"] = self.normalizer.moments
        return moments


def _owner(array: str) -> str:
    """Returns the layer or normalizer that an array belongs to; an extra parameter is its own owner."""
    owner = array.rpartition(".")[0]
    return owner if "." in owner else array
