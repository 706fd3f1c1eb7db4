"""The side of a host with central inference: the environments of one shard."""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np

from gymnast.collect.shards.env_orders import (
    EnvsOpened,
    OpenEnvs,
    Outcome,
    ReplayEnvs,
    ResetEnvs,
    StepEnvs,
)
from gymnast.config.sections.shaping import step_info_keys
from gymnast.envs.backends.backend import Backend
from gymnast.envs.build.open import open_envs
from gymnast.hosts import HostFacts
from gymnast.spaces import spaces

Array = np.ndarray


class EnvShard:
    """Carries out orders about environments."""

    def __init__(self, order: OpenEnvs) -> None:
        cfg = order.cfg
        self._info_keys = sorted(set(cfg.info_keys().values()))
        self.envs: Backend = open_envs(
            cfg.env.model_copy(update={"n_envs": len(order.copies)}),
            limit=cfg.training_limit(),
            info_keys=self._info_keys,
            step_keys=step_info_keys(cfg.shaping),
            on_output=logging.getLogger("gymnast.envs").warning,
        )
        self.opened = EnvsOpened(
            HostFacts.for_env(cfg.env.id),
            self.envs.name,
            (spaces.to_json(self.envs.obs_space), spaces.to_json(self.envs.action_space)),
            self.envs.space_texts,
            self.envs.time_limit,
            self.envs.has_default_limit,
            self.envs.restore_mode,
            self.envs.obs.copy(),
        )

    def carry_out(self, order: ResetEnvs | StepEnvs | ReplayEnvs) -> Any:
        match order:
            case ResetEnvs():
                return self._reset(order)
            case StepEnvs():
                return self._step(order)
            case ReplayEnvs():
                return [copy for copy in order.episodes if not self._replay(copy, order)]

    def close(self) -> None:
        self.envs.close()

    def _reset(self, order: ResetEnvs) -> Outcome:
        began = time.perf_counter()
        faults = self.envs.reset(order.copies, order.seeds)
        return Outcome(self.envs.obs.copy(), self._mask(), faults, seconds=_since(began))

    def _step(self, order: StepEnvs) -> Outcome:
        began = time.perf_counter()
        step = self.envs.step(order.action, order.copies)
        ended = np.flatnonzero(step.terminated | step.truncated).tolist()
        infos = {
            copy: {key: step.infos[copy][key] for key in self._info_keys if key in step.infos[copy]}
            for copy in (ended if self._info_keys else ())
        }
        return Outcome(
            step.obs.copy(),
            self._mask(),
            step.faults,
            step.reward.copy(),
            step.terminated.copy(),
            step.truncated.copy(),
            None if step.stepped is None else step.stepped.copy(),
            None if step.info_values is None else step.info_values.copy(),
            infos,
            _since(began),
        )

    def _replay(self, copy: int, order: ReplayEnvs) -> bool:
        """Replays the episode of one copy. True if it leads to the same observation."""
        envs, (seed, actions) = self.envs, order.episodes[copy]
        if envs.reset([copy], [seed]):
            return False
        for action in actions:
            # `step` takes actions of all copies, but only this one is stepped.
            step = envs.step(np.repeat(action[None], envs.n_envs, 0), [copy])
            if step.faults or step.terminated[copy] or step.truncated[copy]:
                return False
        # Before its first action, the copy may be in the middle of a reset: its observation is an old one.
        return not actions or np.array_equal(envs.obs[copy], order.obs[copy])

    def _mask(self) -> Array | None:
        return None if self.envs.mask is None else self.envs.mask.copy()


def _since(began: float) -> float:
    return time.perf_counter() - began
