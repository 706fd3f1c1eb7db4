"""One agent's part of a stored match, as an episode of that agent."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gymnast.config.config import Config
from gymnast.config.sections.league import LEARNER
from gymnast.errors import UsageError
from gymnast.film.renderer import EnvRenderer
from gymnast.images import ObsArray
from gymnast.inspector.episode import OpenEpisode
from gymnast.inspector.match_replay import SeatEnd
from gymnast.inspector.players import RolePlayer
from gymnast.inspector.replay import RenderedStates, Replay
from gymnast.policy.policy import Policy
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.requested_episodes import PERSON
from gymnast.runs.trace import Trace
from gymnast.spaces.observations import Observation
from gymnast.spaces.spaces import Action

if TYPE_CHECKING:
    from gymnast.inspector.matches import OpenMatch

Array = np.ndarray
CHUNK = 512
"""Number of observations that a policy is run on at once."""


class OpenSeat(OpenEpisode):
    """One agent's part of a match, up to the step in which it was out."""

    def __init__(self, match: OpenMatch, role: str, seat: int) -> None:
        self.match, self.role, self.seat = match, role, seat
        self.address, self.run = replace(match.address, role=role, seat=seat), match.run
        self.config: Config = match.config_of(role)
        self.variation = None

    @cached_property
    def end(self) -> SeatEnd:
        """The end of the agent's part."""
        return self.match.replay.end_of(self.role, self.seat, len(self.match.trace))

    @property
    def raw_return(self) -> float:
        """Sum of the agent's rewards."""
        return float(self.match.trace.rewards[self.role][:, self.seat].sum())

    @cached_property
    def trace(self) -> Trace:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The agent's stored actions and rewards, with the distributions and values of its policy for the
        replayed observations. After a difference, and without a policy, they are NaN."""
        stored, end = self.match.trace, self.end
        dist, value = self._decisions(end.steps)
        return Trace(
            seed=stored.seed,
            action=stored.actions[self.role][: end.steps, self.seat],
            reward=stored.rewards[self.role][: end.steps, self.seat].astype(np.float64),
            value=value,
            dist=dist,
            obs=None,
            terminated=end.terminated,
            truncated=end.truncated,
            raw_return=self.raw_return,
            env=self.seat,
            version=stored.version,
            numbers=stored.numbers,
        )

    def _decisions(self, steps: int) -> tuple[Array, Array]:
        """Returns the parameters of the policy's distributions, [steps, k], and its values, [steps]."""
        value = np.full(steps, np.nan, np.float32)
        if self.policy is None or self.replay.last < 0:
            return np.zeros((steps, 0), np.float32), value
        dist = np.full((steps, self.policy.head.dist_size), np.nan, np.float32)
        obs, states = self.replay.obs[:steps], self.states_before(0, steps)
        for first in range(0, len(obs), CHUNK):
            rows = slice(first, first + CHUNK)
            state = None if states is None else states[: len(obs)][rows]
            dist[: len(obs)][rows] = self.policy.dist(obs[rows], None, state)
            value[: len(obs)][rows] = self.policy.value(obs[rows], state)
        return dist, value

    # ---- the policy --------------------------------------------------------------------------

    @property
    def player(self) -> RolePlayer:
        return self.match.player(self.role)

    @property
    def checkpoint(self) -> Checkpoint | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.player.checkpoint

    @property
    def policy(self) -> Policy | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.player.policy

    @property
    def policy_note(self) -> str:
        """The reason why there is no policy, or why its probabilities and values may not be those with which
        the agent played; empty if they are."""
        if self.policy is None:
            return self.player.note
        if self.player.name == PERSON:
            version = f"{self.match.trace.version:,} env steps"
            return (
                f"a person played; probabilities and values are those of the policy after {version}"
            )
        if self.address.kind == "train":
            return (
                "a training match may have been played by several versions of the policy; probabilities "
                f"and values are those of the version after {self.trace.version:,} env steps"
            )
        return self._greedy_note() if self.plays_greedily and self.replay.last > 0 else ""

    @property
    def decisions_note(self) -> str:
        return (
            "computed by the stored policy from the replayed observations: matches do not store it"
        )

    @property
    def plays_greedily(self) -> bool:
        """Whether the agent played its policy's most likely action in every step."""
        if self.address.kind == "fresh" and self.match.settings is not None:
            return not self.match.settings.sampled  # every policy of the match plays so
        is_evaluation = self.address.kind in ("eval", "confirm")
        return is_evaluation and self.config.eval.deterministic and self.player.name == LEARNER

    def _greedy_note(self) -> str:
        """Returns a sentence if actions of a greedily played match are not the policy's most likely ones."""
        assert self.policy is not None
        head, known = self.policy.head, self.replay.last
        expected = head.for_env(head.mode(self.trace.dist[:known]))
        played = self.trace.action[:known].reshape(expected.shape)
        # The policy played several matches in one batch, which rounds continuous actions differently.
        same = np.asarray(np.isclose(played, expected, rtol=1e-4, atol=1e-5))
        differs = np.flatnonzero(~same.all(tuple(range(1, same.ndim))))
        if not len(differs):
            return ""
        return (
            f"{len(differs)} of {known} actions are not the most likely ones of the stored policy, the "
            f"first at step {differs[0]}: another policy may have played this match"
        )

    # ---- the environment ---------------------------------------------------------------------

    def env(self) -> EnvRenderer:
        raise UsageError(_NOT_ALONE, fix="choose an episode of a single agent")

    def renderer(self) -> EnvRenderer:
        raise UsageError(_NOT_ALONE, fix="choose an episode of a single agent")

    @property
    def env_note(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.match.env_note

    @property
    def frames_note(self) -> str:
        return self.match.frames_note

    @property
    def fps(self) -> float:
        return self.match.fps

    @property
    def action_space(self) -> Action | None:
        if (role := self.match.role(self.role)) is not None:
            return role.action
        return None if self.policy is None else self.policy.action_space

    @property
    def obs_space(self) -> Observation | None:
        role = self.match.role(self.role)
        return None if role is None else role.obs

    @property
    def reward_terms(self) -> dict[str, Array]:
        terms: dict[str, Array] = {}
        for name, rewards in self.match.replay.terms.get(self.role, {}).items():
            terms[name] = np.full(self.end.steps, np.nan)
            known = rewards[: self.end.steps, self.seat]
            terms[name][: len(known)] = known
        return terms

    def evaluation_returns(self) -> list[float]:
        """Returns the mean returns of the role's agents in the run's evaluation matches."""
        return self.match.evaluation_returns().get(self.role, [])

    @cached_property
    def replay(self) -> Replay:
        return self.match.replay.of_seat(self.role, self.seat)

    @property
    def obs(self) -> ObsArray:
        """The observations of the replay. Not through the trace, whose decisions are computed from them."""
        return self.replay.obs

    @property
    def rendered(self) -> RenderedStates:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.match.rendered

    @property
    def pictured(self) -> OpenEpisode:
        """The seat whose agent stays longest, so that pictures cover the whole match."""
        return max(self.match.all_seats(), key=lambda seat: seat.end.steps)

    def close(self) -> None:
        self.match.close()


_NOT_ALONE = "the agents of a match act at the same time, so this is not possible for one of them"
