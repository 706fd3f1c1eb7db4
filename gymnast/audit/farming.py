"""Tests if a reward term can be farmed: if it pays more to collect the term without winning than to win.

Exploiters (players of the environment that pursue something else than winning) and the run's own policies
play against scripted opponents. So do honest players, which try to win. All totals are discounted as by the
role's learner. A term of a player that does not win is compared with what honest winners got:

    gain       the term's total in matches that the player did not win, minus that of honest winners
    goal       the goal term's total of these winners, minus that of the player
    share      gain / goal

A player that wins a fraction p of its matches by honest play is better off farming if p < share. Self-play
tends toward even matches, so a term counts as farmable from a share of EVEN = 0.5; from 1 on, not even
certain victory is worth it. The verdict uses the lower bound of the share: the low end of the gain's 95 %
interval divided by the high end of the goal's. The bound must hold against every honest player that wins,
because a reward that winners get as well is no reason not to win. A player that wins half of its matches or
more is not farming, whatever it collects on the way.

The verdict is given for each term, and for the sum of all terms except the goal. Potential-based shaping
(`closing`) has the same discounted sum however one plays, so its gain is 0 and it needs no special case;
with a discount other than the learner's the gain is not 0, and the audit shows it.
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
"""Share of the goal's value from which a term counts as farmable."""
HONEST = ("medium", "strong")
"""Scripted players that try to win."""
OPPONENTS = ("medium", "random")
MATCHES = 40
"""Maximum number of matches of each player against each opponent."""
FEWEST = 5
"""Minimum number of matches for a mean."""
TOGETHER = "all but the goal"

Verdict = Literal["sound", "farmable", "unknown"]


class WithExploiters(Matches, Protocol):
    exploiters: Mapping[str, Mapping[str, Scripted]]
    """Players that pursue something else than winning, by role and name."""
    goal: str
    """The term that rewards winning."""


@dataclass(frozen=True)
class Trial:
    """The matches of one player against one opponent."""

    player: str
    opponent: str
    won: Array
    """Whether the player won, [matches]."""
    totals: Mapping[str, Array]
    """Discounted total of each term, averaged over the role's agents, [matches]."""


@dataclass(frozen=True)
class FarmingEvidence:
    """The best result of a player that collects a term without winning; see the module's docstring."""

    player: str
    opponent: str
    honest: str
    """The honest player whose wins it is compared with."""
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
    """None if there were too few matches to compare."""

    @property
    def verdict(self) -> Verdict:
        if self.farmed is None:
            return "unknown"
        return "farmable" if self.farmed.low >= EVEN else "sound"

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"role": self.role, "term": self.term, "verdict": self.verdict}
        if self.farmed is None:
            return found
        names = {key: value for key, value in vars(self.farmed).items() if isinstance(value, str)}
        gain, goal = vars(self.farmed.gain), vars(self.farmed.goal)
        bounds = {"share": self.farmed.share, "low": self.farmed.low}
        return found | names | {"gain": gain, "goal": goal} | bounds


def can_be_tried(matches: Matches) -> TypeGuard[WithExploiters]:
    """True if the environment has exploiters and exactly two roles."""
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
    """Returns the verdict on every term of a role; nothing if the environment has no exploiters. `open_(n)`
    creates n matches; `own` are further players of the role that may farm."""
    with closing(open_(1)) as one:
        if not can_be_tried(one):
            return []
        goal = one.goal
        farmers = {name: scripted_player(rules) for name, rules in one.exploiters[role].items()}
    farmers |= own or {}
    trials = play_trials(open_, role, farmers, discount=discount, seed=seed, n=n)
    honest = [trial for trial in trials if trial.player in HONEST]
    return judge(role, goal, [trial for trial in trials if trial.player in farmers], honest)


def play_trials(
    open_: Callable[[int], Matches],
    role: str,
    farmers: Mapping[str, Player],
    *,
    discount: float,
    seed: int,
    n: int,
) -> list[Trial]:
    """Plays farmers and honest players against every opponent, n matches each, on the same seeds. All players
    are stepped in one batch, which is far faster than one player after the other."""
    seeds = [episode_seed(seed, "audit", i) for i in range(n)]
    found: list[Trial] = []
    with closing(open_(n * (len(farmers) + len(HONEST)))) as matches:
        scripted = matches.scripted
        (other,) = (name for name in matches.roles if name != role)
        players = {**farmers, **{name: scripted_player(scripted[role][name]) for name in HONEST}}
        for opponent in OPPONENTS:
            opposing = scripted_player(scripted[other][opponent])
            sides = {role: side_by_side([*players.values()]), other: opposing}
            names = {role: "several", other: opponent}
            played = play_matches(matches, sides, names, seeds * len(players))
            for i, player in enumerate(players):
                block = played[i * n : (i + 1) * n]
                won = np.array([match.end.winner == role for match in block])
                rewards = per_step(block, role).items()
                totals = {term: discounted(steps, discount) for term, steps in rewards}
                found.append(Trial(player, opponent, won, totals))
    return found


def judge(
    role: str, goal: str, farmers: Sequence[Trial], honest: Sequence[Trial]
) -> list[TermVerdict]:
    """Returns the verdict on each term and on their sum; `farmers` may farm, `honest` players try to win."""
    terms = [term for term in farmers[0].totals if term != goal]
    found = [
        TermVerdict(role, term, _best_farmer(_total(term), goal, farmers, honest)) for term in terms
    ]

    def together(trial: Trial) -> Array:
        return sum((trial.totals[term] for term in terms), np.zeros(len(trial.won)))

    return [*found, TermVerdict(role, TOGETHER, _best_farmer(together, goal, farmers, honest))]


def _best_farmer(
    total: Callable[[Trial], Array], goal: str, farmers: Sequence[Trial], honest: Sequence[Trial]
) -> FarmingEvidence | None:
    """Returns the farmer with the highest lower bound, each compared with its least favorable winner."""
    found: list[FarmingEvidence] = []
    for farmer in farmers:
        not_won = ~farmer.won
        if farmer.won.mean() >= EVEN or not_won.sum() < FEWEST:
            continue
        comparisons = [
            FarmingEvidence(
                farmer.player,
                farmer.opponent,
                winner.player,
                gain=difference(total(farmer)[not_won], total(winner)[winner.won]),
                goal=difference(winner.totals[goal][winner.won], farmer.totals[goal][not_won]),
            )
            for winner in honest
            if winner.opponent == farmer.opponent and winner.won.sum() >= FEWEST
        ]
        if comparisons:
            found.append(min(comparisons, key=_bound))
    return max(found, key=_bound, default=None)


def difference(a: Array, b: Array) -> Interval:
    """Returns the 95 % interval of the difference of two means, as in Welch's test, but with the degrees of
    freedom of the smaller sample, which is conservative."""
    mean = float(a.mean() - b.mean())
    error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    half = t_quantile(min(len(a), len(b)) - 1) * error
    return Interval(mean, mean - half, mean + half)


def _share(gain: float, goal: float) -> float:
    """Returns gain / goal; if winning is worth nothing, any gain outweighs it."""
    if goal > 0:
        return gain / goal
    return math.inf if gain > 0 else 0.0


def _bound(farmed: FarmingEvidence) -> tuple[float, float]:
    return farmed.low, farmed.share


def _total(term: str) -> Callable[[Trial], Array]:
    return lambda trial: trial.totals[term]


def side_by_side(players: Sequence[Player]) -> Player:
    """Returns a player that splits the seats into equal parts, in order, one for each of these players."""

    def play(obs: Array, noise: Array, uniform: Array) -> Array:
        parts = (np.split(x, len(players)) for x in (obs, noise, uniform))
        return np.concatenate(
            [player(*part) for player, part in zip(players, zip(*parts, strict=True), strict=True)]
        )

    return play
