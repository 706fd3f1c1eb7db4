"""Actions that come out differently: amounts a little off, choices now and then another one."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Box

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.wrappers.discrete import Elements
from gymnast.envs.wrappers.episode import ActionWrapper, Env
from gymnast.envs.wrappers.scales import deviations, within
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

    def instead_of(self, action: Any) -> Any:
        moved = action + self._deviation * self.rng.standard_normal(self._deviation.shape)
        return within(moved, self._space)


class DiscreteActionNoise(ActionWrapper):
    """Each element is another with this chance: one of the other options, all equally likely, that the
    environment allows."""

    NAME = "action noise"

    def __init__(self, env: Env, chance: float, *, masked: bool) -> None:
        super().__init__(env, masked=masked)
        self._chance, self._elements = chance, Elements.of(self._kind)

    def instead_of(self, action: Any) -> Any:
        assert self._elements is not None
        missed = self.rng.random(len(self._elements.n)) < self._chance
        if not missed.any():
            return action
        chosen, options = self._elements.chosen(action), self.options()
        for element in missed.nonzero()[0].tolist():
            others = self._elements.others(element, int(chosen[element]), options)
            if len(others):
                chosen[element] = self.rng.choice(others)
        return self._elements.action(chosen, action)


def _chance(scales: Any) -> float:
    if isinstance(scales, tuple) or scales > 1:
        what = "choices come out differently with one chance for all, from 0% to 100%"
        raise EnvError(what, at=KEY, fix="set it to something like 5%")
    return float(scales)
