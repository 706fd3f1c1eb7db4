"""A small deterministic game of foxes and hens, for tests of everything that plays matches.

Everything in a match is a function of its seed and the actions. The rules are pure functions here, so that
tests can compute the expected results without running the matches; `Coop` implements the game.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from gymnast.collect.matchmaking import LEARNER, Player
from gymnast.config.sections.normalize import NormalizeConfig
from gymnast.config.sections.policy import PolicyConfig
from gymnast.envs.backends.backend import Fault
from gymnast.envs.matches.matches import UNKNOWN_OUTCOME, ByRole, MatchStep, Role
from gymnast.policy.policy import Policy
from gymnast.spaces.spaces import BoxAction, BoxObs, DiscreteAction

Array = np.ndarray
Seat = tuple[str, int]

FOX, HEN = "fox", "hen"
ROLES = {
    FOX: Role(2, BoxObs((3,), (-9.0,) * 3, (9.0,) * 3), DiscreteAction(3, 1)),
    HEN: Role(3, BoxObs((2,), (-9.0,) * 2, (9.0,) * 2), BoxAction((1,), (-0.5,), (0.5,))),
}
SEATS: list[Seat] = [(role, seat) for role, kind in ROLES.items() for seat in range(kind.seats)]
OUTCOMES = {"eaten": FOX, "fled": HEN, "tired": ""}
LIMIT = 9
"""Number of steps after which the remaining agents are truncated."""
BREAKS_AT = 3


def first_memory(seed: int) -> int:
    return seed % 97


def next_memory(memory: int, done: Mapping[Seat, float]) -> int:
    """Returns the memory after a step; `done` are the actions of the agents in play."""
    code = sum((place + 1) * int(np.floor(40 * done[seat])) for place, seat in enumerate(done))
    return (31 * memory + code + 5) % 997


def obs_of(seat: Seat, memory: int, t: int) -> Array:
    role, place = seat
    return np.array([memory / 200 - 2, t / 4 - place, place - 1.0][: ROLES[role].obs.size], "f4")


def reward_of(seat: Seat, memory: int, t: int) -> float:
    return memory / 100 + t + (10 if seat[0] == FOX else -10) * (seat[1] + 1)


def end_of(seat: Seat, seed: int) -> tuple[int, bool, bool]:
    """Returns an agent's last step, whether it terminates there, and whether it is truncated there."""
    place = SEATS.index(seat)
    step = 2 + seed // 3 ** (place + 1) % 11
    if step >= LIMIT:
        return LIMIT, False, True
    how = (seed >> place) % 3
    return step, how != 1, how != 0


def length_of(seed: int) -> int:
    return max(end_of(seat, seed)[0] for seat in SEATS)


def outcome_of(seed: int) -> int:
    return (UNKNOWN_OUTCOME, 0, 1, 2)[seed % 4]


def has_fault(seed: int) -> bool:
    return seed % 7 == 0


class Coop:
    """Matches of the game, which record every agent's step: (seed, step, seat) -> (obs, action)."""

    name, time_limit, has_default_limit = "coop", LIMIT, False
    outcomes, scripted = OUTCOMES, {}
    inactive_reward = 0.0
    """Reward returned for agents out of play."""

    def __init__(
        self,
        n_matches: int,
        restore: Literal["state", "replay", "none"] = "state",
        *,
        faulty: bool = False,
    ) -> None:
        self.n_matches, self.restore, self.roles, self.faulty = n_matches, restore, ROLES, faulty
        self.seed, self.memory, self.t = (np.zeros(n_matches, int) for _ in range(3))
        self.obs: ByRole = {
            role: np.zeros((n_matches, kind.seats, kind.obs.size), "f4")
            for role, kind in ROLES.items()
        }
        self.recorded_steps: dict[tuple[int, int, Seat], tuple[Array, Array]] = {}

    def reset(self, matches: Sequence[int], seeds: Sequence[int]) -> tuple[Fault, ...]:
        for match, seed in zip(matches, seeds, strict=True):
            self.seed[match], self.t[match] = seed, 0
            self.memory[match] = first_memory(seed)
            self._show(match)
        return ()

    def step(self, actions: ByRole, matches: Sequence[int] | None = None) -> MatchStep:
        n = self.n_matches
        shapes = {role: (n, kind.seats) for role, kind in ROLES.items()}
        reward = {role: np.full(shape, self.inactive_reward) for role, shape in shapes.items()}
        terminated, truncated = (
            {role: np.zeros(shape, bool) for role, shape in shapes.items()} for _ in range(2)
        )
        over, outcome = np.zeros(n, bool), np.full(n, UNKNOWN_OUTCOME)
        faults: list[Fault] = []
        for match in range(n) if matches is None else matches:
            seed, t = int(self.seed[match]), int(self.t[match]) + 1
            playing = [seat for seat in SEATS if t <= end_of(seat, seed)[0]]
            assert playing, "a match that is over was stepped"
            given = {(role, place): actions[role][match, place] for role, place in playing}
            for (role, place), action in given.items():
                shown = self.obs[role][match, place].copy()
                self.recorded_steps[seed, t, (role, place)] = shown, np.array(action)
            self.memory[match] = next_memory(
                int(self.memory[match]), {seat: float(np.ravel(a)[0]) for seat, a in given.items()}
            )
            self.t[match] = t
            for seat in playing:
                role, place = seat
                reward[role][match, place] = reward_of(seat, int(self.memory[match]), t)
                if t == end_of(seat, seed)[0]:
                    _, terminated[role][match, place], truncated[role][match, place] = end_of(
                        seat, seed
                    )
            over[match] = t == length_of(seed)
            outcome[match] = outcome_of(seed)
            if self.faulty and has_fault(seed) and t == BREAKS_AT:
                faults.append(Fault(match, t, "the fence broke"))
            self._show(match)
        numbers = {"memory": self.memory.astype(float)}
        return MatchStep(
            self.obs, reward, terminated, truncated, over, outcome, numbers, faults=tuple(faults)
        )

    def state(self) -> dict[str, Array]:
        assert self.restore == "state"
        return {name: getattr(self, name).copy() for name in ("seed", "memory", "t")}

    def load(self, arrays: Mapping[str, Array]) -> None:
        assert self.restore == "state"
        for name in ("seed", "memory", "t"):
            getattr(self, name)[:] = arrays[name]
        for match in range(self.n_matches):
            self._show(match)

    def draw(self, match: int) -> Array:
        return np.full((4, 6, 3), match, np.uint8)

    def close(self) -> None: ...

    def _show(self, match: int) -> None:
        seed, memory, t = int(self.seed[match]), int(self.memory[match]), int(self.t[match])
        for seat in SEATS:
            alive = t <= end_of(seat, seed)[0]  # the final observation is still returned
            self.obs[seat[0]][match, seat[1]] = obs_of(seat, memory, t) if alive else 8.0


class RewardsInactive(Coop):
    """Returns a huge reward for agents out of play, which must be ignored."""

    inactive_reward = 1e6


class ScriptedCasting:
    """Casts an opponent in some of the matches: foxes play by rules, hens at random."""

    def cast(self, match: int, number: int) -> dict[str, str]:
        fox, hen = ((LEARNER, LEARNER), ("rules", LEARNER), (LEARNER, "luck"))[(match + number) % 3]
        return {FOX: fox, HEN: hen}

    def player(self, role: str, name: str) -> Player:
        assert (role, name) in ((FOX, "rules"), (HEN, "luck"))
        return scripted_fox if role == FOX else random_hen


def scripted_fox(obs: Array, _: Array, uniform: Array) -> Array:
    return 1 + np.where(uniform < 0.5, obs[:, 0] > 0, 2).astype(np.int64)


def random_hen(obs: Array, noise: Array, _: Array) -> Array:
    return np.clip(noise.reshape(len(obs), 1) / 4, -0.5, 0.5).astype(np.float32)


def make_policies(roles: Sequence[str] = tuple(ROLES)) -> dict[str, Policy]:
    """Returns a policy for each of these roles."""
    found: dict[str, Policy] = {}
    for role in roles:
        kind = ROLES[role]
        policy = Policy(kind.obs, kind.action, PolicyConfig(hidden=(8,)), NormalizeConfig())
        policy.initialize(0, role)
        policy.parameters.flat *= 3  # so that values and probabilities differ between states
        found[role] = policy
    return found
