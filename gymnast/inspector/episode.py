"""A stored episode that is being inspected: its trace, and what follows from it, computed when needed."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np

from gymnast.collect.collector import ROLE
from gymnast.config.config import Config
from gymnast.errors import CheckpointError, RunError, UsageError
from gymnast.evaluation.rescore import load_policy
from gymnast.film.renderer import DEFAULT_FPS, EnvRenderer
from gymnast.film.replay import image_observations, replayed_states
from gymnast.images import ObsArray
from gymnast.inspector.address import EpisodeAddress
from gymnast.inspector.env_note import opening_problem
from gymnast.inspector.outcome_scale import evaluation_returns
from gymnast.inspector.replay import RenderedStates, Replay, replay_episode
from gymnast.policy.policy import Policy
from gymnast.runs import checkpoint
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.episodes import episode_settings, read_episode
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import config_with
from gymnast.runs.run import Run
from gymnast.runs.trace import Trace
from gymnast.spaces.observations import Observation
from gymnast.spaces.spaces import Action

Array = np.ndarray


class OpenEpisode:
    """One stored episode of a single agent. Its environment is opened on first use; `close` it."""

    role: str = ROLE
    """The role of the agent."""

    def __init__(self, address: EpisodeAddress) -> None:
        """Reads the trace. Raises RunError if it is not stored, UsageError for a match."""
        self.address, self.run = address, Run(address.path)
        named = (self.run, address.kind, address.version, address.number)
        stored = read_episode(*named)
        self.config: Config = config_with(self.run, episode_settings(*named))
        if isinstance(stored, MatchTrace):
            raise UsageError("this is a match, not an episode of one agent")
        self.trace: Trace = stored
        self._env: EnvRenderer | None = None
        self._renderer: EnvRenderer | None = None
        self.variation: tuple[object, OpenEpisode] | None = None
        """The variation that was opened last, and what names it."""

    @cached_property
    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint of the policy that played the episode; for a training episode, which several
        versions may have played, the first one after it. None if it was removed."""
        try:
            return checkpoint.find(self.run.path, str(self.address.version))
        except (CheckpointError, RunError):
            return None

    @cached_property
    def policy(self) -> Policy | None:
        """The policy of the checkpoint; None if the checkpoint was removed."""
        return None if self.checkpoint is None else load_policy(self.checkpoint)

    @property
    def policy_note(self) -> str:
        """The reason why there is no policy; empty if there is one."""
        if self.checkpoint is not None:
            return ""
        if self.run.info["checkpoints"]["latest"] is None:
            return "the run has no policy: a person played"
        version = self.address.version
        return f"the checkpoint after {version:,} env steps was removed (checkpoint.keep)"

    @cached_property
    def policy_states(self) -> Array | None:
        """The policy state before each known observation, and after the last, [n + 1, S]; None without a
        policy, or if it has no memory. These are the states that the stored policy reaches: in a training
        episode, earlier versions may have acted, too."""
        policy = self.policy
        if policy is None or not policy.state_size:
            return None
        return policy.unroll(np.asarray(self.obs))

    def states_before(self, first: int, last: int) -> Array | None:
        """Returns the policy states before the steps `first` to `last` - 1, [n, S]; None without memory."""
        return None if self.policy_states is None else self.policy_states[first:last]

    @cached_property
    def table(self) -> dict[str, Array]:
        """The step table, column by column."""
        from gymnast.inspector.table import episode_table

        return episode_table(self)

    def env(self) -> EnvRenderer:
        """Returns the environment of the episode without a renderer, which steps faster. Raises EnvError if
        it cannot be opened."""
        if self._env is None:
            self._env = EnvRenderer(
                self.config, render=False, training=self.address.kind == "train"
            )
        return self._env

    def renderer(self) -> EnvRenderer:
        """Returns another copy of the environment, for pictures. Raises EnvError if it cannot be opened, or
        has no renderer."""
        if self._renderer is None:
            self._renderer = EnvRenderer(self.config, training=self.address.kind == "train")
        return self._renderer

    @cached_property
    def env_note(self) -> str:
        """The reason why the environment cannot be opened; empty if it can."""
        return opening_problem(self.env)

    @property
    def frames_note(self) -> str:
        """The reason why the episode cannot be shown in pictures; empty if it can."""
        if image_observations(self.trace) is not None:
            return ""
        return self.env_note or self.env().no_render_mode

    @property
    def fps(self) -> float:
        """Frames per second at natural speed."""
        return (self.config.facts.fps or DEFAULT_FPS) if self.env_note else self.env().fps

    @property
    def action_space(self) -> Action | None:
        """The description of the action space; None if neither environment nor policy is available."""
        if not self.env_note:
            return self.env().action_space
        return None if self.policy is None else self.policy.action_space

    @property
    def obs_space(self) -> Observation | None:
        """The description of the environment's observation space; None if it cannot be opened."""
        return None if self.env_note else self.env().obs_space

    @property
    def decisions_note(self) -> str:
        """A remark on the probabilities and values in the table; empty if they are stored."""
        return ""

    @property
    def reward_terms(self) -> dict[str, Array]:
        """Reward term of the environment -> its rewards, [T]; empty if it does not report them."""
        return {}

    def evaluation_returns(self) -> list[float]:
        """Returns the raw returns of the run's evaluation episodes."""
        return evaluation_returns(self.run)

    @cached_property
    def replay(self) -> Replay:
        """The replay of the episode. If the environment cannot be opened, it has no observations."""
        if self.env_note:
            return Replay(np.zeros((0,)), [], None, None, self.env_note)
        return replay_episode(self.env(), self.trace)

    @cached_property
    def rendered(self) -> RenderedStates:
        """The pictures of a replay in the environment with a renderer."""
        renderer = self.renderer()

        def set_rendered(is_rendered: bool) -> None:
            renderer.is_rendered = is_rendered

        return RenderedStates(
            lambda: replayed_states(renderer, self.trace), renderer.render, set_rendered
        )

    @property
    def pictured(self) -> OpenEpisode:
        """The episode whose pictures show this one."""
        return self

    @property
    def obs(self) -> ObsArray:
        """Observations before each step and the final one: the stored ones or else those of the replay, which
        end at the first difference."""
        return self.replay.obs if self.trace.obs is None else self.trace.obs

    def open_variation(self, name: object, trace: Trace, replay: Replay) -> OpenEpisode:
        """Returns another line of this episode as an episode with environments of its own. It replaces the
        last `variation`, whose environments it takes, and is closed with this episode."""
        line = copy(self)
        for cached in ("table", "rendered", "policy_states"):
            line.__dict__.pop(cached, None)
        line.__dict__["replay"] = replay
        last = None if self.variation is None else self.variation[1]
        # Not closed, but used again: closing one may end the fonts of all (`pygame.quit`).
        line._env = None if last is None else last._env
        line._renderer = None if last is None else last._renderer
        line.trace, line.variation = trace, None
        self.variation = name, line
        return line

    def close(self) -> None:
        """Closes the environments, which are opened again when they are needed."""
        if self.variation is not None:
            self.variation[1].close()
            self.variation = None
        self.__dict__.pop("rendered", None)
        for env in (self._env, self._renderer):
            if env is not None:
                env.close()
        self._env = self._renderer = None
