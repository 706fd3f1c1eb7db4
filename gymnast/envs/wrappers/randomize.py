"""Domain randomization: draws parameters of the environment for every episode and reports them in info."""

from __future__ import annotations

from collections.abc import Mapping

from gymnast.config.distribution import Distribution
from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build import parameters
from gymnast.envs.env_types import Env, Options, ResetResult, StepResult
from gymnast.envs.wrappers.seeded_wrapper import SeededWrapper


def wrap(env: Env, cfg: EnvConfig) -> Env:
    parameters.refuse_unknown(cfg.id, env.unwrapped, cfg.randomize)
    return DomainRandomization(env, cfg.randomize, cfg.randomized_metrics())


class DomainRandomization(SeededWrapper):
    """Sets the drawn parameters before each reset; `info` of every step contains them, so that they can be
    logged and are known to whoever reads a trace."""

    NAME = "randomize"

    def __init__(
        self, env: Env, drawn_from: Mapping[str, Distribution], info_keys: Mapping[str, str]
    ) -> None:
        """`drawn_from`: parameter -> distribution; `info_keys`: parameter -> key in info."""
        super().__init__(env)
        self._from, self._info_keys = dict(drawn_from), dict(info_keys)
        self._start = parameters.parameters_of(env.unwrapped).set_initial_state
        self._drawn: dict[str, float] = {}
        self._info: dict[str, float] = {}

    def reset(self, *, seed: int | None = None, options: Options = None) -> ResetResult:
        """Draws the parameters, sets them, resets the environment and returns the first observation and info.
        Without a seed, one is drawn for the parameters."""
        root = int(self.np_random.integers(2**31)) if seed is None else seed
        # one stream per parameter, so that adding a parameter does not change the draws of the others
        self._drawn = {
            name: distribution.sample(self.make_rng(root, name))
            for name, distribution in self._from.items()
        }
        self._info = {self._info_keys[name]: value for name, value in self._drawn.items()}
        parameters.apply(self.unwrapped, self._drawn)  # before the reset, which may read them
        obs, info = self.env.reset(seed=seed, options=options)
        new_obs = self._start(self.unwrapped, self._drawn) if self._start is not None else None
        return obs if new_obs is None else new_obs, {**info, **self._info}

    def step(self, action: object) -> StepResult:
        obs, reward, terminated, truncated, info = self.env.step(action)
        return obs, reward, terminated, truncated, {**info, **self._info}
