"""Tests if a reward term can be farmed: if it pays more to collect the term without winning than to win.

Exploiters (players of the environment that pursue something else than winning) and the run's own policies
play against scripted opponents. So do honest players, which try to win. All totals are discounted as by the
role's learner. A term of a player that does not win is compared with what honest winners got:

    gain       the term's total in matches that the player did not win, minus that of honest winners
    goal       the goal term's total of these winners, minus that of the player
    share      gain / goal

A player that wins a fraction p of its matches by honest play is better off farming if p < share. Self-play
tends toward even matches, so a term counts as farmable from a share of 0.5 (FARMABLE_SHARE); from 1 on, not
even certain victory is worth it. The verdict uses the lower bound of the share: the low end of the gain's
95 % interval divided by the high end of the goal's. The bound must hold against every honest player that
wins, because a reward that winners get as well is no reason not to win. A player that wins half of its
matches or more is not farming, whatever it collects on the way.

The verdict is given for each term, and for the sum of all terms except the goal. Potential-based shaping
(`closing`) has the same discounted sum however one plays, so its gain is 0 and it needs no special case;
with a discount other than the learner's the gain is not 0, and the audit shows it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np

from gymnast.audit.record import FarmedTerm, Verdict
from gymnast.audit.totals import discounted_sums, rewards_by_term
from gymnast.collect.matchmaking import MemoryPlayer, Player, scripted_player
from gymnast.envs.matches.matches import Matches, ScriptedPolicy
from gymnast.rl.interval import Interval
from gymnast.rl.statistics import t_quantile
from gymnast.seeds import episode_seed
from gymnast.selfplay.play import play_matches

Array = np.ndarray

FARMABLE_SHARE = 0.5
"""Share of the goal's value from which a term counts as farmable."""
HONEST = ("medium", "strong")
"""Scripted players that try to win."""
OPPONENTS = ("medium", "random")
MATCHES = 40
"""Maximum number of matches of each player against each opponent."""
MIN_MATCHES = 5
"""Minimum number of matches for a mean."""
ALL_TERMS = "all but the goal"


class ExploitableMatches(Matches, Protocol):
    exploiters: Mapping[str, Mapping[str, ScriptedPolicy]]
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
    def share_low(self) -> float:
        return _share(self.gain.low, self.goal.high)


@dataclass(frozen=True)
class TermVerdict:
    role: str
    term: str
    evidence: FarmingEvidence | None
    """None if there were too few matches to compare."""

    @property
    def verdict(self) -> Verdict:
        if self.evidence is None:
            return "unknown"
        return "farmable" if self.evidence.share_low >= FARMABLE_SHARE else "sound"

    def record(self) -> FarmedTerm:
        """Returns the verdict and, if there were enough matches, the evidence for it."""
        evidence = self.evidence
        if evidence is None:
            return FarmedTerm(self.role, self.term, self.verdict)
        return FarmedTerm(
            role=self.role,
            term=self.term,
            verdict=self.verdict,
            player=evidence.player,
            opponent=evidence.opponent,
            honest=evidence.honest,
            gain=evidence.gain,
            goal=evidence.goal,
            share=evidence.share,
            low=evidence.share_low,
        )


def has_exploiters(matches: Matches) -> TypeGuard[ExploitableMatches]:
    """True if the environment has exploiters and exactly two roles."""
    return len(matches.roles) == 2 and bool(getattr(matches, "exploiters", {}))


def audit_terms(
    make_matches: Callable[[int], Matches],
    role: str,
    *,
    discount: float,
    seed: int,
    own_players: Mapping[str, Player] | None = None,
    n_matches: int = MATCHES,
) -> list[TermVerdict]:
    """Returns the verdict on every term of a role; nothing if the environment has no exploiters.
    `make_matches(n)` creates n matches; `own_players` are further players of the role that may farm."""
    with closing(make_matches(1)) as one:  # only to read what the environment declares
        if not has_exploiters(one):
            return []
        goal = one.goal
        farmers: dict[str, Player] = {
            name: scripted_player(rules) for name, rules in one.exploiters[role].items()
        }
    farmers |= own_players or {}
    trials = play_trials(
        make_matches, role, farmers, discount=discount, seed=seed, n_matches=n_matches
    )
    honest = [trial for trial in trials if trial.player in HONEST]
    return judge_trials(role, goal, [trial for trial in trials if trial.player in farmers], honest)


def play_trials(
    make_matches: Callable[[int], Matches],
    role: str,
    farmers: Mapping[str, Player],
    *,
    discount: float,
    seed: int,
    n_matches: int,
) -> list[Trial]:
    """Plays farmers and honest players against every opponent, n matches each, on the same seeds. All players
    are stepped in one batch, which is far faster than one player after the other."""
    seeds = [episode_seed(seed, "audit", i) for i in range(n_matches)]
    trials: list[Trial] = []
    with closing(make_matches(n_matches * (len(farmers) + len(HONEST)))) as matches:
        scripted = matches.scripted
        (other,) = (name for name in matches.roles if name != role)
        players = {**farmers, **{name: scripted_player(scripted[role][name]) for name in HONEST}}
        for opponent in OPPONENTS:
            opposing = scripted_player(scripted[other][opponent])
            sides = {role: combine_players([*players.values()]), other: opposing}
            names = {role: "several", other: opponent}
            played = play_matches(matches, sides, names, seeds * len(players))
            # Matches are in blocks of n_matches per player, in the order of `players`.
            for i, player in enumerate(players):
                block = played[i * n_matches : (i + 1) * n_matches]
                won = np.array([match.end.winner == role for match in block])
                rewards = rewards_by_term(block, role).items()
                totals = {term: discounted_sums(steps, discount) for term, steps in rewards}
                trials.append(Trial(player, opponent, won, totals))
    return trials


def judge_trials(
    role: str, goal: str, farmers: Sequence[Trial], honest: Sequence[Trial]
) -> list[TermVerdict]:
    """Returns the verdict on each term and on their sum; `farmers` may farm, `honest` players try to win."""
    terms = [term for term in farmers[0].totals if term != goal]
    verdicts = [
        TermVerdict(role, term, _best_farmer(_total(term), goal, farmers, honest)) for term in terms
    ]

    def all_terms(trial: Trial) -> Array:
        return sum((trial.totals[term] for term in terms), np.zeros(len(trial.won)))

    # Two terms may each be sound, and still pay more than winning together.
    together = TermVerdict(role, ALL_TERMS, _best_farmer(all_terms, goal, farmers, honest))
    return [*verdicts, together]


def _best_farmer(
    total: Callable[[Trial], Array], goal: str, farmers: Sequence[Trial], honest: Sequence[Trial]
) -> FarmingEvidence | None:
    """Returns the farmer with the highest lower bound, each compared with its least favorable
    winner; None if no farmer has enough matches, or no honest player enough wins. `total`: trial ->
    the total of the judged term in each match, [matches]."""
    evidence: list[FarmingEvidence] = []
    for farmer in farmers:
        # Only matches that it did not win count: a term collected on the way to a win is no farming.
        not_won = ~farmer.won
        if farmer.won.mean() >= FARMABLE_SHARE or not_won.sum() < MIN_MATCHES:
            continue
        comparisons = [
            FarmingEvidence(
                farmer.player,
                farmer.opponent,
                winner.player,
                gain=welch_interval(total(farmer)[not_won], total(winner)[winner.won]),
                goal=welch_interval(winner.totals[goal][winner.won], farmer.totals[goal][not_won]),
            )
            for winner in honest
            if winner.opponent == farmer.opponent and winner.won.sum() >= MIN_MATCHES
        ]
        if comparisons:
            evidence.append(min(comparisons, key=_bound))
    return max(evidence, key=_bound, default=None)


def welch_interval(a: Array, b: Array) -> Interval:
    """Returns the 95 % interval of the difference of two means, as in Welch's test, but with the degrees of
    freedom of the smaller sample, which is conservative."""
    mean = float(a.mean() - b.mean())
    error = math.sqrt(a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b))
    # Welch's own degrees of freedom are between min(n) - 1 and n1 + n2 - 2.
    half = t_quantile(min(len(a), len(b)) - 1) * error
    return Interval(mean, mean - half, mean + half)


def _share(gain: float, goal: float) -> float:
    """Returns gain / goal; if winning is worth nothing, any gain outweighs it."""
    if goal > 0:
        return gain / goal
    return math.inf if gain > 0 else 0.0


def _bound(evidence: FarmingEvidence) -> tuple[float, float]:
    return evidence.share_low, evidence.share  # the share decides between equal bounds


def _total(term: str) -> Callable[[Trial], Array]:
    return lambda trial: trial.totals[term]


def combine_players(players: Sequence[Player]) -> Player:
    """Returns a player that splits the seats into equal parts, in order, one for each of these players."""

    def play(obs: Array, noise: Array, uniform: Array, state: Array) -> Array:
        parts = zip(*(np.split(x, len(players)) for x in (obs, noise, uniform, state)), strict=True)
        return np.concatenate(
            [_act(player, *part) for player, part in zip(players, parts, strict=True)]
        )

    widest = max((p.state_size for p in players if isinstance(p, MemoryPlayer)), default=0)
    return MemoryPlayer(widest, play)


def _act(player: Player, obs: Array, noise: Array, uniform: Array, state: Array) -> Array:
    """Returns the actions of a player, whose states are the first columns of `state`, changed in place."""
    if not isinstance(player, MemoryPlayer):
        return player(obs, noise, uniform)
    own = np.ascontiguousarray(state[:, : player.state_size])
    action = player.play(obs, noise, uniform, own)
    state[:, : player.state_size] = own
    return action
