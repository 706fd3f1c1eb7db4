"""A policy: what it sees, a network as data, one flat parameter vector, and how its outputs act.

Everything here is NumPy, so a stored policy acts without torch (images without compiled kernels and
modules of the user's own excepted).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.errors import ConfigError
from gymnast.policy import weights
from gymnast.policy.actions import Acts, AnyHead, EpsilonGreedy, head_for
from gymnast.policy.architecture import network_for
from gymnast.policy.features import Features
from gymnast.policy.health import Health, network_health
from gymnast.policy.inference import Inference, inference_for
from gymnast.policy.normalize import ObsNormalizer, ValueScale
from gymnast.policy.parameters import Parameters
from gymnast.rl.running import Moments
from gymnast.spaces import spaces
from gymnast.spaces.observations import Observation, as_box
from gymnast.spaces.spaces import Action

Array = np.ndarray


class Policy:
    def __init__(
        self,
        obs: Observation,
        action: Action,
        cfg: PolicyConfig,
        normalize: NormalizeConfig,
        acts: Acts = "sample",
    ) -> None:
        self.obs = spaces.with_image_channels(obs, cfg.image_channels)
        self.action, self.cfg, self.normalize, self.acts = action, cfg, normalize, acts
        self.head: AnyHead = head_for(action, cfg.log_std, squash=cfg.squash, acts=acts)
        has_critic = acts == "sample"
        _refuse_popart_without_its_layer(cfg, normalize, has_critic)
        self.network = network_for(
            self.obs, self.head.n_outputs, cfg, free=self.head.free, critic=has_critic
        )
        self.parameters = Parameters(weights.shapes_of(self.network))
        named = [self.parameters.views[f"actor.{name}"] for name, *_ in self.head.free]
        self._free = named[0] if named else None
        vector = as_box(self.obs)
        self.normalizer = vector and ObsNormalizer(normalize.obs, vector, normalize.clip)
        self.features = Features(self.obs, self.normalizer)
        """What the network reads, from observations [B, ...]."""
        self.value_scale = ValueScale(normalize.value)
        self.use_engine("torch")

    def use_engine(self, engine: str) -> None:
        """Which engine computes with this policy, from now on; all share its parameters."""
        self.engine = engine
        self.__dict__.pop("inference", None)

    @cached_property
    def inference(self) -> Inference:
        """Made when it is first asked: torch is loaded only by who acts with it."""
        return inference_for(self.network, self.parameters, self.head, self.engine)

    def initialize(self, seed: int, role: str) -> None:
        """Draw initial weights."""
        weights.draw(self.network, self.parameters, seed, role)

    def dist(self, obs: Array, mask: Array | None = None) -> Array:
        """Parameters of the action distribution, [B, k]."""
        return self.dist_of(self.features(obs), mask)

    def dist_of(self, features: Array, mask: Array | None = None) -> Array:
        return self.dist_from(self.inference.actor(features), mask)

    def dist_from(self, output: Array, mask: Array | None) -> Array:
        """Of what the last actor layer says, [B, k]."""
        return self.head.parameters(output, self._free, mask)

    def act(
        self, obs: Array, noise: Array | None, mask: Array | None = None
    ) -> tuple[Array, Array]:
        """Actions and the distribution they come from; greedy without noise."""
        dist = self.dist(obs, mask)
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
    ) -> None:
        """As `act`, written into rows of a tape: actions [B, ...], the distributions [B, k] they come
        from, their log-probabilities [B], and V [B] if `values_while_acting`."""
        features = self.features(obs)
        if self.inference.act_into is not None:
            told = np.empty(len(value), np.float32) if self.values_while_acting else None
            self.inference.act_into(features, noise, mask, action, dist, logprob, told)
            if told is not None:
                value[:] = self.value_scale.denormalized(told)
            return
        if self.values_while_acting and self.inference.both is not None:
            output, found = self.inference.both(features)
            value[:] = self.value_scale.denormalized(found)
        else:
            output = self.inference.actor(features)
        dist[:] = self.head.parameters(output, self._free, mask)
        action[:] = self.head.sample(dist, noise)
        logprob[:] = self.head.logprob(dist, action)

    @property
    def values_while_acting(self) -> bool:
        """Whether acting says V by the way; otherwise asking for a whole rollout's is cheaper."""
        return self.inference.values_while_acting and not isinstance(self.head, EpsilonGreedy)

    def value(self, obs: Array) -> Array:
        """V of observations [B, ...] in units of the (scaled) reward, [B]. Where outputs are action
        values, their mean under what acts."""
        features = self.features(obs)
        if isinstance(self.head, EpsilonGreedy):
            values = self.inference.actor(features)
            return (np.exp(self.head.parameters(values, self._free, None)) * values).sum(-1)
        return self.value_scale.denormalized(self.inference.critic(features))

    def health(self, obs: Array, mask: Array | None) -> Health:
        """How its network is on observations [B, ...]."""
        features = self.features(obs)
        if self.inference.health is not None:
            return self.inference.health(features, mask)
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows shows in what is told
            heard, output = self.inference.activations(features)
            return network_health(heard, output, self.head, self.dist_from(output, mask))

    def copy_from(self, other: Policy) -> None:
        """Take over all that another policy of the same kind has learned."""
        self.parameters.flat[:] = other.parameters.flat
        if self.normalizer is not None and other.normalizer is not None:
            self.normalizer.load(other.normalizer.moments)
        self.value_scale.moments = other.value_scale.moments

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
            "acts": self.acts,
            "engine": self.engine,
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Policy:
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
        moments = {"normalize.value": self.value_scale.moments}
        if self.normalizer is not None:
            moments["normalize.obs"] = self.normalizer.moments
        return moments


def _refuse_popart_without_its_layer(
    cfg: PolicyConfig, normalize: NormalizeConfig, has_critic: bool
) -> None:
    if normalize.value == "popart" and (cfg.module is not None or not has_critic):
        whose = "policy.module" if has_critic else "this algorithm"
        what = f"normalize.value: popart rewrites a critic's last layer, which {whose} has not"
        raise ConfigError(what, fix="set normalize.value=off")


def _owner(array: str) -> str:
    """The layer or normaliser an array belongs to; a free parameter owns itself."""
    owner = array.rpartition(".")[0]
    return owner if "." in owner else array
