"""A match in which a person plays one agent of a role."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gymnast.collect.matchmaking import Player, SeatStates, random_player
from gymnast.config.config import Config
from gymnast.config.resolve import apply_overrides
from gymnast.envs.backends.backend import raise_fault
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, Matches
from gymnast.envs.matches.open import open_matches
from gymnast.errors import UsageError
from gymnast.evaluation.episodes import EpisodePlan
from gymnast.film.renderer import DEFAULT_FPS, enlarged
from gymnast.play.keys import KeyBindings
from gymnast.policy.actions import head_for
from gymnast.runs.checkpoint import Checkpoint
from gymnast.runs.match_trace import MatchTrace
from gymnast.runs.requested_episodes import PERSON
from gymnast.runs.run import Run
from gymnast.seeds import stream
from gymnast.selfplay.crossplay import Tournament
from gymnast.selfplay.players import RANDOM

Array = np.ndarray


class MatchGame:
    """A match. The person has the first seat of a role; the policies of a checkpoint play the other seats and
    roles, or random players if there is no checkpoint."""

    def __init__(
        self,
        config: Config,
        tournament: Tournament | None,
        seed: int,
        *,
        role: str,
        sampled: bool,
    ) -> None:
        """`tournament`: from `open_match`, None to play with random players; `role`: the person's, by default
        the first one; `sampled`: whether policies sample their actions. Raises UsageError for an unknown
        role, EnvError if the environment cannot be rendered."""
        self.seed, self.version = seed, 0 if tournament is None else tournament.saved.step
        self.steps, self.total, self.terminated, self.truncated = 0, 0.0, False, False
        self.matches = open_matches(config, 1) if tournament is None else tournament.matches
        try:
            roles = self.matches.roles
            self.role = role or next(iter(roles))
            if self.role not in roles:
                problem = f"{config.env.id} has no role {role} (known: {', '.join(roles)})"
                raise UsageError(problem, fix="choose one of them")
            players, names = _players(self.matches, tournament, sampled)
            self.cast = {name: PERSON if name == self.role else names[name] for name in roles}
            self.keys = KeyBindings(roles[self.role].action, config.facts)
            self.fps = float(config.facts.fps or getattr(self.matches, "fps", None) or DEFAULT_FPS)
            self._players: Mapping[str, Player] = players
            self._heads = {name: head_for(kind.action) for name, kind in roles.items()}
            self._noise = {name: stream(seed, "match noise", name) for name in roles}
            self._states = {name: SeatStates(kind.seats) for name, kind in roles.items()}
            self._in_play = {name: np.ones(kind.seats, dtype=bool) for name, kind in roles.items()}
            self._actions: dict[str, list[Array]] = {name: [] for name in roles}
            self._rewards: dict[str, list[Array]] = {name: [] for name in roles}
            self._over, self._outcome, self._numbers = False, "", dict[str, float]()
            raise_fault(self.matches.name, self.matches.reset([0], [seed]))
            self.render()  # an environment without a renderer cannot be played
        except BaseException:
            self.matches.close()
            raise

    @property
    def over(self) -> bool:
        return self._over

    @property
    def outcome(self) -> str:
        return (self._outcome or "the match is over") if self._over else ""

    def step(self, action: Array) -> float:
        """Takes a step of all agents; returns the reward of the person."""
        actions = {name: self._choose(name) for name in self.matches.roles}
        actions[self.role][0] = action
        step = self.matches.step({name: rows[None] for name, rows in actions.items()})
        raise_fault(self.matches.name, step.faults)
        reward = 0.0
        for name, playing in self._in_play.items():
            # An agent that is out may still be stepped; what it gets then does not count.
            rewards = np.where(playing, step.reward[name][0], 0.0)
            terminated, truncated = step.terminated[name][0], step.truncated[name][0]
            self._in_play[name] = playing & ~(terminated | truncated)
            self._actions[name].append(actions[name])
            self._rewards[name].append(rewards)
            if name == self.role:
                reward = float(rewards[0])
                self.terminated |= bool(playing[0] and terminated[0])
                self.truncated |= bool(playing[0] and truncated[0])
        self.steps, self.total, self._over = self.steps + 1, self.total + reward, bool(step.over[0])
        if self._over:
            index = int(step.outcome[0])
            self._outcome = "" if index == UNKNOWN_OUTCOME else list(self.matches.outcomes)[index]
            self._numbers = {key: float(column[0]) for key, column in step.metrics.items()}
        return reward

    def render(self) -> Array:
        return enlarged(self.matches.render(0))

    def trace(self) -> MatchTrace:
        return MatchTrace(
            seed=self.seed,
            actions={name: np.stack(rows) for name, rows in self._actions.items()},
            rewards={name: np.stack(rows) for name, rows in self._rewards.items()},
            cast=self.cast,
            outcome=self._outcome,
            version=self.version,
            numbers=self._numbers,
            ended=self._over,
        )

    def close(self) -> None:
        self.matches.close()

    def _choose(self, role: str) -> Array:
        """Returns the actions [seats, ...] of the players of a role; the person's is replaced."""
        kind, draws = self.matches.roles[role], self._noise[role]
        noise, uniform = self._heads[role].noise(draws, (kind.seats,)), draws.random(kind.seats)
        obs, player = self.matches.obs[role][0], self._players[role]
        return np.array(self._states[role].act(player, slice(None), obs, noise, uniform))


def open_match(run: Run, config: Config, saved: Checkpoint) -> Tournament:
    """Opens one match of a run, with the policies of a checkpoint."""
    return Tournament(run, saved, apply_overrides(config, {"eval.n_envs": 1})[0], run.path.parent)


def _players(
    matches: Matches, tournament: Tournament | None, sampled: bool
) -> tuple[dict[str, Player], dict[str, str]]:
    """Returns role -> player, and role -> name of the player."""
    if tournament is None:
        players: dict[str, Player] = {
            role: random_player(kind) for role, kind in matches.roles.items()
        }
        return players, dict.fromkeys(matches.roles, RANDOM)
    names = tournament.learners_cast()
    plan = EpisodePlan((), deterministic=not sampled)
    return {role: tournament.player(role, name, plan) for role, name in names.items()}, names
