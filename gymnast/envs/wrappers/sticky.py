"""Sticky actions: with some probability the previous action is repeated (Machado et al. 2018)."""

from __future__ import annotations

import numpy as np

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, Info, ResetResult
from gymnast.envs.wrappers.discrete_elements import DiscreteElements
from gymnast.envs.wrappers.seeded_wrapper import ActionWrapper


def wrap(env: Env, cfg: EnvConfig) -> Env:
    return StickyActions(env, cfg.noise.sticky, masked=cfg.action_mask)


class StickyActions(ActionWrapper):
    """Repeats the action that was applied last, unless the mask forbids it now."""

    NAME = "sticky actions"

    def __init__(self, env: Env, chance: float, *, masked: bool) -> None:
        super().__init__(env, masked=masked)
        self._chance, self._elements = float(chance), DiscreteElements.for_space(self._kind)
        self._last: object = None

    def on_reset(self, obs: object, info: Info) -> ResetResult:
        self._last = None  # the first action of an episode has no predecessor
        return super().on_reset(obs, info)

    def transform_action(self, action: object) -> object:
        stuck = self.rng.random() < self._chance  # one draw per step, whatever is done with it
        if not stuck or self._last is None or not self._still_allowed():
            self._last = np.copy(action) if isinstance(action, np.ndarray) else action
        return self._last

    def _still_allowed(self) -> bool:
        options = self.current_mask()
        if options is None or self._elements is None:
            return True
        return self._elements.is_allowed(self._elements.to_indices(self._last), options)
