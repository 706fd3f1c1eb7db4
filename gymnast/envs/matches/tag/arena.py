"""Tag: seekers chase hiders on a field with walls; agents see only what is in front of them.

All matches are stepped at once in NumPy. A match ends when every hider is tagged or when time is up. The
time limit is a rule of the game, and every agent observes the time left; so agents terminate at the limit
and are not truncated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gymnast.envs.backends.backend import Fault
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, ByRole, MatchStep, Role, ScriptedPolicy
from gymnast.envs.matches.placement import Arena, Placement
from gymnast.envs.matches.tag import layout, motion
from gymnast.envs.matches.tag.exploiters import EXPLOITERS
from gymnast.envs.matches.tag.rewards import GOAL, Rewards, StepEvents, Weights
from gymnast.envs.matches.tag.rules import (
    DASHES,
    HALF_FIELD,
    HEADINGS,
    HIDER,
    OUTCOMES,
    RADIUS,
    REACH,
    ROLES,
    SEEKER,
    TAG,
    THRUSTS,
    TIME_LIMIT,
    TIMEOUT,
    TURNS,
)
from gymnast.envs.matches.tag.scripted import SCRIPTED
from gymnast.envs.matches.tag.sight import NAMES, SPACE, Vision, seeker_hider_vectors
from gymnast.envs.matches.tag.state import State, blank_state
from gymnast.errors import ConfigError
from gymnast.spaces.spaces import MultiDiscreteAction

Array = np.ndarray

ACTION = MultiDiscreteAction((3,), (TURNS, THRUSTS, DASHES), (0, 0, 0))
"""Turn (left, straight, right), thrust (backward, coast, forward), and dash (no, yes)."""
ACTION_NAMES = ("turn", "move", "dash")
_MIN_HANDICAP, _MAX_HANDICAP = 0.25, 4.0


class TagMatches:
    """N matches of tag. Agents are ordered seekers first in all arrays [N, K, ...]."""

    restore_mode: Literal["state", "replay", "none"] = "state"
    outcomes: Mapping[str, str] = OUTCOMES
    scripted: Mapping[str, Mapping[str, ScriptedPolicy]] = SCRIPTED
    exploiters: Mapping[str, Mapping[str, ScriptedPolicy]] = EXPLOITERS
    goal: str = GOAL

    def __init__(
        self,
        n_matches: int,
        *,
        seekers: int = 1,
        hiders: int = 1,
        time_limit: int = TIME_LIMIT,
        terms: Weights | None = None,
        discount: float = 0.99,
        handicaps: Mapping[str, float] | None = None,
    ) -> None:
        """`terms` overrides reward weights (role -> term -> weight, defaults in `rewards.py`); `discount` is
        the learner's gamma, for potential-based shaping; `handicaps` scales the speeds of a role."""
        counts = {"n_matches": n_matches, "seekers": seekers, "hiders": hiders}
        for what, count in (counts | {"time_limit": time_limit}).items():
            if count < 1:
                raise ConfigError(f"tag: {what} is {count}", fix="it must be 1 or more")
        self.name, self.n_matches = "tag", n_matches
        self.time_limit: int | None = time_limit
        self.has_default_limit = False
        self._limit = time_limit
        self.roles: Mapping[str, Role] = {
            role: Role(count, SPACE, ACTION, NAMES, ACTION_NAMES)
            for role, count in zip(ROLES, (seekers, hiders), strict=True)
        }
        self._seekers, self._hiders = seekers, hiders
        self._seats = {SEEKER: slice(0, seekers), HIDER: slice(seekers, seekers + hiders)}
        self._top = motion.top_speed(seekers, hiders)
        self._vision = Vision(seekers, hiders, time_limit)
        self._rewards = Rewards(seekers, hiders, time_limit, discount, terms or {})
        self._factor = np.ones(len(ROLES))
        """Handicap of each role, a factor for its speeds, for matches that start from now on."""
        for role, factor in (handicaps or {}).items():
            self.handicap(role, factor)
        self._state = blank_state(n_matches, seekers + hiders)
        self._obs = np.zeros((n_matches, seekers + hiders, SPACE.size), np.float32)
        self.obs: ByRole = self._by_role(self._obs)

    def handicap(self, role: str, factor: float) -> None:
        """Scales the speeds of a role in matches that start from now on."""
        if role not in ROLES:
            raise ConfigError(f"tag has no role {role!r}", fix=f"one of {', '.join(ROLES)}")
        if not _MIN_HANDICAP <= factor <= _MAX_HANDICAP:
            what = f"tag: the handicap of the {role} is {factor}"
            fix = f"use a factor for its speeds from {_MIN_HANDICAP} to {_MAX_HANDICAP}"
            raise ConfigError(what, fix=fix)
        self._factor[ROLES.index(role)] = factor

    def set_weights(self, role: str, weights: Mapping[str, float]) -> None:
        """Changes the weights of these reward terms for a role, from the next step on. `weights`: term ->
        weight."""
        self._rewards.set_weights(role, weights)

    def reset(self, matches: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        """Starts a new match in each of these slots, whose walls and start positions follow from its seed. It
        never fails, so there are no faults."""
        if not len(matches):
            return ()
        agents = self._seekers + self._hiders
        start = layout.sample_layouts(seeds, self._seekers, self._hiders)
        state = blank_state(len(matches), agents)
        state.middle, state.half = start.middle, start.half
        state.position, state.heading = start.position, start.heading
        state.in_play[:] = True
        state.pace[:] = np.repeat(self._factor, (self._seekers, self._hiders))
        self._vision.update(state, *seeker_hider_vectors(state.position, self._seekers))
        self._store(np.asarray(matches, int), state)
        return ()

    def step(self, actions: ByRole, matches: Sequence[int] | None = None) -> MatchStep:
        """Steps all matches, or only the given ones, with the actions [N, seats, 3] of each role."""
        action = np.concatenate([actions[role] for role in ROLES], axis=1)  # [N, K, 3]
        if matches is None:
            result = self._advance(self._state, action)
            self._vision.write_obs(self._state, self._obs)
            return self._match_step(result)
        chosen = np.asarray(matches, int)
        rows = self._state.rows(chosen)
        result = self._advance(rows, action[chosen])
        self._store(chosen, rows)
        return self._match_step(result.among_all(chosen, self.n_matches))

    def state(self) -> dict[str, Array]:
        settings = {"handicap": self._factor, "weight": self._rewards.weight}
        return {name: x.copy() for name, x in (self._state.columns() | settings).items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        self._state.load(arrays)
        self._factor[:] = arrays["handicap"]
        self._rewards.weight[:] = arrays["weight"]
        self._vision.write_obs(self._state, self._obs)

    @property
    def colors(self) -> Mapping[str, tuple[int, int, int]]:
        """RGB color of each role in rendered images."""
        from gymnast.envs.matches.tag.rendering import COLOR

        return COLOR

    def render(self, match: int) -> Array:
        from gymnast.envs.matches.tag.rendering import render_match

        return render_match(self._state.rows(np.array([match])), self._seekers, self._limit)

    def arena(self, match: int) -> Arena:
        """Returns the field and the walls of a match."""
        middle, half = self._state.middle[match], self._state.half[match]
        corners = np.concatenate([middle - half, middle + half], axis=1).tolist()
        edges = (-HALF_FIELD, HALF_FIELD)
        walls = tuple((left, low, right, high) for left, low, right, high in corners)
        return Arena(x=edges, y=edges, walls=walls, radius=RADIUS)

    def placement(self, match: int) -> Placement:
        """Returns the current positions and headings in a match, and who was tagged."""
        state = self._state.rows(np.array([match]))  # a copy

        def by_role(agents: Array) -> ByRole:
            return {role: rows[0] for role, rows in self._by_role(agents).items()}

        heading = by_role(state.heading * (2 * np.pi / HEADINGS))
        return Placement(by_role(state.position), heading, caught=by_role(state.tagged))

    def close(self) -> None:
        pass

    def _advance(self, state: State, action: Array) -> _StepResult:
        """Applies the actions [N, K, 3] to the N matches in `state`, in place, and returns what happened;
        agents are ordered seekers first."""
        s = self._seekers
        played, nearest_before = state.in_play, state.nearest
        running = played.any(1)  # [N]
        # 1. Everybody moves at once; tagging is decided by the positions after the move.
        motion.move(state, action, self._top)
        state.clock = state.clock + running
        line, distance = seeker_hider_vectors(state.position, s)
        both_play = played[:, :s, None] & played[:, None, s:]  # [N, seekers, hiders]
        tagged = np.any((distance <= REACH) & both_play, axis=1)  # [N, hiders]
        remaining = played[:, s:] & ~tagged
        caught = running & ~remaining.any(1)
        # A hider tagged in the last step is caught: tagging is decided before the time limit.
        late = running & ~caught & (state.clock >= self._limit)
        over = caught | late
        state.in_play = played & ~over[:, None]
        state.in_play[:, s:] &= ~tagged
        state.tagged[:, s:] |= tagged

        # 2. Who sees whom after the move, and the statistics of the match.
        seen_by_seekers = self._vision.update(state, line, distance)
        closest_pair = np.where(both_play, distance, np.inf).min((1, 2))
        state.distance = state.distance + np.where(running, closest_pair, 0.0)
        state.watched = state.watched + (seen_by_seekers.any((1, 2)) | tagged.any(1))
        # 3. Rewards, from the state before and after.
        ended = played & ~state.in_play
        terms = self._rewards.terms(
            StepEvents(
                played=played,
                ended=ended,
                tagged=tagged,
                survived=remaining & late[:, None],
                nearest_before=nearest_before,
                nearest=state.nearest,
                seeing=state.seen_now,
                velocity=state.velocity / self._top[:, None],
            )
        )
        steps = np.maximum(state.clock, 1)
        return _StepResult(
            ended=ended,
            over=over,
            outcome=np.where(over, np.where(caught, TAG, TIMEOUT), UNKNOWN_OUTCOME),
            numbers={
                "distance": state.distance / steps,
                "duration": state.clock * 1.0,
                "seen": state.watched / steps,
            },
            terms=terms,
        )

    def _store(self, matches: Array, rows: State) -> None:
        """Writes the state of these matches back and updates their observations."""
        self._state.put(matches, rows)
        obs = np.zeros((len(matches), *self._obs.shape[1:]), np.float32)
        self._vision.write_obs(rows, obs)
        self._obs[matches] = obs

    def _match_step(self, result: _StepResult) -> MatchStep:
        """Returns the result of a step of all matches, split by role. The reward of an agent is the sum of
        its terms."""
        ended = self._by_role(result.ended)
        return MatchStep(
            obs=self.obs,
            reward=self._by_role(sum(result.terms.values(), np.zeros(result.ended.shape))),
            terminated=ended,
            truncated=self._by_role(np.zeros_like(result.ended)),
            over=result.over,
            outcome=result.outcome,
            metrics=result.numbers,
            terms={term: self._by_role(reward) for term, reward in result.terms.items()},
        )

    def _by_role(self, agents: Array) -> ByRole:
        """Returns role -> the part of an array [N, K, ...] that belongs to its agents, not copied."""
        return {role: agents[:, seats] for role, seats in self._seats.items()}


@dataclass(frozen=True)
class _StepResult:
    """The result of a step of some matches: [N] per match, [N, K] per agent (`ended` and `terms`)."""

    ended: Array
    over: Array
    outcome: Array
    numbers: dict[str, Array]
    terms: dict[str, Array]

    def among_all(self, matches: Array, n: int) -> _StepResult:
        """Returns the result for all n matches; nothing happened in the matches that were not stepped.
        `matches`: the indices of the stepped ones, to which this result belongs."""

        def padded(column: Array, fill: float = 0) -> Array:
            every = np.full((n, *column.shape[1:]), fill, column.dtype)
            every[matches] = column
            return every

        return _StepResult(
            ended=padded(self.ended),
            over=padded(self.over),
            outcome=padded(self.outcome, UNKNOWN_OUTCOME),
            numbers={name: padded(x) for name, x in self.numbers.items()},
            terms={name: padded(x) for name, x in self.terms.items()},
        )
