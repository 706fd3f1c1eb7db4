"""A policy: what it sees, a network as data, one flat parameter vector, and how its outputs act.

Everything here is NumPy, so a stored policy acts without torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.policy import inference, spaces
from gymnast.policy.actions import Categorical, Gaussian, head_for
from gymnast.policy.layers import Embedding, actor_critic, initial, parameter_shapes
from gymnast.policy.normalize import ObsNormalizer, ValueScale
from gymnast.policy.parameters import Parameters
from gymnast.policy.spaces import Action, Category, Observation
from gymnast.rl.running import Moments
from gymnast.seeds import stream

Array = np.ndarray


class Policy:
    def __init__(
        self, obs: Observation, action: Action, cfg: PolicyConfig, normalize: NormalizeConfig
    ) -> None:
        self.obs, self.action, self.cfg, self.normalize = obs, action, cfg, normalize
        self.head: Categorical | Gaussian = head_for(action, cfg.log_std)
        is_category = isinstance(obs, Category)
        self.network = actor_critic(
            Embedding(obs.n, cfg.embedding) if is_category else obs.size,
            self.head.n_outputs,
            hidden=cfg.hidden,
            activation=cfg.activation,
            layer_norm=cfg.layer_norm,
            shared=cfg.shared,
            free=self.head.free,
        )
        self.parameters = Parameters(parameter_shapes(self.network))
        self.normalizer = None if is_category else ObsNormalizer(normalize.obs, obs, normalize.clip)
        self.value_scale = ValueScale(normalize.value)

    def initialize(self, seed: int, role: str) -> None:
        """Draw initial weights: a function of the seed, the role and each parameter's name."""
        for name, view in self.parameters.views.items():
            rng = stream(seed, "weights", role, name)
            view[:] = initial(self.network, name, view.shape, rng)

    def features(self, obs: Array) -> Array:
        """What the network reads, from observations [B, ...]."""
        if self.normalizer is None:
            return obs - self.obs.first if isinstance(self.obs, Category) else obs
        return self.normalizer(obs.reshape(len(obs), -1))

    def dist(self, obs: Array, mask: Array | None = None) -> Array:
        """Parameters of the action distribution, [B, k]."""
        weights = self.parameters.views
        output = inference.actor_output(self.network, weights, self.features(obs))
        return self.head.parameters(output, weights.get("actor.log_std"), mask)

    def act(
        self, obs: Array, noise: Array | None, mask: Array | None = None
    ) -> tuple[Array, Array]:
        """Actions and the distribution they come from; greedy without noise."""
        dist = self.dist(obs, mask)
        return self.head.mode(dist) if noise is None else self.head.sample(dist, noise), dist

    def value(self, obs: Array) -> Array:
        """V of observations [B, ...] in units of the (scaled) reward, [B]."""
        features = self.features(obs)
        return self.value_scale.real(
            inference.critic_output(self.network, self.parameters.views, features)
        )

    # ---- stored form -------------------------------------------------------------------------

    def arrays(self) -> dict[str, Array]:
        """Everything learned, by name: what evaluation needs and a checkpoint keeps."""
        arrays = {name: view.copy() for name, view in self.parameters.views.items()}
        for name, moments in self._moments().items():
            arrays[f"{name}.mean"], arrays[f"{name}.var"] = moments.mean, moments.var
            arrays[f"{name}.count"] = np.array([moments.count])
        return arrays

    def load(self, arrays: dict[str, Array]) -> None:
        for name, view in self.parameters.views.items():
            view[:] = arrays[name]
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
        """Take over every layer and normaliser whose arrays all have the same names and shapes; names
        of the arrays taken and of those not."""
        own = self.arrays()
        misfits = {n for n in own if n not in arrays or arrays[n].shape != own[n].shape}
        broken = {_owner(name) for name in misfits}
        fits = [name for name in own if _owner(name) not in broken]
        self.load(own | {name: arrays[name] for name in fits})
        return fits, [name for name in own if name not in fits]

    def spec(self) -> dict[str, Any]:
        """How to build this policy again, without its environment."""
        return {
            "obs": spaces.to_json(self.obs),
            "action": spaces.to_json(self.action),
            "policy": self.cfg.model_dump(mode="json"),
            "normalize": self.normalize.model_dump(mode="json"),
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Policy:
        return cls(
            spaces.from_json(spec["obs"]),
            spaces.from_json(spec["action"]),
            PolicyConfig.model_validate(spec["policy"]),
            NormalizeConfig.model_validate(spec["normalize"]),
        )

    def _moments(self) -> dict[str, Moments]:
        moments = {"normalize.value": self.value_scale.moments}
        if self.normalizer is not None:
            moments["normalize.obs"] = self.normalizer.moments
        return moments


def _owner(array: str) -> str:
    """The layer or normaliser an array belongs to; a free parameter owns itself."""
    owner = array.rpartition(".")[0]
    return owner if "." in owner else array
