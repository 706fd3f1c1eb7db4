"""Whether a reward term can be farmed: collected by whoever does not win until winning is not worth it.

Players that go after something else than winning (`exploiters` of the environment, and the run's own
policies) play against scripted opponents; so do honest players, which try to win. Everything is added
up as the role's learner does, with its discount. A term of a player that does not win is compared with
what winners got:

    gain       its total in matches that the player did not win, minus that of honest winners
    goal       what the goal term paid these winners, minus what it paid the player
    share      gain / goal

Whoever wins a share p of its matches by honest play is better off farming where p < share. Self-play
tends to even matches, so a term is farmable from a share of EVEN = 0.5 on; from 1 on even certain
victory is not worth it. What counts is the lower bound of the share: the low end of the gain's 95 %
interval over the high end of the goal's. It must hold against every honest player that wins: what a
winner gets as well is no reason not to win. A player that wins half of its matches or more farms
nothing, whatever it collects on the way.

That is decided for each term, and for all terms but the goal together. A potential (`closing`) comes to
the same discounted sum however one plays, so its gain is 0 and no test of its form is needed; with a
discount other than the learner's it is not, and shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeGuard

import numpy as np

from gymnast.audit.totals import discounted, per_step
from gymnast.collect.casting import Player, scripted_player
from gymnast.envs.matches.matches import Matches, Scripted
from gymnast.rl.statistics import Interval, t_quantile
from gymnast.seeds import episode_seed
from gymnast.selfplay.play import play_matches

Array = np.ndarray

EVEN = 0.5
"""Share from which a term counts as farmable."""
HONEST = ("medium", "strong")
"""Scripted players that try to win."""
OPPONENTS = ("medium", "random")
MATCHES = 40
"""Of each player against each opponent, at most."""
FEWEST = 5
"""Matches that a mean is taken of, at least."""
TOGETHER = "all but the goal"

Verdict = Literal["sound", "farmable", "unknown"]


class WithExploiters(Matches, Protocol):
    exploiters: Mapping[str, Mapping[str, Scripted]]
    """Role -> players that go after something else than winning, by name."""
    goal: str
    """The term that pays for winning."""


@dataclass(frozen=True)
class Trial:
    """One player against one opponent."""

    player: str
    opponent: str
    won: Array
    """[matches]"""
    totals: Mapping[str, Array]
    """Term -> discounted total of each match, mean over the role's agents."""


@dataclass(frozen=True)
class FarmingEvidence:
    """The most that a player which does not win made of a term."""

    player: str
    opponent: str
    honest: str
    """The winner that it is compared with."""
    gain: Interval
    goal: Interval

    @property
    def share(self) -> float:
        return _share(self.gain.mean, self.goal.mean)

    @property
    def low(self) -> float:
        return _share(self.gain.low, self.goal.high)


@dataclass(frozen=True)
class TermVerdict:
    role: str
    term: str
    farmed: FarmingEvidence | None
    """None where nobody could be compared."""

    @property
    def verdict(self) -> Verdict:
        if self.farmed is None:
            return "unknown"
        return "farmable" if self.farmed.low >= EVEN else "sound"

    def plain(self) -> dict[str, Any]:
        found: dict[str, Any] = {"role": self.role, "term": self.term, "verdict": self.verdict}
        if self.farmed is None:
            return found
        more = {key: value for key, value in vars(self.farmed).items() if isinstance(value, str)}
        gain, goal = vars(self.farmed.gain), vars(self.farmed.goal)
        ends = {"share": self.farmed.share, "low": self.farmed.low}
        return found | more | {"gain": gain, "goal": goal} | ends


def can_be_tried(matches: Matches) -> TypeGuard[WithExploiters]:
    """Whether there is somebody who tries to farm, and two sides of which one wins."""
    return len(matches.roles) == 2 and bool(getattr(matches, "exploiters", {}))


def farm(
    open_: Callable[[int], Matches],
    role: str,
    *,
    discount: float,
    seed: int,
    own: Mapping[str, Player] | None = None,
    n: int = MATCHES,
) -> list[TermVerdict]:
    """Every term of a role, where it can be tried. `open_`: so many matches; `own`: more players of the
    role that may farm."""
    with closing(open_(1)) as one:
        if not can_be_tried(one):
            return []
        goal = one.goal
        farmers = {name: scripted_player(rules) for name, rules in one.exploiters[role].items()}
    farmers |= own or {}
    tried = tries(open_, role, farmers, discount=discount, seed=seed, n=n)
    honest = [one for one in tried if one.player in HONEST]
    return judged(role, goal, [one for one in tried if one.player in farmers], honest)


def tries(
    open_: Callable[[int], Matches],
    role: str,
    farmers: Mapping[str, Player],
    *,
    discount: float,
    seed: int,
    n: int,
) -> list[Trial]:
    """These and honest players against every opponent, n matches each, on the same seeds. All play at
    once, which is far quicker than one after the other."""
    seeds = [episode_seed(seed, "audit", i) for i in range(n)]
    found: list[Trial] = []
    with closing(open_(n * (len(farmers) + len(HONEST)))) as matches:
        scripted = matches.scripted
        (other,) = (name for name in matches.roles if name != role)
        players = {**farmers, **{name: scripted_player(scripted[role][name]) for name in HONEST}}
        for opponent in OPPONENTS:
            rival = scripted_player(scripted[other][opponent])
            sides = {role: side_by_side([*players.values()]), other: rival}
            names = {role: "several", other: opponent}
            played = play_matches(matches, sides, names, seeds * len(players))
            for place, player in enumerate(players):
                block = played[place * n : (place + 1) * n]
                won = np.array([match.end.winner == role for match in block])
                paid = per_step(block, role).items()
                added = {term: discounted(steps, discount) for term, steps in paid}
                found.append(Trial(player, opponent, won, added))
    return found


def judged(
    role: str, goal: str, tried: Sequence[Trial], honest: Sequence[Trial]
) -> list[TermVerdict]:
    """`tried`: those who may farm; `honest`: those who try to win."""
    terms = [term for term in tried[0].totals if term != goal]
    found = [TermVerdict(role, term, _most(_total(term), goal, tried, honest)) for term in terms]

    def together(one: Trial) -> Array:
        return sum((one.totals[term] for term in terms), np.zeros(len(one.won)))

    return [*found, TermVerdict(role, TOGETHER, _most(together, goal, tried, honest))]


def _most(
    total: Callable[[Trial], Array], goal: str, tried: Sequence[Trial], honest: Sequence[Trial]
) -> FarmingEvidence | None:
    found: list[FarmingEvidence] = []
    for one in tried:
        if one.won.mean() >= EVEN or (~one.won).sum() < FEWEST:
            continue
        beside = [
            FarmingEvidence(
                one.player,
                one.opponent,
                winner.player,
                gain=difference(total(one)[~one.won], total(winner)[winner.won]),
                goal=difference(winner.totals[goal][winner.won], one.totals[goal][~one.won]),
            )
            for winner in honest
            if winner.opponent == one.opponent and winner.won.sum() >= FEWEST
        ]
        if beside:
            found.append(min(beside, key=_bound))
    return max(found, key=_bound, default=None)


def difference(a: Array, b: Array) -> Interval:
    """Of two means, by Welch, with the degrees of freedom of the smaller sample."""
    mean = float(a.mean() - b.mean())
    error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    half = t_quantile(min(len(a), len(b)) - 1) * error
    return Interval(mean, mean - half, mean + half)


def _share(gain: float, goal: float) -> float:
    """Where the goal pays nothing for winning, whatever is gained outweighs it."""
    if goal > 0:
        return gain / goal
    return math.inf if gain > 0 else 0.0


def _bound(farmed: FarmingEvidence) -> tuple[float, float]:
    return farmed.low, farmed.share


def _total(term: str) -> Callable[[Trial], Array]:
    return lambda one: one.totals[term]


def side_by_side(players: Sequence[Player]) -> Player:
    """One that gives each of these an equal part of the seats, in order."""

    def play(obs: Array, noise: Array, even: Array) -> Array:
        parts = (np.split(x, len(players)) for x in (obs, noise, even))
        return np.concatenate(
            [player(*part) for player, part in zip(players, zip(*parts, strict=True), strict=True)]
        )

    return play
