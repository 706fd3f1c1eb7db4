"""Sticky actions: with some probability the previous action is repeated (Machado et al. 2018)."""

from __future__ import annotations

from copy import deepcopy

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.env_types import Env, Info, ResetResult
from gymnast.envs.wrappers.seeded_wrapper import ActionWrapper


def wrap(env: Env, cfg: EnvConfig) -> Env:
    return StickyActions(env, cfg.noise.sticky, masked=cfg.action_mask)


class StickyActions(ActionWrapper):
    """Repeats the action that was applied last, unless the mask forbids it now."""

    NAME = "sticky actions"

    def __init__(self, env: Env, chance: float, *, masked: bool) -> None:
        super().__init__(env, masked=masked)
        self._chance = float(chance)
        self._last: object = None

    def on_reset(self, obs: object, info: Info) -> ResetResult:
        self._last = None  # the first action of an episode has no predecessor
        return super().on_reset(obs, info)

    def transform_action(self, action: object) -> object:
        stuck = self.rng.random() < self._chance  # one draw per step, whatever is done with it
        if not stuck or self._last is None or not self._still_allowed():
            self._last = deepcopy(action)
        return self._last

    def _still_allowed(self) -> bool:
        options = self.current_mask()
        kind = self._kind
        return options is None or kind.is_allowed(kind.flatten(kind.pack(self._last)), options)
