"""Tag: seekers chase hiders on a field with walls, each seeing only what is before it.

All matches are stepped at once, in NumPy. A match ends when every hider is tagged, or when its time is
up: that is the rule of the game and everybody sees the time left, so it is an end and not a cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gymnast.envs.backends.backend import Fault
from gymnast.envs.matches.matches import UNKNOWN, ByRole, MatchStep, Role, Scripted
from gymnast.envs.matches.tag import layout, motion
from gymnast.envs.matches.tag.exploiters import EXPLOITERS
from gymnast.envs.matches.tag.rewards import GOAL, Rewards, StepEvents, Weights
from gymnast.envs.matches.tag.rules import (
    DASHES,
    HIDER,
    OUTCOMES,
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
from gymnast.envs.matches.tag.sight import SPACE, Vision, between_sides
from gymnast.envs.matches.tag.state import State, blank
from gymnast.errors import ConfigError
from gymnast.spaces.spaces import MultiDiscreteAction

Array = np.ndarray

ACTION = MultiDiscreteAction((3,), (TURNS, THRUSTS, DASHES), (0, 0, 0))
"""Left, straight, right; backward, coast, forward; dash or not."""
_SLOWEST, _QUICKEST = 0.25, 4.0


class TagMatches:
    restore: Literal["state", "replay", "none"] = "state"
    outcomes: Mapping[str, str] = OUTCOMES
    scripted: Mapping[str, Mapping[str, Scripted]] = SCRIPTED
    exploiters: Mapping[str, Mapping[str, Scripted]] = EXPLOITERS
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
        """`terms`: role -> reward term -> weight, over the usual ones (`rewards.py`); `discount`: of
        whoever learns, for the potential; `handicaps`: role -> factor of its speeds."""
        counts = {"n_matches": n_matches, "seekers": seekers, "hiders": hiders}
        for what, count in (counts | {"time_limit": time_limit}).items():
            if count < 1:
                raise ConfigError(f"tag: {what} is {count}", fix="it must be 1 or more")
        self.name, self.n_matches = "tag", n_matches
        self.time_limit: int | None = time_limit
        self.has_default_limit = False
        self._limit = time_limit
        self.roles: Mapping[str, Role] = {
            role: Role(count, SPACE, ACTION)
            for role, count in zip(ROLES, (seekers, hiders), strict=True)
        }
        self._seekers, self._hiders = seekers, hiders
        self._seats = {SEEKER: slice(0, seekers), HIDER: slice(seekers, seekers + hiders)}
        self._top = motion.top_speed(seekers, hiders)
        self._eyes = Vision(seekers, hiders, time_limit)
        self._rewards = Rewards(seekers, hiders, time_limit, discount, terms or {})
        self._factor = np.ones(len(ROLES))
        for role, factor in (handicaps or {}).items():
            self.handicap(role, factor)
        self._state = blank(n_matches, seekers + hiders)
        self._seen = np.zeros((n_matches, seekers + hiders, SPACE.size), np.float32)
        self.obs: ByRole = self._by_role(self._seen)

    def handicap(self, role: str, factor: float) -> None:
        """Speeds of a role in matches that begin from now on."""
        if role not in ROLES:
            raise ConfigError(f"tag has no role {role!r}", fix=f"one of {', '.join(ROLES)}")
        if not _SLOWEST <= factor <= _QUICKEST:
            what = f"tag: the handicap of the {role} is {factor}"
            raise ConfigError(what, fix=f"a factor of its speeds, {_SLOWEST} to {_QUICKEST}")
        self._factor[ROLES.index(role)] = factor

    def weigh(self, role: str, weights: Mapping[str, float]) -> None:
        """Other weights of reward terms, from the next step on."""
        self._rewards.weigh(role, weights)

    def reset(self, matches: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        if not len(matches):
            return ()
        agents = self._seekers + self._hiders
        drawn, begun = layout.drawn(seeds, self._seekers, self._hiders), blank(len(matches), agents)
        begun.middle, begun.half = drawn.middle, drawn.half
        begun.position, begun.heading = drawn.position, drawn.heading
        begun.in_play[:] = True
        begun.pace[:] = np.repeat(self._factor, (self._seekers, self._hiders))
        self._eyes.look(begun, *between_sides(begun.position, self._seekers))
        self._keep(np.asarray(matches, int), begun)
        return ()

    def step(self, actions: ByRole, matches: Sequence[int] | None = None) -> MatchStep:
        action = np.concatenate([actions[role] for role in ROLES], axis=1)
        if matches is None:
            told = self._advance(self._state, action)
            self._eyes.show(self._state, self._seen)
            return self._step(told)
        chosen = np.asarray(matches, int)
        rows = self._state.rows(chosen)
        told = self._advance(rows, action[chosen])
        self._keep(chosen, rows)
        return self._step(told.spread(chosen, self.n_matches))

    def state(self) -> dict[str, Array]:
        settings = {"handicap": self._factor, "weight": self._rewards.weight}
        return {name: x.copy() for name, x in (self._state.columns() | settings).items()}

    def load(self, arrays: Mapping[str, Array]) -> None:
        self._state.load(arrays)
        self._factor[:] = arrays["handicap"]
        self._rewards.weight[:] = arrays["weight"]
        self._eyes.show(self._state, self._seen)

    @property
    def colours(self) -> Mapping[str, tuple[int, int, int]]:
        """Of the roles in a picture."""
        from gymnast.envs.matches.tag.drawing import COLOUR

        return COLOUR

    def draw(self, match: int) -> Array:
        from gymnast.envs.matches.tag.drawing import picture

        return picture(self._state.rows(np.array([match])), self._seekers, self._limit)

    def close(self) -> None:
        pass

    def _advance(self, state: State, action: Array) -> _Told:
        s = self._seekers
        played, nearest_before = state.in_play, state.nearest
        running = played.any(1)
        motion.move(state, action, self._top)
        state.clock = state.clock + running
        line, distance = between_sides(state.position, s)
        hunted = played[:, :s, None] & played[:, None, s:]
        tagged = np.any((distance <= REACH) & hunted, axis=1)
        left = played[:, s:] & ~tagged
        caught = running & ~left.any(1)
        late = running & ~caught & (state.clock >= self._limit)
        over = caught | late
        state.in_play = played & ~over[:, None]
        state.in_play[:, s:] &= ~tagged
        state.tagged[:, s:] |= tagged

        found = self._eyes.look(state, line, distance)
        between = np.where(hunted, distance, np.inf).min((1, 2))
        state.distance = state.distance + np.where(running, between, 0.0)
        state.watched = state.watched + (found.any((1, 2)) | tagged.any(1))
        ended = played & ~state.in_play
        terms = self._rewards.terms(
            StepEvents(
                played=played,
                ended=ended,
                tagged=tagged,
                lasted=left & late[:, None],
                nearest_before=nearest_before,
                nearest=state.nearest,
                seeing=state.seen_now,
                velocity=state.velocity / self._top[:, None],
            )
        )
        steps = np.maximum(state.clock, 1)
        return _Told(
            ended=ended,
            over=over,
            outcome=np.where(over, np.where(caught, TAG, TIMEOUT), UNKNOWN),
            numbers={
                "distance": state.distance / steps,
                "duration": state.clock * 1.0,
                "seen": state.watched / steps,
            },
            terms=terms,
        )

    def _keep(self, matches: Array, rows: State) -> None:
        """Put these back, and what they show."""
        self._state.put(matches, rows)
        seen = np.zeros((len(matches), *self._seen.shape[1:]), np.float32)
        self._eyes.show(rows, seen)
        self._seen[matches] = seen

    def _step(self, told: _Told) -> MatchStep:
        ended = self._by_role(told.ended)
        return MatchStep(
            obs=self.obs,
            reward=self._by_role(sum(told.terms.values(), np.zeros(told.ended.shape))),
            terminated=ended,
            truncated=self._by_role(np.zeros_like(told.ended)),
            over=told.over,
            outcome=told.outcome,
            numbers=told.numbers,
            terms={term: self._by_role(paid) for term, paid in told.terms.items()},
        )

    def _by_role(self, agents: Array) -> ByRole:
        return {role: agents[:, seats] for role, seats in self._seats.items()}


@dataclass(frozen=True)
class _Told:
    """What a step of some matches came to, [N] or [N, K]."""

    ended: Array
    over: Array
    outcome: Array
    numbers: dict[str, Array]
    terms: dict[str, Array]

    def spread(self, matches: Array, n: int) -> _Told:
        """The same of all matches, where nothing happened in the others."""

        def among_all(of: Array, nothing: float = 0) -> Array:
            whole = np.full((n, *of.shape[1:]), nothing, of.dtype)
            whole[matches] = of
            return whole

        return _Told(
            ended=among_all(self.ended),
            over=among_all(self.over),
            outcome=among_all(self.outcome, UNKNOWN),
            numbers={name: among_all(x) for name, x in self.numbers.items()},
            terms={name: among_all(x) for name, x in self.terms.items()},
        )
