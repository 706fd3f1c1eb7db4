"""Action noise: Gaussian noise on continuous actions, random replacements of discrete ones."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Box

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.wrappers.discrete import Elements
from gymnast.envs.wrappers.episode import ActionWrapper, Env
from gymnast.envs.wrappers.scales import clipped, deviations
from gymnast.errors import EnvError

KEY = "env.noise.action"


def around(env: Env, cfg: EnvConfig) -> Env:
    if isinstance(env.action_space, Box):
        return BoxActionNoise(env, cfg.noise.action)
    return DiscreteActionNoise(env, _chance(cfg.noise.action), masked=cfg.action_mask)


class BoxActionNoise(ActionWrapper):
    NAME = "action noise"

    def __init__(self, env: Env, scales: Any) -> None:
        super().__init__(env, masked=False)
        space: Any = env.action_space
        self._space, self._deviation = space, deviations(scales, space, KEY)

    def transform_action(self, action: Any) -> Any:
        noisy = action + self._deviation * self.rng.standard_normal(self._deviation.shape)
        return clipped(noisy, self._space)


class DiscreteActionNoise(ActionWrapper):
    """Replaces each element with probability `chance` by another option, drawn uniformly from the ones
    that the environment allows."""

    NAME = "action noise"

    def __init__(self, env: Env, chance: float, *, masked: bool) -> None:
        super().__init__(env, masked=masked)
        self._chance, self._elements = chance, Elements.of(self._kind)

    def transform_action(self, action: Any) -> Any:
        assert self._elements is not None
        replaced = self.rng.random(len(self._elements.n)) < self._chance
        if not replaced.any():
            return action
        chosen, options = self._elements.chosen(action), self.options()
        for element in replaced.nonzero()[0].tolist():
            others = self._elements.others(element, int(chosen[element]), options)
            if len(others):
                chosen[element] = self.rng.choice(others)
        return self._elements.action(chosen, action)


def _chance(scales: Any) -> float:
    if isinstance(scales, tuple) or scales > 1:
        what = "discrete actions take one probability for all elements, from 0% to 100%"
        raise EnvError(what, at=KEY, fix="set it to a value such as 5%")
    return float(scales)
