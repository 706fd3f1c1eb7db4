"""Several environments as one (`env.tasks`): the seed of an episode decides which task it plays."""

from __future__ import annotations

from collections.abc import Callable

from gymnasium.core import RenderFrame

from gymnast.config.sections.env import EnvConfig
from gymnast.envs.build.strip_wrappers import strip_wrappers, with_limit_of
from gymnast.envs.env_types import Env, Options, ResetResult, StepResult
from gymnast.errors import EnvError
from gymnast.seeds import decode_task


class TaskEnv(Env):
    """The environments of all tasks, of which each episode plays one. All must have the same spaces."""

    def __init__(self, cfg: EnvConfig, make: Callable[[EnvConfig], Env]) -> None:
        """`make` creates the environment of a single task."""
        self._envs = [_keep_only_limit(make(cfg.for_task(name))) for name in cfg.tasks]
        self._current = self.first_task = first = self._envs[0]
        self.observation_space, self.action_space = first.observation_space, first.action_space
        self.spec, self.render_mode, self.metadata = first.spec, first.render_mode, first.metadata
        for name, env in zip(cfg.tasks, self._envs, strict=True):
            self._refuse_other_spaces(name, env)

    @property
    def unwrapped(self) -> Env:
        """The innermost environment of the current task."""
        return self._current.unwrapped

    def reset(self, *, seed: int | None = None, options: Options = None) -> ResetResult:
        """Starts an episode of the task that the seed encodes and returns its first observation and info.
        Without a seed, one is drawn."""
        # An unseeded reset draws a seed, so that it also draws a task.
        chosen = int(self.np_random.integers(2**31)) if seed is None else seed
        self._current = self._envs[decode_task(chosen, len(self._envs))]
        return self._current.reset(seed=chosen, options=options)

    def step(self, action: object) -> StepResult:
        return self._current.step(action)

    def render(self) -> RenderFrame | list[RenderFrame] | None:
        return self._current.render()

    def close(self) -> None:
        for env in self._envs:
            env.close()

    def _refuse_other_spaces(self, name: str, env: Env) -> None:
        """Raises EnvError if the spaces of a task differ from those of the first task."""
        for kind in ("observation_space", "action_space"):
            ours, its = getattr(self, kind), getattr(env, kind)
            if ours != its:
                what = f"task {name} has the {kind.replace('_', ' ')} {its}, but the first task has {ours}"
                fix = "give all tasks the same spaces, since they share one policy"
                raise EnvError(what, at="env.tasks", fix=fix)


def _keep_only_limit(env: Env) -> Env:
    """Removes Gymnasium's wrappers except the time limit, since every task has its own."""
    return with_limit_of(env, strip_wrappers(env)[0])
