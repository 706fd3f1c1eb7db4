"""Action noise: Gaussian noise on continuous actions, random replacements of discrete ones."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box

from gymnast.config.sections.env import EnvConfig
from gymnast.config.sections.noise import Scales
from gymnast.envs.env_types import Env
from gymnast.envs.wrappers.discrete_elements import DiscreteElements
from gymnast.envs.wrappers.noise_scales import clip_to_space, noise_std
from gymnast.envs.wrappers.seeded_wrapper import ActionWrapper
from gymnast.errors import EnvError
from gymnast.spaces.spaces import CompositeAction, convert_action_space

KEY = "env.noise.action"


def wrap(env: Env, cfg: EnvConfig) -> Env:
    """Returns the environment with noise on its actions. Raises EnvError for Tuple and Dict actions: no
    single scale fits their options and their continuous elements."""
    scales, space = cfg.noise.action, env.action_space
    assert scales is not None  # otherwise this wrapper is not enabled
    kind = convert_action_space(space)
    if isinstance(kind, CompositeAction):
        what = f"noise on {kind.name} actions is not supported"
        raise EnvError(what, at=KEY, fix=f"set {KEY}=0")
    if isinstance(space, Box) and kind.has_continuous:
        return BoxActionNoise(env, space, scales)
    return DiscreteActionNoise(env, _chance(scales), masked=cfg.action_mask)


class BoxActionNoise(ActionWrapper):
    """Adds Gaussian noise to each component and clips the sum to the bounds of the space."""

    NAME = "action noise"

    def __init__(self, env: Env, space: Box, scales: Scales) -> None:
        super().__init__(env, masked=False)
        self._space, self._deviation = space, noise_std(scales, space, KEY)

    def transform_action(self, action: object) -> object:
        noisy = np.asarray(action) + self._deviation * self.rng.standard_normal(
            self._deviation.shape
        )
        return clip_to_space(noisy, self._space)


class DiscreteActionNoise(ActionWrapper):
    """Replaces each element with probability `chance` by another option, drawn uniformly from the ones
    that the environment allows."""

    NAME = "action noise"

    def __init__(self, env: Env, chance: float, *, masked: bool) -> None:
        super().__init__(env, masked=masked)
        self._chance, self._elements = chance, DiscreteElements(self._kind)

    def transform_action(self, action: object) -> object:
        """Returns the action with each element replaced, with probability `chance`, by another option that
        the current mask allows."""
        replaced = self.rng.random(len(self._elements.n)) < self._chance  # [elements]
        if not replaced.any():
            return action
        chosen, options = self._elements.to_indices(action), self.current_mask()
        for element in replaced.nonzero()[0].tolist():
            others = self._elements.other_options(element, int(chosen[element]), options)
            if len(others):  # else the mask allows nothing but the chosen option
                chosen[element] = self.rng.choice(others)
        return self._elements.to_action(chosen, action)


def _chance(scales: Scales) -> float:
    """Returns the probability of a replacement. Raises EnvError for a list or a value above 100 %."""
    if isinstance(scales, tuple) or scales > 1:
        what = "discrete actions take one probability for all elements, from 0% to 100%"
        raise EnvError(what, at=KEY, fix="set it to a value such as 5%")
    return float(scales)
